"""Games of a PGN that become matches: what their logs tell, and that nothing is lost."""

from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.matches.events import Event, is_imported
from app.matches.imported import CLIENT, import_game, name_of
from app.matches.storing import read_match, settings_of
from app.persistence.database import Database
from app.persistence.events import events_of
from app.persistence.matches import MatchFilter, list_matches
from app.persistence.plies import plies_of
from app.persistence.whole_matches import store
from engine import InvalidPgn, read_games
from tests.support.processes import run
from tests.support.random_pgn import random_pgn, read_by_oracle

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANNOTATED = """
[Event "Sunday"]
[White "Ada"]
[Black "Bob"]
[Date "2024.05.03"]
[UTCTime "18:30:00"]
[Result "0-1"]
[TimeControl "60+2"]
[Termination "Ada resigns"]

{Before it all.} 1. e4 $1 {[%eval 0.3] [%clk 0:00:58] best by test} (1. d4 {sound} d5) 1... e5
{[%clk 0:01:00.5]} 2. Ke2 $6 {[%eval -1.5] [%clk 0:00:50]} {[%emt 0:00:07]} 0-1
"""


def game_of(pgn):
    (game,) = read_games(pgn)
    return game


def imported(pgn, at=NOON, tags=()):
    return import_game(game_of(pgn), at, tags)


def log_of(whole):
    return [Event.decode(event.data) for event in whole.events]


def replayed(whole):
    return read_match(whole.record, list(whole.events))


def tagged(*tags, moves="*"):
    names = [f'[{name} "{value}"]' for name, value in tags]
    return "\n".join([*names, "", moves, ""])


# --- what is told ---


def test_a_game_becomes_a_match_that_is_over():
    record = imported(ANNOTATED, tags=("club", "imported")).record
    assert (record.white, record.black, record.client) == ("pgn:Ada", "pgn:Bob", CLIENT)
    assert (record.status, record.result, record.winner) == ("ended", "0-1", "black")
    assert (record.termination, record.ply_count, record.owner) == ("resignation", 3, None)
    assert record.tags == ("imported", "club")
    settings = settings_of(record)
    assert (settings.white.title, settings.time_control) == ("Ada", "60+2")
    assert settings.is_imported
    assert not settings.has_human


def test_its_log_tells_what_the_pgn_does():
    events = log_of(imported(ANNOTATED))
    kinds = [event.type.value for event in events]
    assert kinds == ["match.created", "match.started", *["ply.played"] * 3, "match.ended"]
    assert [event.sequence for event in events] == [1, 2, 3, 4, 5, 6]
    assert all(event.fields["imported"] for event in events)
    first, second, third = (event.fields for event in events[2:5])
    assert (first["uci"], first["san"], first["source"]) == ("e2e4", "e4", "pgn:Ada")
    assert first["evaluation"] == {"centipawns": 30}
    assert first["clocks"] == {"white_ms": 58_000, "black_ms": 60_000}
    # Of 60 seconds and two more 58 are left; of the third it is said how long it took.
    assert [each["elapsed_ms"] for each in (first, second, third)] == [4_000, 1_500, 7_000]
    assert events[0].at == datetime(2024, 5, 3, 18, 30, tzinfo=UTC)
    assert (events[-1].at - events[0].at).total_seconds() == 12.5


def test_it_is_rebuilt_from_its_log_with_everything_in_it():
    whole = imported(ANNOTATED)
    match = replayed(whole)
    assert match.game.pgn() == game_of(ANNOTATED).pgn()
    assert match.game.tags["Termination"] == "Ada resigns"
    assert match.ending == "Black wins: White resigned"
    assert match.is_over
    assert match.clocks() == {"white_ms": 50_000, "black_ms": 60_500}


def test_plies_have_clocks_and_evaluations():
    plies = imported(ANNOTATED).plies
    assert [ply.clock_ms for ply in plies] == [58_000, 60_500, 50_000]
    assert [ply.evaluation for ply in plies] == ['{"centipawns":30}', None, '{"centipawns":-150}']
    assert {ply.source for ply in plies} == {"pgn:Ada", "pgn:Bob"}


def test_what_nobody_tells_is_null():
    (ply,) = imported("1. e4 *").plies
    assert (ply.elapsed_ms, ply.clock_ms, ply.evaluation) == (None, None, None)
    assert replayed(imported("1. e4 *")).clocks() is None


@pytest.mark.usefixtures("without_coverage")
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_an_oracle_reads_the_same_from_what_comes_back(seed):
    pgn = random_pgn(Random(seed))
    whole = imported(pgn)
    written = replayed(whole).game.pgn()
    # What is read again is the same match, so that it is known.
    assert imported(written).record.idempotency_key == whole.record.idempotency_key
    assert replayed(imported(written)).game.pgn() == written
    game = game_of(pgn)
    assert whole.record.ply_count == len(game.line)
    if "King's Cooking" in pgn:
        assert written == game.pgn()
        return
    (told,), (oracle,) = read_by_oracle(written), read_by_oracle(pgn)
    assert told["game"] == oracle["game"]
    assert told["tags"] | oracle["tags"] == told["tags"]


# --- how it ended ---

ENDINGS = [
    ("1. f3 e5 2. g4 Qh4# 0-1", "ended", "0-1", "checkmate"),
    ("1. f3 e5 2. g4 Qh4# 1-0", "ended", "0-1", "checkmate"),  # the board knows better
    ("1. e4 1-0", "ended", "1-0", "unknown"),
    ("1. e4 1/2-1/2", "ended", "1/2-1/2", "unknown"),
    ('[Termination "time forfeit"]\n\n1. e4 1-0', "ended", "1-0", "time_forfeit"),
    ('[Termination "Draw by agreement"]\n\n1. e4 1/2-1/2', "ended", "1/2-1/2", "agreement"),
    ('[Termination "Bob resigned"]\n\n1. e4 1-0', "ended", "1-0", "resignation"),
    ('[Termination "Bob resigned"]\n\n1. e4 1/2-1/2', "ended", "1/2-1/2", "unknown"),
    ("1. e4 *", "aborted", "*", None),
    ("1. e4", "aborted", "*", None),
    ('[White "Ada"]\n\n*', "aborted", "*", None),
    ('[White "Ada"]\n\n1-0', "ended", "1-0", "unknown"),
]


@pytest.mark.parametrize(("pgn", "status", "result", "termination"), ENDINGS)
def test_how_it_ended(pgn, status, result, termination):
    record = imported(pgn).record
    assert (record.status, record.result, record.termination) == (status, result, termination)
    match = replayed(imported(pgn))
    assert (match.status.value, match.game.result) == (status, result)


OVER_FROM_THE_START = "7k/5KQ1/8/8/8/8/8/8 b - - 0 1"
FIFTY_MOVES = "4k3/8/8/8/8/8/4P3/4K3 w - - 120 90"


@pytest.mark.parametrize("fen", [OVER_FROM_THE_START, FIFTY_MOVES])
def test_it_may_begin_where_ours_could_not(fen):
    whole = imported(f'[FEN "{fen}"]\n\n1-0')
    assert settings_of(whole.record).initial_fen == fen
    assert (whole.record.fen, whole.record.result) == (fen, "1-0")


def test_moves_beyond_an_automatic_draw_are_kept():
    shuffle = "Nf3 Nf6 Ng1 Ng8 " * 6 + "1-0"
    record = imported(shuffle).record
    assert (record.ply_count, record.result) == (24, "1-0")


def test_a_game_of_a_thousand_plies():
    moves = "Nf3 Nf6 Ng1 Ng8 " * 250
    whole = imported(f"{moves} 1/2-1/2")
    assert (whole.record.ply_count, len(whole.plies), len(whole.events)) == (1000, 1000, 1003)
    assert len(replayed(whole).game.line) == 1000


# --- who and when ---

NAMES = [
    ("Carlsen, Magnus", "pgn:Carlsen, Magnus"),
    ("", "pgn:?"),
    ("  \t ", "pgn:?"),
    ("Ada\x1b[2J  Lovelace", "pgn:Ada [2J Lovelace"),
    ("x" * 300, "pgn:" + "x" * 96),
    ("human", "pgn:human"),
]


@pytest.mark.parametrize(("told", "name"), NAMES)
def test_what_players_are_called(told, name):
    assert name_of(told) == name
    assert imported(tagged(("White", told), ("Black", told))).record.white == name


DATES = [
    ("2024.05.03", datetime(2024, 5, 3, tzinfo=UTC)),
    ("1851.06.??", datetime(1851, 6, 1, tzinfo=UTC)),
    ("0001.??.??", datetime(1, 1, 1, tzinfo=UTC)),
    ("????.??.??", NOON),
    ("2023.02.31", NOON),
    ("0000.01.01", NOON),
    ("9999.12.31", NOON),  # nobody has played in the future
    ("yesterday", NOON),
]


@pytest.mark.parametrize(("date", "began"), DATES)
def test_when_it_began(date, began):
    assert imported(tagged(("Date", date))).record.created_at == began


def test_what_took_its_time_without_a_date_has_ended_just_now():
    whole = imported("1. e4 {[%emt 0:01:00]} e5 {[%emt 0:00:30]} *")
    assert [event.at.minute for event in log_of(whole)] == [58, 58, 59, 0, 0]
    assert whole.record.updated_at == NOON


TIMES = [
    ("60+2", [("0:00:58", 4_000), ("0:00:50", 10_000)]),
    ("60", [("0:00:58", 2_000), ("0:01:10", None)]),  # somebody set the clock
    ("2/60:30", [("0:00:50", 10_000), ("0:01:10", 10_000)]),  # half a minute for the next two
    ("60d5", [("0:00:58", 7_000), ("0:00:58", None)]),  # of a delay only what is charged is known
    ("10s", [("0:00:04", None)]),
    ("?", [("0:00:58", None), ("0:00:50", None)]),
    ("60", [("999999:59:59", None)]),
    ("60", [("0:00:00", 60_000), ("0:00:00", None)]),
]


@pytest.mark.parametrize(("control", "shown"), TIMES)
def test_what_was_thought_between_two_clocks(control, shown):
    moves = ("Nf3", "Ng1")
    told = " ".join(
        f"{move} {{[%clk {clock}]}} N{'f6' if move == 'Nf3' else 'g8'}"
        for move, (clock, _) in zip(moves, shown, strict=False)
    )
    plies = imported(tagged(("TimeControl", control), moves=f"{told} *")).plies
    assert [ply.elapsed_ms for ply in plies[::2]] == [elapsed for _, elapsed in shown]


def test_nobody_thought_for_years():
    (ply,) = imported("1. e4 {[%emt 999999:00:00]} *").plies
    assert ply.elapsed_ms is None


# --- that it can be told apart, and stored ---


def test_only_its_own_events_say_that_it_was_imported():
    whole = imported('1. e4 {"imported":true} *')
    assert all(is_imported(event.data) for event in whole.events)
    other = replace(log_of(whole)[0], fields={"words": '"imported":true', "a\\": '"imported":true'})
    assert not is_imported(other.encode())


def test_a_game_that_could_not_be_read_again_is_refused(monkeypatch):
    monkeypatch.setattr("engine.game.write_game", lambda game: "1. e5 *")
    with pytest.raises(InvalidPgn):
        imported("1. e4 *")


def test_many_are_stored_at_once_and_none_of_them_twice(database_url):
    rng = Random(4)
    wholes = [imported(random_pgn(rng)) for _ in range(40)]
    wholes.append(imported(tagged(("Date", "0001.01.01"), ("White", "Æsop"))))

    async def work():
        async with await Database.open(database_url) as database:
            twice = [*wholes[:30], *wholes[:5]]
            assert await database.write(lambda c: store(c, CLIENT, twice)) == 30
            assert await database.write(lambda c: store(c, CLIENT, wholes)) == 11
            assert await database.write(lambda c: store(c, CLIENT, wholes)) == 0
            assert await database.write(lambda c: store(c, CLIENT, [])) == 0
            found = await database.read(
                lambda c: list_matches(c, MatchFilter(tag="imported"), None, 100)
            )
            assert found[::-1] == [each.record for each in wholes]  # in the order of the file
            position = 0
            for whole in wholes:
                match_id = whole.record.id
                events = await database.read(lambda c, m=match_id: events_of(c, m, 0, 5000))
                assert [event.position for event in events] == list(
                    range(position + 1, position + 1 + len(events))
                )
                position += len(events)
                assert [replace(event, position=0) for event in events] == list(whole.events)
                plies = await database.read(lambda c, m=match_id: plies_of(c, m))
                assert plies == list(whole.plies)
                assert read_match(whole.record, events).game.pgn() == replayed(whole).game.pgn()

    run(work(), hangs_after=60)
