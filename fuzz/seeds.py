"""Valid inputs, for fuzzers to start from and spoil."""

from __future__ import annotations

FENS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "nqnb1rkr/pp3ppp/4b3/2p1p3/4P3/8/PP3PPP/NQNB1RKR w HFhf c6 0 9",
    "1r1k2r1/8/8/8/8/8/8/RR1K2R1 b GBkq - 3 9",
    "8/8/8/K2pP2r/8/8/8/7k w - d6 0 2",
    "4k3/8/8/8/8/8/8/4K3 w - - 149 99999",
    "4k3/8/8/8/8/8/8/4K3",
)

MOVES = (
    "e4", "Nf3", "Nbd2", "R1a3", "Qh4e1", "bxa8=Q+", "O-O", "0-0-0#", "exd6 e.p.", "e2e4", "e7e8q",
    "Ng1-f3", "♘f3", "1. e4", "1...e5", "e8(Q)", "e8/N", "c7b8R", "Pe4", "dc4", "axb8N!?", "b1h1",
    "BXC3", "e1g1", "d1xb1", "Kg1", "Z0", "--",
)  # fmt: skip

PGNS = (
    '[Event "?"]\n[Result "1-0"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6?? 4. Qxf7# 1-0\n',
    "1. e4 {[%eval 0.25] [%clk 1:00:00] best} (1. d4 $1 d5 (1... Nf6 2. c4) 2. c4) 1... c5 *",
    '[FEN "8/8/8/K2pP2r/8/8/8/7k w - d6 0 2"]\n[SetUp "1"]\n\n{before} 2. Ka4 ; rest\nRh4+ 1/2-1/2',
    '[Variant "Chess960"]\n[FEN "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1"]\n\n'
    "1. f3 f6 2. Bf2 Bf7 3. O-O {a } O-O ({b} 3... g6 {[%eval #-3]} -- 4. e4) 0-1\n",
    '% escaped\n[White "\\"x\\" \\\\"]\n\n1.d4!Nf6?!2.c4 e6 $10 (2... -- 3. d5) *\n'
    '\n[White "B"]\n\n*',
)

TIME_CONTROLS = (
    "300+3", "5m+3s", "40/5400+30:1800", "10s", "1m/move", "300d3", "300+3 bronstein", "0.5+0.1",
    "1h30m", "-", "∞", "40/90m+30s : 20/30m+30s : 15m+30s",
)  # fmt: skip
