"""Series of games: in pairs and at the same time, with faults, budgets, and an end at any time."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from agents.catalogue import Catalogue
from agents.models.errors import ConnectionLost, ModelNotConfigured
from agents.random_player import RandomPlayer
from app.evaluations.games import SprtSettings
from app.evaluations.starts import Start
from app.matches import owner
from app.matches.errors import UnplayableSettings
from app.matches.settings import MatchSettings, PlayerSettings
from app.series import series as series_module
from app.series.plan import SeriesPlan, told_apart
from app.series.results import Status
from app.series.series import Series
from app.series.starts import BalancedStarts, ListedStarts, OwnStarts, check_starts
from engine import Color, Termination
from tests.support.players import NEVER, RESIGNS, Fault, ScriptedPlayer
from tests.support.processes import program, run, until

WHITE, BLACK = Color.WHITE, Color.BLACK


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(owner, "FIRST_PAUSE", timedelta(milliseconds=1))
    monkeypatch.setattr(series_module, "FIRST_PAUSE", timedelta(milliseconds=1))


class Heard:
    """A watcher that keeps what it hears, and may do something then."""

    def __init__(self, at_end=lambda game: None):
        self.begun, self.events, self.ends, self.notes = [], [], [], []
        self.scores = []
        self._at_end = at_end

    def began(self, slot):
        self.begun.append((slot.number, *slot.labels))

    def told(self, slot, event):
        self.events.append((slot.number, event.type.value))

    def said(self, slot, by, words):
        pass

    def ended(self, game, so_far):
        self.ends.append(game.number)
        self.scores.append(str(so_far().score_of(so_far().plan.labels[0])))
        self._at_end(game)

    def noted(self, sentence):
        self.notes.append(sentence)


def plan(white="random", black="random", games=1, *, seed=5, swaps=True, test=None, **more):
    concurrency = more.pop("concurrency", 1)
    players = told_apart(PlayerSettings(white), PlayerSettings(black))
    rules = MatchSettings(*players, seed=seed, max_plies=more.pop("max_plies", 12), **more)
    return SeriesPlan(rules, games, swaps, concurrency, test)


def play(wanted, *, players=None, starts=None, heard=None, keep=None, programs=None):
    """Play a series, and return what came of it, what was heard, and what was kept."""
    heard = heard or Heard()
    kept = []

    async def main():
        async with Catalogue(programs, players=players) as catalogue:
            series = Series(
                wanted, starts or OwnStarts("standard", 1), catalogue, heard, keep or kept.append
            )
            heard.series = series
            return await series.run()

    return run(main()), heard, kept


def any_move(turn):
    return turn.position.legal_moves()[0]


def always(*script):
    """Return what makes players that do this in every game."""
    return lambda _seed: ScriptedPlayer(*script)


def test_colours_are_swapped_and_each_opening_is_played_by_both_sides():
    starts = ListedStarts([Start(opening="e4 e5"), Start(opening="d4 d5")])
    result, heard, kept = play(
        plan("random", "walker", 5), players={"walker": RandomPlayer}, starts=starts
    )
    assert heard.begun == [
        (1, "random", "walker"), (2, "walker", "random"), (3, "random", "walker"),
        (4, "walker", "random"), (5, "random", "walker"),
    ]  # fmt: skip
    assert [game.opening for game in result.games] == ["e4 e5"] * 2 + ["d4 d5"] * 2 + ["e4 e5"]
    assert [game.pair for game in result.games] == [1, 1, 2, 2, 3]
    assert (result.status, result.detail) == (Status.FINISHED, "")
    assert [f'[Round "{number}"]' in pgn for number, pgn in enumerate(kept, 1)] == [True] * 5
    assert result.duel()["unpaired_games"] == 1


def test_without_swaps_the_first_has_white_and_every_game_an_opening_of_its_own():
    starts = ListedStarts([Start(opening="e4 e5"), Start(opening="d4 d5")])
    result, heard, _ = play(plan(games=3, swaps=False), starts=starts)
    assert {begun[1:] for begun in heard.begun} == {("random (1)", "random (2)")}
    assert [game.opening for game in result.games] == ["e4 e5", "d4 d5", "e4 e5"]
    assert result.duel()["pentanomial"] is None
    assert result.duel()["trinomial"]["counts"] == [0, 3, 0]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_the_same_seed_plays_the_same_games_however_many_at_a_time(concurrency):
    def games(seed):
        limited = PlayerSettings("classical", nodes=50)
        rules = MatchSettings(
            *told_apart(PlayerSettings("random"), limited), max_plies=20, seed=seed
        )
        wanted = SeriesPlan(rules, 4, concurrency=concurrency)
        result, _, kept = play(wanted)
        moves = sorted(pgn.partition("\n\n")[2] for pgn in kept)
        return moves, [game.result for game in result.games]

    assert games(7) == games(7)
    assert games(7) != games(8)


def test_what_is_scored_is_counted_by_player_and_colour():
    # Whoever has White gives up at once.
    result, heard, _ = play(plan("loser", "random", 4), players={"loser": always(RESIGNS)})
    assert str(result.score_of("loser")) == "0-0-4"
    assert str(result.score_of("random", WHITE)) == str(result.score_of("random", BLACK)) == "2-0-0"
    assert heard.scores == ["0-0-1", "0-0-2", "0-0-3", "0-0-4"]
    found = result.to_json()
    assert found["rating"]["bound"] == "upper"
    assert found["terminations"] == {"resignation": 4}
    assert found["pentanomial"]["counts"] == [2, 0, 0, 0, 0]
    assert "all results are the same" in found["text"]


def test_illegal_moves_and_forfeits_are_counted_by_player():
    players = {"wild": always("Ke4", None, "Ke4", "Ke4")}
    result, _, _ = play(plan("wild", "random", 2), players=players)
    wild, other = result.to_json()["players"]
    assert (wild["illegal"], wild["unreadable"], wild["lost_by_rules"]) == (6, 2, 2)
    assert (other["illegal"], other["lost_by_rules"], other["lost_on_time"]) == (0, 0, 0)
    assert result.forfeits("wild", Termination.RULES_INFRACTION) == 2


def test_a_lost_clock_is_a_forfeit():
    result, _, _ = play(
        plan("sleeper", "random", time_control="0.05"), players={"sleeper": always(NEVER)}
    )
    assert result.forfeits("sleeper", Termination.TIME_FORFEIT) == 1


def test_a_player_that_breaks_loses_nothing_and_the_game_is_played_again():
    broken = iter([Fault(), Fault(), Fault(), Fault(), *[RESIGNS] * 2])

    class Breaks:
        name = "breaks"

        async def decide(self, _turn):
            step = next(broken)
            if isinstance(step, Exception):
                raise step
            return step

    result, heard, kept = play(plan("breaks", "random", 2), players={"breaks": lambda _: Breaks()})
    assert [(each.number, each.is_replayed) for each in result.void] == [(1, True)]
    assert heard.notes == [
        "game 1 is void, and is played again: breaks could not decide: the provider is out of reach"
    ]
    assert heard.ends == [1, 2]
    assert (result.status, len(kept)) == (Status.FINISHED, 2)


def test_a_process_that_dies_again_and_again_ends_the_series_and_nobody_loses(tmp_path):
    programs = {"dying": program("DiesThinking")}
    result, heard, kept = play(plan("uci:dying", "random", 6), programs=programs)
    assert result.status is Status.FAILED
    assert result.detail.startswith("game 1 came to nothing 3 times over: uci:dying could not")
    assert (result.games, len(result.void), len(heard.notes), kept) == ((), 3, 2, [])
    assert result.duel()["text"].endswith("nothing is known yet.")


def test_what_others_play_meanwhile_is_broken_off_when_the_series_ends():
    players = {"dying": always(*[Fault()] * 4), "sleeper": always(NEVER)}
    result, _, _ = play(plan("dying", "sleeper", 4, concurrency=2), players=players)
    # Where the sleeper has White the game goes on for ever.
    assert (result.status, result.broken_off, len(result.void)) == (Status.FAILED, 1, 3)


def test_a_provider_that_is_away_for_a_while_costs_no_game():
    lost = ConnectionLost("test", "it was cut")
    # Three times, of which each is another fault, since the match had gone on.
    script = [*[lost] * 4, any_move, *[lost] * 4, any_move, *[lost] * 4, RESIGNS]
    result, heard, _ = play(plan("away", "random"), players={"away": always(*script)})
    assert [game.termination for game in result.games] == [Termination.RESIGNATION]
    assert result.void == ()
    assert [note.partition(":")[0] for note in heard.notes] == ["game 1 goes on in 0 s"] * 3


def test_a_provider_that_stays_away_ends_the_series():
    lost = ConnectionLost("test", "it was cut")
    result, heard, _ = play(plan("away", "random", 4), players={"away": always(*[lost] * 99)})
    assert (result.status, len(result.void)) == (Status.FAILED, 1)
    assert result.detail == (
        "game 1 came to nothing: away could not decide: the connection to test was lost: it was cut"
    )
    assert len(heard.notes) == 2


def test_what_is_not_set_up_ends_the_series_at_once():
    error = ModelNotConfigured("test/model", "it has no key")
    result, heard, _ = play(plan("poor", "random", 4), players={"poor": always(error)})
    assert (result.status, len(result.void), heard.notes) == (Status.FAILED, 1, [])
    assert "it has no key" in result.detail


def test_who_wants_it_to_stop_keeps_what_is_finished():
    heard = Heard(at_end=lambda game: game.number == 3 and heard.series.stop())
    result, _, kept = play(plan(games=9, concurrency=1), heard=heard)
    assert (result.status, len(result.games), len(kept)) == (Status.INTERRUPTED, 3, 3)


def test_games_under_way_are_broken_off_and_count_nowhere():
    players = {"sleeper": always(NEVER), "quick": always(RESIGNS)}
    heard = Heard(at_end=lambda game: heard.series.stop())
    # Game 1: the sleeper has White and thinks. Game 2: the quick one has White and gives up.
    result, _, kept = play(plan("sleeper", "quick", 2, concurrency=2), players=players, heard=heard)
    assert (result.broken_off, [game.number for game in result.games], len(kept)) == (1, [2], 1)


def test_a_stop_before_the_first_game_plays_none():
    async def main():
        async with Catalogue() as catalogue:
            series = Series(plan(), OwnStarts("standard", 1), catalogue, Heard(), print)
            series.stop()
            return await series.run()

    result = run(main())
    assert (result.status, result.games) == (Status.INTERRUPTED, ())


def test_who_cancels_it_leaves_nothing_running():
    async def main():
        players = {"sleeper": always(NEVER)}
        async with Catalogue(players=players) as catalogue:
            heard = Heard()
            series = Series(
                plan("sleeper", "random"), OwnStarts("standard", 1), catalogue, heard, print
            )
            task = asyncio.ensure_future(series.run())
            await until(lambda: heard.events)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            assert task.cancelled()

    run(main())


def test_a_game_that_cannot_be_kept_ends_the_series_and_counts():
    def keep(_pgn):
        raise UnplayableSettings("pgn", "the disk is full")

    result, heard, _ = play(plan(games=3), keep=keep)
    assert (result.status, result.detail) == (
        Status.FAILED,
        "game 1 counts and is not kept: pgn: the disk is full",
    )
    assert len(result.games) == 1
    assert heard.ends == [1]


@pytest.mark.parametrize("when", ["ended", "told"])
def test_where_nobody_takes_what_is_told_it_ends_with_that_error(when):
    heard = Heard()

    def gone(*_):
        raise BrokenPipeError

    setattr(heard, when, gone)
    with pytest.raises(BrokenPipeError):
        play(plan(games=3), heard=heard)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_test_that_has_decided_ends_it_with_a_whole_pair(concurrency):
    test = SprtSettings((0.0, 400.0))
    players = {"loser": always(RESIGNS)}
    result, _, _ = play(
        plan("random", "loser", 40, test=test, concurrency=concurrency), players=players
    )
    played = len(result.games)
    assert played < 40
    assert played % 2 == 0
    assert result.status is Status.FINISHED
    assert result.duel()["sprt"]["decision"] == "H1"
    assert result.sprt()["decision"] == "H1"


def test_a_pair_that_is_under_way_when_the_test_decides_is_played_to_its_end():
    heard = Heard()

    class Loser:
        """Gives up: in game 2 once game 3 has begun, and in game 3 once game 2 has ended."""

        name = "loser"

        async def decide(self, turn):
            if turn.position.turn is BLACK:
                await until(lambda: len(heard.begun) > 2)
            elif len(heard.begun) > 2:
                await until(lambda: 2 in heard.ends)
            return RESIGNS

    test = SprtSettings((0.0, 400.0), alpha=0.4, beta=0.4)  # one pair is enough for it
    wanted = plan("loser", "random", 40, test=test, concurrency=2)
    result, _, _ = play(wanted, players={"loser": lambda _: Loser()}, heard=heard)
    assert heard.ends[:2] == [1, 2]
    assert [game.number for game in result.games] == [1, 2, 3, 4]


def test_a_test_is_open_before_the_first_pair():
    result, _, _ = play(plan(games=1, test=SprtSettings()))
    assert result.sprt() is None


def test_an_opening_that_cannot_be_played_from_is_told_before_any_game():
    async def check(starts):
        await check_starts(plan(games=4), starts)

    bad = ListedStarts([Start(opening="e4 e5"), Start(opening="e4 Ke5")])
    with pytest.raises(UnplayableSettings, match="opening"):
        run(check(bad))
    run(check(OwnStarts("chess960", 3)))


def test_an_opening_that_fails_later_ends_the_series():
    starts = ListedStarts([Start(opening="e4 e5"), Start(opening="e4 Ke5")])
    result, _, kept = play(plan(games=4), starts=starts)
    assert (result.status, len(kept), result.void[0].number) == (Status.FAILED, 2, 3)
    assert result.detail.startswith("game 3 came to nothing: opening: 'Ke5'")


# --- where games start ---


async def _starts(makes, rounds):
    async with Catalogue() as catalogue:
        starts = makes(catalogue)
        return await asyncio.gather(*(starts.of(number) for number in rounds))


def test_starts_of_a_list_are_shuffled_by_the_seed_alone():
    listed = [Start(opening=f"{number}") for number in range(20)]

    def shuffled(seed):
        return run(_starts(lambda _: ListedStarts(listed, seed), range(1, 21)))

    assert shuffled(1) == shuffled(1) != shuffled(2)
    assert set(shuffled(1)) == set(listed)
    assert run(_starts(lambda _: ListedStarts(listed), range(1, 22))) == [*listed, listed[0]]


def test_chess960_draws_a_start_for_each_round():
    drawn = run(_starts(lambda _: OwnStarts("chess960", 4), (1, 1, 2)))
    assert drawn[0] == drawn[1] != drawn[2]
    assert run(_starts(lambda _: OwnStarts("kings-cooking", 4), (1,))) == [Start()]


@pytest.mark.parametrize("variant", ["standard", "chess960"])
def test_balanced_starts_are_made_once_for_both_games_of_a_round(variant):
    def makes(catalogue):
        return BalancedStarts(catalogue.analyser(), variant, 4, plies=2)

    one, same, other = run(_starts(makes, (1, 1, 2)))
    assert one == same != other
    assert (one.opening is None) is (variant == "chess960")
