"""What happens in a match, in sentences."""

from decimal import Decimal

import pytest

from agents.models.budget import Account, Budget
from agents.timekeeping import now
from app.dollars import NotDollars, read_dollars
from app.matches.match import Match, PauseCause
from app.matches.private_ledger import PrivateLedger
from app.matches.settings import MatchSettings, PlayerSettings
from app.play.refusal import sentence
from app.play.telling import one_line, tell_costs, tell_ending, tell_pause


def begun():
    match = Match.create("m", MatchSettings(PlayerSettings("human"), PlayerSettings("x")), now())
    match.start(now())
    return match


PAUSES = [
    (PauseCause.COMMAND, "", "The clocks stand; write `resume` to play on."),
    (PauseCause.BUDGET, "x spent it",
     "The game is paused: x spent it. Write `resume USD` to allow so many dollars in all."),
    (PauseCause.OUTAGE, "x is\naway",
     "The game is paused: x is away. Write `resume` to try again."),
]  # fmt: skip


@pytest.mark.parametrize(("cause", "reason", "told"), PAUSES)
def test_why_a_game_is_paused_and_what_to_do(cause, reason, told):
    match = begun()
    match.pause(now(), reason, cause)
    assert tell_pause(match) == told


def test_an_ending_without_a_result():
    match = begun()
    match.abort(now(), "nobody came")
    assert tell_ending(match) == "Nobody came."


def test_who_asked_no_model_is_told_no_costs():
    assert tell_costs(PrivateLedger(Account(Budget()))) == []


@pytest.mark.parametrize(
    ("text", "dollars"),
    [("0.5", "0.5"), ("$2", "2"), ("1e-3", "0.001"), ("0.12345678", "0.123456")],
)
def test_sums_in_dollars(text, dollars):
    assert read_dollars(text) == Decimal(dollars)


@pytest.mark.parametrize("text", ["", "x", "nan", "inf", "-1", "1e9", "1e99999999", "1,5", "0x1"])
def test_what_is_no_sum_in_dollars(text):
    with pytest.raises(NotDollars, match="is no sum in dollars"):
        read_dollars(text)


def test_sentences_begin_and_end_as_they_should():
    assert sentence("it is\nso") == "It is so."
    assert sentence("is it?") == "Is it?"
    assert sentence("'x' is so") == "'x' is so."


def test_long_words_are_cut():
    assert one_line("a  b\nc") == "a b c"
    assert one_line("x" * 10, 5) == "xxxx…"
