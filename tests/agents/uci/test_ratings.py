"""Files of ratings: written, read again, and refused with a sentence when they are damaged."""

from __future__ import annotations

import contextlib
import json
import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.uci.errors import InvalidRatings
from agents.uci.ratings import RatedPlayer, Ratings

RATINGS = Ratings(
    "Stockfish 15.1",
    datetime(2026, 11, 16, 12, 30, tzinfo=UTC),
    {"stockfish:6": 1320.0},
    {
        "stockfish:1": RatedPlayer(225.0, 91.0, 359.0, 276),
        "stockfish:6": RatedPlayer(1320.0, 1320.0, 1320.0, 300),
        "stockfish:8": RatedPlayer(None, 2800.5, None, 40),
        "random": RatedPlayer(None, None, -50.0, 12),
        "uci:toga2": RatedPlayer(None, None, None, 0),
    },
)

# --- for people ---

SHOWN = {
    "with its interval": (RatedPlayer(225.4, 91, 359, 10), "225 ± 134"),
    "an anchor": (RatedPlayer(1320, 1320, 1320, 10), "1320"),
    "no interval": (RatedPlayer(1320, None, None, 10), "1320"),
    "half an interval": (RatedPlayer(1320, 1300, None, 10), "1320"),
    "below nothing": (RatedPlayer(-120.4, -200.4, -40.4, 10), "-120 ± 80"),
    "won everything": (RatedPlayer(None, 2800.4, None, 10), "> 2800"),
    "lost everything": (RatedPlayer(None, None, 99.6, 10), "< 100"),
    "nothing is known": (RatedPlayer(None, None, None, 0), "unknown"),
}


@pytest.mark.parametrize(("player", "text"), SHOWN.values(), ids=SHOWN)
def test_how_strong_a_player_is(player, text):
    assert str(player) == text


# --- written and read ---


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "ratings.json"
    path.write_text(RATINGS.to_json(), encoding="utf-8")
    assert Ratings.load(path) == RATINGS
    assert Ratings.from_json(RATINGS.to_json()) == RATINGS
    assert RATINGS.to_json().endswith("}\n")


elos = st.none() | st.floats(-1e6, 1e6)
moments = st.datetimes(
    min_value=datetime(1970, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7, minutes=-30))]),
)


@st.composite
def players(draw: st.DrawFn) -> RatedPlayer:
    elo, low, high = draw(elos), draw(elos), draw(elos)
    if elo is None and low is not None:
        high = None
    return RatedPlayer(elo, low, high, draw(st.integers(0, 10**9)))


@given(
    st.builds(
        Ratings,
        st.text(st.characters(exclude_categories=["Cs"])),
        moments.map(lambda moment: moment.replace(microsecond=0)),
        st.dictionaries(st.text(), st.floats(-1e6, 1e6), max_size=3),
        st.dictionaries(st.text(), players(), max_size=3),
    )
)
def test_any_ratings_are_read_as_they_were_written(ratings):
    assert Ratings.from_json(ratings.to_json()) == ratings


def test_the_ratings_of_the_project():
    ratings = Ratings.load()
    assert ratings.engine.startswith("Stockfish")
    assert ratings.anchors == {"stockfish:6": 1320.0}
    assert ratings.measured_at.utcoffset() is not None
    assert ratings == Ratings.load(None)


# --- damaged files ---


def changed(**changes: Any) -> str:
    data = json.loads(RATINGS.to_json())
    data.update(changes)
    return json.dumps({key: value for key, value in data.items() if value is not ...})


def rated(**changes: Any) -> str:
    """Return a file with one player, in which something is different."""
    player = {"elo": 100, "low": 50, "high": 150, "games": 3, **changes}
    return changed(players={"x": {key: value for key, value in player.items() if value is not ...}})


DAMAGED = {
    "empty": ("", "Expecting value"),
    "cut off": (RATINGS.to_json()[:-20], ""),
    "not JSON": ("ratings = 3", "Expecting value"),
    "a mark in front": ("\ufeff" + RATINGS.to_json(), "BOM"),
    "a list": ("[]", ""),
    "a number": ("3", ""),
    "a text": ('"kibitz_ratings"', ""),
    "null": ("null", ""),
    "no format": (changed(kibitz_ratings=...), "'kibitz_ratings' is missing"),
    "the next format": (changed(kibitz_ratings=2), "unknown format"),
    "a format in words": (changed(kibitz_ratings="1"), "unknown format"),
    "no engine": (changed(engine=...), "'engine' is missing"),
    "no time": (changed(measured_at=...), "'measured_at' is missing"),
    "a number for a time": (changed(measured_at=2026), ""),
    "no such day": (changed(measured_at="2026-02-30T00:00:00+00:00"), "day is out of range"),
    "a time without zone": (changed(measured_at="2026-11-16T00:00:00"), "no zone"),
    "no anchors": (changed(anchors=...), "'anchors' is missing"),
    "a list of anchors": (changed(anchors=["stockfish:6"]), ""),
    "an anchor in words": (changed(anchors={"stockfish:6": "1320"}), "a rating is no number"),
    "an anchor that is null": (changed(anchors={"stockfish:6": None}), "a rating is no number"),
    "no players": (changed(players=...), "'players' is missing"),
    "players that are null": (changed(players=None), ""),
    "a player that is null": (changed(players={"x": None}), ""),
    "a player that is a number": (changed(players={"x": 1320}), ""),
    "a player that is a list": (changed(players={"x": [1, 2, 3, 4]}), ""),
    "no Elo": (rated(elo=...), "'elo' is missing"),
    "no bound": (rated(low=...), "'low' is missing"),
    "no games": (rated(games=...), "'games' is missing"),
    "an Elo in words": (rated(elo="100"), "a rating is no number"),
    "an Elo that is true": (rated(elo=True), "a rating is no number"),
    "an Elo that is no number": (rated(elo=float("nan")), "a rating is out of bounds"),
    "an endless Elo": (rated(elo=float("inf")), "a rating is out of bounds"),
    "an Elo that no float holds": (rated(elo=10**400), "a rating is out of bounds"),
    "an Elo that Python will not read": (rated().replace("100", "1" * 5000), ""),
    "an Elo of millions": (rated(elo=-1_000_001), "a rating is out of bounds"),
    "both bounds and no Elo": (rated(elo=None), "a player with both bounds has a rating"),
    "half a game": (rated(games=0.5), "a number of games is no number"),
    "games below nothing": (rated(games=-1), "a number of games is no number"),
    "games that are true": (rated(games=True), "a number of games is no number"),
    "deep": ("[" * 100_000, ""),
}


@pytest.mark.parametrize(("text", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_refused_with_one_sentence(text, reason, tmp_path):
    path = tmp_path / "ratings.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidRatings) as caught:
        Ratings.load(path)
    check_sentence(caught.value, str(path), reason)


def check_sentence(error: InvalidRatings, path: str, reason: str) -> None:
    sentence = str(error)
    assert error.path == path
    assert sentence.startswith("the ratings in '")
    assert " cannot be read: " in sentence
    assert reason in sentence
    assert len(sentence.rpartition(": ")[2]) > 3
    assert sentence.isprintable()
    assert len(sentence) < 400
    assert str(pickle.loads(pickle.dumps(error))) == sentence


KEYS = ["kibitz_ratings", "engine", "measured_at", "anchors", "players", "elo", "games"]
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.sampled_from(KEYS), each),
)


@given(st.text() | anything.map(json.dumps))
@settings(max_examples=50)
def test_whatever_a_file_holds_it_is_read_or_refused(text):
    with contextlib.suppress(InvalidRatings):
        Ratings.from_json(text)


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "ratings.json"
    path.write_bytes(b"\xff\xfe\x00{}")
    with pytest.raises(InvalidRatings) as caught:
        Ratings.load(path)
    check_sentence(caught.value, str(path), "it is not text")


def test_a_file_that_is_a_folder(tmp_path):
    with pytest.raises(InvalidRatings) as caught:
        Ratings.load(tmp_path)
    check_sentence(caught.value, str(tmp_path), "Is a directory")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidRatings) as caught:
        Ratings.load(tmp_path / "none.json")
    check_sentence(caught.value, str(tmp_path / "none.json"), "No such file or directory")
