"""What real UCI engines print, for fuzzers to start from and spoil."""

from __future__ import annotations

OUTPUTS = (
    "Stockfish 15.1 by the Stockfish developers (see AUTHORS file)\nid name Stockfish 15.1\n"
    "id author the Stockfish developers (see AUTHORS file)\n\n"
    "option name Debug Log File type string default \n"
    "option name Hash type spin default 16 min 1 max 33554432\n"
    "option name Clear Hash type button\noption name Ponder type check default false\n"
    "option name SyzygyPath type string default <empty>\nuciok\nreadyok\n",
    "option name Analysis Contempt type combo default Both var Both var Off var White var Black\n"
    "option name Skill Level type spin default 20 min -20 max 20\nuciok\n",
    "option name NullMove Pruning type combo default Fail High var Always var Fail High\n",
    "info string NNUE evaluation using nn-ad9b42354671.nnue enabled\n"
    "info depth 1 seldepth 1 multipv 1 score mate 1 wdl 1000 0 0 nodes 39 nps 39000 hashfull 0 "
    "tbhits 0 time 1 pv d1d8\nbestmove d1d8\n",
    "info depth 22 seldepth 26 multipv 1 score cp 2 wdl 7 987 6 upperbound nodes 1850277 "
    "nps 480092 hashfull 686 tbhits 0 time 3854 pv f1e1 d5c4\nbestmove f1e1 ponder d5c4\n",
    "info depth 0 score mate 0\nbestmove (none)\n",
    "info multipv 2 score cp -725 depth 2 time 1 nodes 108 nps 108000 pv d1d7 g8f8 \r\n"
    "info nodes 6119 nps 2039666 time 3 hashfull 0\r\nbestmove d1d7 ponder g8f8\r\n",
    "info depth 7 currmove e2e4 currmovenumber 1\ninfo refutation d1h5 g6h5\n"
    "info time 137 nodes 151298 nps 0 cpuload 1000\ninfo currline 1 e2e4 e7e5\n",
    "id name Žofie ♘\ncopyprotection checking\nregistration ok\n\tbestmove \t e7e8q \n",
)

#: What real GUIs write, and people by hand.
INPUTS = (
    "uci\nsetoption name UCI_Chess960 value false\nsetoption name Move Overhead value 50\n"
    "isready\nucinewgame\nposition startpos moves e2e4 e7e5 g1f3\n"
    "go wtime 300000 btime 299000 winc 3000 binc 3000\nstop\nquit\n",
    "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 moves e1g1\n"
    "go ponder wtime 1000 btime 1000 movestogo 1\nponderhit\n",
    "go searchmoves e2e4 d2d4 infinite\ngo depth 5 nodes 1000 mate 3 movetime 100\n",
    "setoption name Player value solo:default\nsetoption name Budget USD value $2.50\n"
    "setoption name budget calls value 10\nsetoption name Retries value -1\n"
    "setoption name Emergency Moves value FALSE\n",
    "setoption name UCI_Chess960 value true\n"
    "position fen bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1 moves f2f4 f7f5\ngo\n",
    "joho debug on\nregister later\nposition moves e2e4 startpos\nposition startpos moves e2e5\n",
    "info depth 12 score mate -3 nodes 5 pv e2e4 e7e5 e2e4\n",
)
