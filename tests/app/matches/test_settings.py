"""Settings of a match: openings, contradictions, and that they survive being written down."""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.matches.errors import UnplayableSettings
from app.matches.events import dumps
from app.matches.match import Match
from app.matches.openings import OPENINGS
from app.matches.settings import (
    MAX_SEED,
    Adjudication,
    AnalysisSettings,
    Budget,
    DrawScore,
    Feedback,
    IllegalMoves,
    LastResort,
    MatchSettings,
    PlayerSettings,
    ResignScore,
)
from engine import Color, InvalidTimeControl, Position, TimeControl, UnknownVariant
from tests.app.matches.telling import T0, match_settings

ITALIAN = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 c2c3 g8f6 d2d3 d7d6"
CHESS960 = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w KQkq - 0 1"


@pytest.mark.parametrize(
    ("others", "moves", "name"),
    [
        ({}, "", None),
        ({"opening": "Italian Game: Classical"}, ITALIAN, "Italian Game: Classical"),
        ({"opening": "italian game: CLASSICAL "}, ITALIAN, "Italian Game: Classical"),
        ({"opening": "c54"}, ITALIAN, "Italian Game: Classical"),
        ({"opening": "e4 e5 Nf3"}, "e2e4 e7e5 g1f3", None),
        ({"opening": "1. e4 e5 2. Nf3"}, "e2e4 e7e5 g1f3", None),
        ({"opening": "1.e4 e5 2.Nf3"}, "e2e4 e7e5 g1f3", None),
        ({"opening": "e2e4 c7c5"}, "e2e4 c7c5", None),
        ({"opening": "e4 c5", "variant": "chess960"}, "e2e4 c7c5", None),
        ({"opening": "Ra2 Rxa2", "variant": "kings-cooking"}, "a1a2 a3a2", None),
    ],
)
def test_openings(others: dict[str, Any], moves: str, name: str | None) -> None:
    chosen = match_settings(**others)
    match = Match.create("id", chosen, T0)
    assert [move.uci() for move in match.game.line.moves] == moves.split()
    assert match.opening_plies == len(moves.split())
    known = chosen.known_opening
    assert (known.name if known else None) == name
    assert match.new_events[0].fields["opening"] == moves.split()
    assert {note.source for note in match.game.line.notes.values()} <= {"opening"}


def test_an_opening_takes_no_time() -> None:
    match = Match.create("id", match_settings(opening="C54", time_control="60+5"), T0)
    assert match.clocks() == {"white_ms": 60_000, "black_ms": 60_000}


def test_every_opening_can_be_played_by_its_name() -> None:
    for opening in OPENINGS:
        game = match_settings(opening=opening.name).game
        assert game.position == opening.position


def test_where_a_match_begins() -> None:
    assert match_settings().game.position == Position.start()
    fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 20"
    assert match_settings(initial_fen=fen).game.position.fen() == fen
    shuffled = match_settings(initial_fen=CHESS960, variant="chess960").game
    assert shuffled.position.fen() == Position.from_fen(CHESS960, "chess960").fen()
    assert match_settings(variant="kings-cooking").game.variant == "kings-cooking"


def test_a_draw_is_a_humans_to_claim() -> None:
    assert not match_settings("human", "random").game.claims_draws
    assert not match_settings("random", "human").game.claims_draws
    assert match_settings("random", "random").game.claims_draws


@pytest.mark.parametrize(
    ("others", "field"),
    [
        ({"initial_fen": CHESS960, "opening": "e4"}, "opening"),
        ({"initial_fen": "nonsense"}, "initial_fen"),
        ({"initial_fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "initial_fen"),
        ({"initial_fen": "7k/5KQ1/8/8/8/8/8/8 b - - 0 1"}, "initial_fen"),  # mate already
        ({"initial_fen": "7k/8/8/8/8/8/8/K7 b - - 0 1"}, "initial_fen"),
        ({"opening": "e4 e4"}, "opening"),
        ({"opening": "Italian Game: Neverending"}, "opening"),
        ({"opening": "f3 e5 g4 Qh4#"}, "opening"),
        ({"opening": "f3 e5 g4 Qh4# a3"}, "opening"),
        ({"opening": "C54", "variant": "chess960"}, "opening"),
        ({"opening": "C54", "max_plies": 10}, "max_plies"),
        ({"max_plies": 0}, "max_plies"),
    ],
)
def test_contradictions_name_their_field(others: dict[str, Any], field: str) -> None:
    with pytest.raises(UnplayableSettings) as caught:
        match_settings(**others)
    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ")


def test_what_the_rules_refuse() -> None:
    with pytest.raises(InvalidTimeControl):
        match_settings(time_control="soon")
    with pytest.raises(UnknownVariant):
        match_settings(variant="ludo")


@pytest.mark.parametrize("text", [None, "-", "unlimited"])
def test_untimed_matches_have_no_control(text: str | None) -> None:
    chosen = match_settings(time_control=text)
    assert chosen.control is None
    assert chosen.game.clock is None


def test_seats() -> None:
    chosen = match_settings("random", "human")
    assert chosen.player(Color.WHITE).name == "random"
    assert chosen.player(Color.BLACK).is_human
    assert not chosen.white.is_human
    assert chosen.has_human
    assert not match_settings("random", "random").has_human
    assert PlayerSettings("x").limit is None
    limit = PlayerSettings("x", depth=3, time_ms=250).limit
    assert limit is not None
    assert (limit.depth, limit.time and limit.time.total_seconds()) == (3, 0.25)
    assert AnalysisSettings(nodes=9).limit.nodes == 9


def test_a_seed_is_made_up_if_none_is_given() -> None:
    one, other = (MatchSettings(PlayerSettings("a"), PlayerSettings("b")) for _ in range(2))
    assert one.seed != other.seed
    assert 0 <= one.seed <= MAX_SEED


# --- writing them down ---

_number = st.none() | st.integers(1, 10**6)
_text = st.text(max_size=20)
_players = st.builds(PlayerSettings, _text, _text, _number, _number, _number)
_STARTS = [
    {},
    {"opening": "C54"},
    {"opening": "e4 e5"},
    {"initial_fen": "4k3/8/8/8/8/8/4P3/4K3 b - - 3 20"},
    {"variant": "chess960", "initial_fen": CHESS960},
    {"variant": "kings-cooking"},
]


@st.composite
def _settings(draw: st.DrawFn) -> MatchSettings:
    return MatchSettings(
        white=draw(_players),
        black=draw(_players),
        **draw(st.sampled_from(_STARTS)),
        time_control=draw(st.sampled_from((None, "60+1", "40/5400+30:1800", "3s", "10d5", "-"))),
        illegal_moves=draw(
            st.builds(
                IllegalMoves,
                st.integers(0, 9),
                st.sampled_from(Feedback),
                st.sampled_from(LastResort),
            )
        ),
        budget=draw(st.builds(Budget, st.none() | st.decimals(0, 100, places=6), _number, _number)),
        adjudication=draw(
            st.builds(
                Adjudication,
                st.none() | st.builds(ResignScore, st.integers(1, 999), st.integers(1, 9)),
                st.none()
                | st.builds(DrawScore, st.integers(1, 99), st.integers(1, 9), st.integers(1, 99)),
            )
        ),
        max_plies=draw(st.none() | st.integers(20, 999)),
        analysis=draw(st.none() | st.builds(AnalysisSettings, _number, _number, _number)),
        seed=draw(st.integers(0, MAX_SEED)),
        tags=tuple(draw(st.lists(_text, max_size=3))),
    )


@given(_settings())
@settings(max_examples=50, deadline=None)
def test_settings_survive_being_written_down(chosen: MatchSettings) -> None:
    again = MatchSettings.from_json(json.loads(dumps(chosen.to_json())))
    assert again == chosen
    assert type(again.illegal_moves.then) is LastResort
    assert type(again.illegal_moves.feedback) is Feedback
    assert again.game.pgn() == chosen.game.pgn()
    assert set(chosen.to_json()) == set(asdict(chosen))
    if chosen.control is not None:
        assert again.control == TimeControl.parse(str(chosen.time_control))


def test_money_is_written_exactly() -> None:
    chosen = match_settings(budget=Budget(usd=Decimal("0.10")))
    assert chosen.to_json()["budget"]["usd"] == "0.10"


def test_the_seed_draws_the_start_of_chess960() -> None:
    def start(**settings: Any) -> MatchSettings:
        return match_settings("random", "random", variant="chess960", **settings).with_start()

    assert start(seed=518).initial_fen == Position.start("chess960", 518).fen()
    assert start(seed=960 + 17).initial_fen == Position.start("chess960", 17).fen()
    assert start(seed=0).start == Position.start("chess960", 0)
    # Who asks for a position, or for an opening, gets it.
    assert start(seed=17, opening="e4").initial_fen is None
    given = Position.start("chess960", 3).fen()
    assert start(seed=17, initial_fen=given).initial_fen == given
    standard = match_settings("random", "random", seed=17)
    assert standard.with_start() is standard
