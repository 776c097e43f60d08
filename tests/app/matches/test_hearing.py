"""What a player lets its match know before it has decided."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agents.player import Advice
from app.matches import hearing as module
from app.matches.hearing import Hearing, excuse
from app.matches.match import Match
from app.matches.settings import MatchSettings, PlayerSettings

AT = datetime(2025, 7, 1, 12, tzinfo=UTC)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def hearing() -> tuple[Hearing, list[str]]:
    stirred: list[str] = []
    return Hearing(lambda: stirred.append("!"), lambda by, words: stirred.append(words)), stirred


def test_words_are_passed_on_at_once():
    heard, stirred = hearing()
    heard.said("tactical", "Look")
    assert stirred == ["Look"]
    assert not heard.has_news


def test_advice_is_kept_until_it_is_taken():
    heard, stirred = hearing()
    heard.advised(Advice("a"))
    heard.advised(Advice("b"))
    assert (stirred, heard.has_news) == (["!", "!"], True)
    assert [each.by for each in heard.take_advice()] == ["a", "b"]
    assert (heard.take_advice(), heard.has_news) == ([], False)


@pytest.mark.parametrize(
    ("spans", "excused"),
    [
        ([(0, 5)], 5),
        ([(0, 5), (0, 5)], 5),
        ([(0, 5), (3, 8)], 8),
        ([(0, 5), (6, 8)], 7),
        ([(0, 8), (2, 3)], 8),
        ([(5, 5)], 0),
        ([(5, 4)], 0),
    ],
)
def test_what_overlaps_is_excused_once(spans, excused):
    heard, _ = hearing()
    for since, until in spans:
        heard.excuse(AT + seconds(since), AT + seconds(until))
    assert heard.take_excuse() == seconds(excused)
    assert heard.take_excuse() == seconds(0)


def test_what_was_taken_is_not_excused_again():
    heard, _ = hearing()
    heard.excuse(AT, AT + seconds(5))
    heard.take_excuse()
    heard.excuse(AT + seconds(3), AT + seconds(7))
    assert heard.take_excuse() == seconds(2)


@pytest.mark.parametrize(
    ("elapsed", "excuses", "left_at"),
    [
        # A minute on the clock; so much has passed; that much is excused; when the flag falls.
        (10, [4], 64),
        (10, [10], 70),
        (10, [12], 72),  # two seconds of it lie ahead
        (10, [12, 3], 75),  # and three more after those
        (0, [5], 65),
    ],
)
def test_a_match_goes_on_as_if_time_had_not_passed(monkeypatch, elapsed, excuses, left_at):
    settings = MatchSettings(PlayerSettings("random"), PlayerSettings("random"), time_control="60")
    match = Match.create("m", settings.with_start(), AT)
    match.start(AT)
    monkeypatch.setattr(module, "now", lambda: AT + seconds(elapsed))
    for each in excuses:
        excuse(match, seconds(each))
    assert match.time_left(AT + seconds(left_at)) == seconds(0)
    assert match.time_left(AT + seconds(left_at - 1)) == seconds(1)
