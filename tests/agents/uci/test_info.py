"""Information about a search, read from what engines print, and scores shown to people."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.uci.info import Bound, Info, Score, Wdl
from engine import Color, Evaluation


def cp(centipawns: int, bound: Bound | None = None) -> Score:
    return Score(centipawns=centipawns, bound=bound)


def mate(moves: int, bound: Bound | None = None) -> Score:
    return Score(mate=moves, bound=bound)


def ms(number: int) -> timedelta:
    return timedelta(milliseconds=number)


#: Lines of Stockfish 15.1 with and without chances, Fairy-Stockfish, Glaurung, GNU Chess and Toga.
REAL = [
    (
        "depth 22 seldepth 26 multipv 1 score cp 2 wdl 7 987 6 upperbound nodes 1850277 nps 480092 "
        "hashfull 686 tbhits 0 time 3854 pv f1e1 d5c4",
        Info(
            depth=22,
            selective_depth=26,
            score=cp(2, Bound.UPPER),
            wdl=Wdl(7, 987, 6),
            nodes=1850277,
            nodes_per_second=480092,
            hash_permille=686,
            tablebase_hits=0,
            time=ms(3854),
            pv=("f1e1", "d5c4"),
        ),
    ),
    (
        "depth 1 seldepth 1 multipv 2 score mate 1 wdl 1000 0 0 nodes 39 nps 39000 hashfull 0 "
        "tbhits 0 time 1 pv d1d8",
        Info(1, 1, 2, mate(1), Wdl(1000, 0, 0), 39, 39000, 0, 0, ms(1), ("d1d8",)),
    ),
    ("depth 0 score mate 0", Info(depth=0, score=mate(0))),
    (
        "string NNUE evaluation using nn-ad9b42354671.nnue enabled",
        Info(string="NNUE evaluation using nn-ad9b42354671.nnue enabled"),
    ),
    ("depth 20 currmove e2e4 currmovenumber 1", Info(depth=20)),
    (
        "depth 1 seldepth 1 multipv 2 score cp 642 nodes 39 nps 39000 tbhits 0 time 1 pv d1d7",
        Info(1, 1, 2, cp(642), None, 39, 39000, None, 0, ms(1), ("d1d7",)),
    ),
    ("depth 2", Info(depth=2)),
    (
        "multipv 2 score cp 725 depth 2 time 1 nodes 108 nps 108000 pv d1d7 g8f8 ",
        Info(2, None, 2, cp(725), None, 108, 108000, None, None, ms(1), ("d1d7", "g8f8")),
    ),
    (
        "nodes 6119 nps 2039666 time 3 hashfull 0",
        Info(nodes=6119, nodes_per_second=2039666, hash_permille=0, time=ms(3)),
    ),
    (
        "time 137 nodes 151298 nps 0 cpuload 1000",
        Info(nodes=151298, nodes_per_second=0, time=ms(137)),
    ),
    (
        "multipv 1 depth 7 seldepth 14 score cp 4 upperbound time 9 nodes 13160 pv d2d4 d7d5",
        Info(7, 14, 1, cp(4, Bound.UPPER), None, 13160, time=ms(9), pv=("d2d4", "d7d5")),
    ),
]

ODD = [
    # blanks, and nothing
    ("", Info()),
    (" \t ", Info()),
    ("\tdepth  3\t\tnodes 5 ", Info(depth=3, nodes=5)),
    # scores
    ("score cp -35", Info(score=cp(-35))),
    ("score cp 0", Info(score=cp(0))),
    ("score cp -0", Info(score=cp(0))),
    ("score mate -3", Info(score=mate(-3))),
    ("score cp 20 lowerbound", Info(score=cp(20, Bound.LOWER))),
    ("score mate 5 lowerbound", Info(score=mate(5, Bound.LOWER))),
    ("score cp 20 lowerbound upperbound", Info(score=cp(20, Bound.UPPER))),
    ("score cp 20 depth 3 lowerbound", Info(depth=3, score=cp(20, Bound.LOWER))),
    ("score cp 20 lowerbound score cp 30", Info(score=cp(30))),
    ("lowerbound score cp 20", Info(score=cp(20))),
    ("lowerbound", Info()),
    ("score cp 10 score mate 2", Info(score=mate(2))),
    ("score", Info()),
    ("score cp", Info()),
    ("score mate", Info()),
    ("score 35", Info()),
    ("score cp x depth 3", Info(depth=3)),
    ("score cp depth 3", Info(depth=3)),
    ("score cp 3.5", Info()),
    ("score cp +35", Info()),
    ("score centipawns 35 nodes 4", Info(nodes=4)),
    ("score cp - nodes 4", Info(nodes=4)),
    # chances
    ("wdl 22 974 4 score cp 18", Info(score=cp(18), wdl=Wdl(22, 974, 4))),
    ("score cp 18 wdl 22 974 4", Info(score=cp(18), wdl=Wdl(22, 974, 4))),
    ("score cp 18 lowerbound wdl 1 2 3", Info(score=cp(18, Bound.LOWER), wdl=Wdl(1, 2, 3))),
    ("wdl 22 974", Info()),
    ("wdl 22 974 depth 4", Info(depth=4)),
    ("wdl", Info()),
    ("wdl -1 900 101", Info()),
    ("wdl a b c nodes 3", Info(nodes=3)),
    # moves
    ("pv", Info()),
    ("pv e2e4", Info(pv=("e2e4",))),
    ("pv e2e4 e7e5 depth 3", Info(depth=3, pv=("e2e4", "e7e5"))),
    ("pv e2e4 score cp 4 pv d2d4", Info(score=cp(4), pv=("d2d4",))),
    ("pv e2e4 string e7e5 pv", Info(pv=("e2e4",), string="e7e5 pv")),
    ("pv e7e8q upperbound score cp 4", Info(score=cp(4), pv=("e7e8q",))),
    ("score cp 4 pv e7e8q upperbound", Info(score=cp(4, Bound.UPPER), pv=("e7e8q",))),
    ("pv e2e4 currmove d2d4", Info(pv=("e2e4",))),
    ("pv e2e4 cpuload 5", Info(pv=("e2e4",))),
    ("pv 0000 ♘ --", Info(pv=("0000", "♘", "--"))),
    ("refutation d1h5 g6h5 depth 3", Info(depth=3)),
    ("currline 1 e2e4 e7e5 nodes 7", Info(nodes=7)),
    # texts
    ("string", Info(string="")),
    ("string depth 3 score cp 5", Info(string="depth 3 score cp 5")),
    ("depth 3 string  a   b ", Info(depth=3, string="a b")),
    # numbers
    ("depth", Info()),
    ("depth depth 3", Info(depth=3)),
    ("depth -1", Info()),
    ("depth x nodes 5", Info(nodes=5)),
    ("depth 3 depth 4", Info(depth=4)),
    ("depth 3 depth x", Info(depth=3)),
    ("depth 3/14", Info()),
    ("depth ٣", Info()),
    ("depth 1_0", Info()),
    ("seldepth -3 nps -3 hashfull -3 tbhits -3 nodes -3 time -3", Info()),
    ("multipv 0", Info()),
    ("multipv -1", Info()),
    ("multipv 500", Info(rank=500)),
    (f"nodes {10**18 - 1}", Info(nodes=10**18 - 1)),
    (f"nodes {10**18}", Info()),
    (f"nodes {'9' * 5000} depth 2", Info(depth=2)),
    (f"score cp -{10**18 - 1}", Info(score=cp(1 - 10**18))),
    (f"score cp {10**18}", Info()),
    (f"score mate {'9' * 5000} depth 2", Info(depth=2)),
    ("time 999999999999", Info(time=ms(999_999_999_999))),
    ("time 1000000000000", Info()),
    ("time 0", Info(time=ms(0))),
    # words of no meaning
    ("joho depth 3", Info(depth=3)),
    ("Depth 3 NODES 4", Info()),
    ("depth 3 \x00\x1b nodes 4", Info(depth=3, nodes=4)),
    ("sbhits 3 depth 4", Info(depth=4)),
]


@pytest.mark.parametrize(
    ("text", "info"), REAL + ODD, ids=[ascii(text)[:60] for text, _ in REAL + ODD]
)
def test_information_is_read(text, info):
    assert Info.parse(text) == info


words = st.sampled_from(
    ("depth", "multipv", "score", "cp", "mate", "lowerbound", "wdl", "nodes", "time", "pv",
     "currmove", "e2e4", "0", "1", "-1", "12", "1000", "x")
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(words), st.lists(words))
def test_a_text_says_nothing_more(before, after):
    line, rest = " ".join(before), " ".join(after)
    assert Info.parse(f"{line} string {rest}").string == rest
    expected = Info.parse(f"{line} string")
    assert Info.parse(f"{line} string {rest}").pv == expected.pv
    assert Info.parse(f"{line} string {rest}").score == expected.score


# --- scores ---

SHOWN = [
    (cp(0), "+0.00"),
    (cp(35), "+0.35"),
    (cp(-35), "-0.35"),
    (cp(-1), "-0.01"),
    (cp(12345), "+123.45"),
    (cp(35, Bound.LOWER), "≥ +0.35"),
    (cp(-35, Bound.UPPER), "≤ -0.35"),
    (mate(1), "mate in 1"),
    (mate(12), "mate in 12"),
    (mate(-1), "mated in 1"),
    (mate(-12), "mated in 12"),
    (mate(0), "mated in 0"),
    (mate(3, Bound.LOWER), "≥ mate in 3"),
    (mate(-3, Bound.UPPER), "≤ mated in 3"),
]


@pytest.mark.parametrize(("score", "text"), SHOWN, ids=[text for _, text in SHOWN])
def test_a_score_is_shown(score, text):
    assert str(score) == text


EVALUATED = [
    (cp(35), Evaluation(centipawns=35), Evaluation(centipawns=-35)),
    (cp(-35), Evaluation(centipawns=-35), Evaluation(centipawns=35)),
    (cp(0), Evaluation(centipawns=0), Evaluation(centipawns=0)),
    (cp(35, Bound.LOWER), Evaluation(centipawns=35), Evaluation(centipawns=-35)),
    (mate(3), Evaluation(mate=3), Evaluation(mate=-3)),
    (mate(-3), Evaluation(mate=-3), Evaluation(mate=3)),
    (mate(0), Evaluation(mate=0), Evaluation(mate=0)),
]


@pytest.mark.parametrize(
    ("score", "white", "black"), EVALUATED, ids=[str(score) for score, *_ in EVALUATED]
)
def test_games_note_a_score_from_the_side_of_white(score, white, black):
    assert score.evaluation(Color.WHITE) == white
    assert score.evaluation(Color.BLACK) == black
    exact = replace(score, bound=None)
    assert Score.of(white, Color.WHITE) == Score.of(black, Color.BLACK) == exact
