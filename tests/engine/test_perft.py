"""Move generation against published counts of leaves."""

import json
from pathlib import Path

import pytest

from engine import Position, divide, perft

SHARED = Path(__file__).parents[3] / "shared" / "data" / "perft.jsonl"

# The six well-known positions, two of Chess960, and one where castling does not start from e8.
WELL_KNOWN = [
    ("standard", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 4, 197281),
    (
        "standard",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        3,
        97862,
    ),
    ("standard", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 43238),
    ("standard", "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1", 3, 9467),
    ("standard", "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 3, 62379),
    (
        "standard",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        3,
        89890,
    ),
    ("chess960", "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", 3, 12189),
    ("chess960", "1nbbnrkr/p1p1ppp1/3p4/1p3P1p/3Pq2P/8/PPP1P1P1/QNBBNRKR w HFhf - 0 9", 3, 31058),
    ("standard", "r2r3k/p7/3p4/8/8/P6P/8/R3K2R b KQq - 0 1", 4, 64639),
]


@pytest.mark.usefixtures("without_coverage")
@pytest.mark.parametrize(("variant", "fen", "depth", "leaves"), WELL_KNOWN)
def test_well_known_positions(variant, fen, depth, leaves):
    assert perft(Position.from_fen(fen, variant), depth) == leaves


def _published():
    if not SHARED.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{SHARED.name} is not there"))]
    rows = [json.loads(line) for line in SHARED.read_text().splitlines()]
    return [pytest.param(row, id=row["id"]) for row in rows]


@pytest.mark.usefixtures("without_coverage")
@pytest.mark.parametrize("row", _published())
def test_every_published_count(row):
    position = Position.from_fen(row["epd"], row["variant"])
    counts = {depth: perft(position, int(depth)) for depth in row["perft"]}
    assert counts == row["perft"]


def test_depth_zero_is_the_position_itself():
    assert perft(Position.start(), 0) == 1


def test_divide_adds_up():
    position = Position.from_fen(WELL_KNOWN[1][1])
    counts = divide(position, 2)
    assert list(counts) == sorted(position.legal_moves(), key=lambda move: move.uci())
    assert sum(counts.values()) == perft(position, 2) == 2039


@pytest.mark.parametrize(("count", "depth"), [(perft, -1), (divide, 0)])
def test_senseless_depths_are_refused(count, depth):
    with pytest.raises(ValueError, match="depth must"):
        count(Position.start(), depth)
