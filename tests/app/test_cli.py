"""`kibitz` as a person runs it: real processes, real exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -"
KIBITZ = Path(sys.executable).with_name("kibitz")


def kibitz(*arguments):
    return subprocess.run(
        [KIBITZ, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


COUNTS = [
    (("perft", "0"), "1"),
    (("perft", "3"), "8902"),
    (("perft", "2", "--fen", KIWIPETE), "2039"),
    (("perft", "2", "--variant", "chess960", "--fen",
      "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"), "528"),
    (("perft", "2", "--variant", "chess960"), "400"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "count"), COUNTS)
def test_perft_prints_the_count(arguments, count):
    run = kibitz(*arguments)
    assert (run.returncode, run.stdout, run.stderr) == (0, f"{count}\n", "")


def test_perft_divides():
    run = kibitz("perft", "3", "--divide")
    lines = run.stdout.splitlines()
    assert len(lines) == 22
    assert "e2e4: 600" in lines
    assert lines[-1] == "8902"
    assert sum(int(line.split()[1]) for line in lines[:20]) == 8902


def test_perft_speaks_json():
    run = kibitz("perft", "2", "--divide", "--json")
    data = json.loads(run.stdout)
    assert (data["depth"], data["nodes"], data["divide"]["a2a3"]) == (2, 400, 20)
    assert "divide" not in json.loads(kibitz("perft", "1", "--json").stdout)


def test_perft_zero_divides_into_nothing():
    assert kibitz("perft", "0", "--divide").stdout.split() == ["1"]


MISTAKES = [
    (("perft", "2", "--fen", "nonsense"), "is not a FEN"),
    (("perft", "2", "--fen", "8/8/8/8/8/8/8/8 w - - 0 1"), "exactly one king"),
    (("perft", "2", "--variant", "atomic"), "known are standard, chess960"),
    (("perft", "-1"), "depth"),
    (("perft", "x"), "depth"),
    (("perft",), "depth"),
    (("nonsense",), "No such command"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES)
def test_a_mistake_gets_a_sentence_and_exit_code_2(arguments, sentence):
    run = kibitz(*arguments)
    assert run.returncode == 2
    assert sentence.lower() in run.stderr.lower()
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_help_names_the_commands_and_shows_examples():
    assert "perft" in kibitz("--help").stdout
    assert "kibitz perft 5" in kibitz("perft", "--help").stdout
    assert kibitz("--version").stdout.startswith("kibitz 0.")
