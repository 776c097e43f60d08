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
    "rnb/3/RNB w - - - - 1",
    "R1b/3/1Nn b - - B r 2",
    "3/1b1/3 b r RN B n 12",
    "rnb/3/RNB",
)

MOVES = (
    "e4", "Nf3", "Nbd2", "R1a3", "Qh4e1", "bxa8=Q+", "O-O", "0-0-0#", "exd6 e.p.", "e2e4", "e7e8q",
    "Ng1-f3", "♘f3", "1. e4", "1...e5", "e8(Q)", "e8/N", "c7b8R", "Pe4", "dc4", "axb8N!?", "b1h1",
    "BXC3", "e1g1", "d1xb1", "Kg1", "Z0", "--",
    "Rxa3", "a1-a2", "a3off", "Roff", "c1-off", "N off", "Ra3-off",
)  # fmt: skip

PGNS = (
    '[Event "?"]\n[Result "1-0"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6?? 4. Qxf7# 1-0\n',
    "1. e4 {[%eval 0.25] [%clk 1:00:00] best} (1. d4 $1 d5 (1... Nf6 2. c4) 2. c4) 1... c5 *",
    '[FEN "8/8/8/K2pP2r/8/8/8/7k w - d6 0 2"]\n[SetUp "1"]\n\n{before} 2. Ka4 ; rest\nRh4+ 1/2-1/2',
    '[Variant "Chess960"]\n[FEN "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1"]\n\n'
    "1. f3 f6 2. Bf2 Bf7 3. O-O {a } O-O ({b} 3... g6 {[%eval #-3]} -- 4. e4) 0-1\n",
    '% escaped\n[White "\\"x\\" \\\\"]\n\n1.d4!Nf6?!2.c4 e6 $10 (2... -- 3. d5) *\n'
    '\n[White "B"]\n\n*',
    '[Variant "King\'s Cooking"]\n\n1. Rxa3 $1 (1. Bb2 {b} Bxb2) 1... Nxc1 2. Roff Noff 1/2-1/2\n',
)

TIME_CONTROLS = (
    "300+3", "5m+3s", "40/5400+30:1800", "10s", "1m/move", "300d3", "300+3 bronstein", "0.5+0.1",
    "1h30m", "-", "∞", "40/90m+30s : 20/30m+30s : 15m+30s",
)  # fmt: skip

#: States, tokens, and what tokens hold.
SAVED_GAMES = (
    '{"version":1,"game_id":"12345678-1234-5678-1234-567812345678",'
    '"start":"rnb/3/RNB w - - - - 1","board":[".nN","r..","..B"],"white_court":[],'
    '"black_court":[],"captured_white":["R"],"captured_black":["b"],"turn_number":2,'
    '"player_to_move":"black","white_player":"Ann","black_player":"Žofie ♘",'
    '"time_control":"300+3","clock":{"control":"300+3","white":{"remaining_us":301999986,'
    '"moves":2,"flagged":false},"black":{"remaining_us":0,"moves":1,"flagged":true}},'
    '"status":"time_forfeit","termination":"time_forfeit","winner":"white",'
    '"move_history":[{"ply":1,"player":"white","move":"a1a2","notation":"Ra2",'
    '"timestamp":"2025-03-04T05:06:07.123456Z","elapsed_us":1000007,"source":null},{"ply":2,'
    '"player":"black","move":"a3a2","notation":"Rxa2","timestamp":"2025-03-04T05:06:12.123456Z"'
    ',"elapsed_us":2000007,"source":"solver"},{"ply":3,"player":"white","move":"b1c3",'
    '"notation":"Nxc3","timestamp":"2025-03-04T05:06:17.123456Z","elapsed_us":3000007,'
    '"source":null}],"checksum":"sha256:3870ca6fc11d2e03f92d038ae656e8c7204cbd1cbc26f66545cbd2e'
    '531048149"}',
    "c7_EdkSmEv8RgAuDaYP5ta2LNtRRMjQyNjE1M7fARSvp5JXm5OgoOeblKekoHd2bn5aZqvBo5gwgx9jAQNsYSBsYGh"
    "kaAxVGG5qbGBqYmZibmYF0m1jqGFmCgLGOIYSOBSoxAAFzHSMobQyhgTIQa4rzc8pSiyCWxuoopZUrxQIA",
    '[1, "12345678123456781234567812345678", null, "Ann", "Žofie ♘", "300+3", "012138",'
    ' [1741064766123449, 2999993, 1999993], [1000007, 2000007, 3000007], [null, "solver",'
    ' null], "fw"]',
    '{"version":1,"game_id":"00000000-0000-0000-0000-000000000005",'
    '"start":"1n1/R2/2b w - B N r 7","board":[".n.","...","..b"],"white_court":[],'
    '"black_court":["R","B"],"captured_white":["N"],"captured_black":["r"],"turn_number":7,'
    '"player_to_move":"black","white_player":"","black_player":"Bob","time_control":null,'
    '"clock":null,"status":"resignation","termination":"resignation","winner":"white",'
    '"move_history":[{"ply":1,"player":"white","move":"a2off","notation":"Roff",'
    '"timestamp":null,"elapsed_us":null,"source":null}],'
    '"checksum":"sha256:ad5af0c631ae8d870a11579fceaf193398bdfd55ae1f0e7d9b6d086cc695b874"}',
    "c99LYEvIVE2hmEJPPoOuZzWLNtRRMsAPTJV0lAzzDPWDjPSNkhTKFXQVnBT8FIoUzIHiQOSUn6Skk1eakwNUZQllIQ"
    "ilonKlWAA",
    '[1, "00000000000000000000000000000005", "1n1/R2/2b w - B N r 7", "", "Bob", null, "19",'
    ' null, null, null, "rw"]',
)
