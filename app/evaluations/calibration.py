"""Calibration: how strong the levels are, found by letting them play each other.

Between level 7 and full strength lies more than a thousand Elo, over which nobody would ever score.
So Stockfish with fewer nodes stands on rungs in between, and other UCI engines that are installed
play along.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count, pairwise

from agents.catalogue import UCI, Catalogue
from agents.errors import AgentError
from agents.player import Player, Turn
from agents.random_player import RandomPlayer
from agents.timekeeping import now
from agents.uci.errors import UciError, UciFault
from agents.uci.levels import LEVELS, STOCKFISH
from agents.uci.limits import Limit
from agents.uci.ratings import RatedPlayer, Ratings
from app.errors import AppError
from app.evaluations.bradley_terry import Rating, Tally, rate
from app.evaluations.pairing import choose_pair
from app.matches.openings import Opening, shuffled
from engine import Color, Game

#: What fixes the scale: skill 0 at depth 1 is 1320.
ANCHOR, ANCHOR_ELO = "stockfish:6", 1320.0
#: What is expected before the first game, to pair players by.
_GUESSES = dict(
    zip(
        (level.name for level in LEVELS),
        (225.0, 431.0, 693.0, 831.0, 1052.0, ANCHOR_ELO, 1680.0, 3000.0),
        strict=True,
    )
)
_RUNGS = {100: 1900.0, 500: 2150.0, 2_000: 2400.0, 8_000: 2650.0, 30_000: 2850.0}
_GUESS_RANDOM, _GUESS_OTHER = 0.0, 2400.0
#: For UCI engines without a limit of their own. All of them heed depth; not all heed nodes.
OTHERS_LIMIT = Limit(depth=6)

#: A game that is not over by then is a draw.
MAX_PLIES = 300
_MAX_FAULTS = 3
#: What a game is thought to take before the first one, in seconds for each player.
_FIRST_SECONDS = 1.0


@dataclass(eq=False)
class TooFewGames(AppError):
    """A calibration that ended before anybody had met the anchor."""

    def __str__(self) -> str:
        return "too few games were played to rate anybody; play longer"


@dataclass(frozen=True)
class Contestant:
    """Somebody who is rated."""

    name: str
    guess: float
    how: str
    seat: Callable[[int], Player]


@dataclass
class PlayedSoFar:
    """What has happened so far."""

    games: int = 0
    elapsed: timedelta = timedelta(0)
    #: Who was left out, and why.
    left_out: dict[str, str] = field(default_factory=dict)


Watcher = Callable[[PlayedSoFar], None]


@dataclass(frozen=True)
class Calibration:
    """The result: ratings, and the results behind them."""

    engine: str
    #: Of whoever is linked to the anchor by games.
    ratings: dict[str, Rating]
    #: Of whoever has played.
    results: dict[str, Counter[str]]
    contestants: tuple[Contestant, ...]
    played: PlayedSoFar

    @property
    def is_ordered(self) -> bool:
        """Whether every level came out stronger than the one below it."""
        found = self._elos()
        return self.has_all_levels and found == sorted(set(found))

    @property
    def has_all_levels(self) -> bool:
        """Whether every level has an Elo, or a lower bound of it."""
        return len(self._elos()) == len(LEVELS)

    def to_ratings(self) -> Ratings:
        """Return what is written to a file for the levels to read."""
        players = {
            name: RatedPlayer(_tenths(each.elo), _tenths(each.low), _tenths(each.high), each.games)
            for name, each in self.ratings.items()
        }
        return Ratings(self.engine, now(), {ANCHOR: ANCHOR_ELO}, players)

    def _elos(self) -> list[float]:
        levels = [self.ratings[level.name] for level in LEVELS if level.name in self.ratings]
        elos = [level.low if level.elo is None else level.elo for level in levels]
        return [elo for elo in elos if elo is not None]


def contestants(catalogue: Catalogue, others: tuple[str, ...]) -> list[Contestant]:
    """Return the ladder with its rungs, and other UCI engines by their names (`uci:NAME`)."""

    def seated(name: str, limit: Limit | None = None) -> Callable[[int], Player]:
        return lambda seed: catalogue.seat(name, seed=seed, limit=limit)

    full = LEVELS[-1].name
    ladder = [Contestant(RandomPlayer.name, _GUESS_RANDOM, "any legal move", seated("random"))]
    ladder += [
        Contestant(level.name, _GUESSES[level.name], level.how, seated(level.name))
        for level in LEVELS
    ]
    ladder += [
        Contestant(
            f"{full} at {nodes} nodes",
            guess,
            "a rung in between",
            seated(full, Limit(nodes=nodes)),
        )
        for nodes, guess in _RUNGS.items()
    ]
    for name in others:
        limit = catalogue.pool(name).program.limit or OTHERS_LIMIT
        how = limit.command(Color.WHITE).removeprefix("go ")
        ladder.append(Contestant(name, _GUESS_OTHER, how, seated(name, limit)))
    return ladder


def other_engines(catalogue: Catalogue) -> tuple[str, ...]:
    """Return the names of all UCI engines besides Stockfish's levels."""
    return tuple(filter(_is_other, catalogue.names))


class Calibrator:
    """Plays games until its time is up, or until it is told to stop."""

    def __init__(
        self, catalogue: Catalogue, ladder: list[Contestant], *, seed: int = 1, concurrency: int = 2
    ) -> None:
        self._catalogue = catalogue
        self._ladder = {each.name: each for each in ladder}
        self._seed = seed
        self._concurrency = concurrency
        self._tallies: dict[tuple[str, str], Counter[str]] = {}
        self._faults: Counter[str] = Counter()
        self._seconds: dict[str, tuple[float, int]] = {}
        self._first_pairs = _first_pairs(ladder)
        self._failure: UciError | None = None
        self._openings = self._endless_openings()
        self._number = 0  # of the last game, for its seeds
        self._begun = 0  # games that were not broken off
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[str] | asyncio.Task[None]] = []
        self.played = PlayedSoFar()

    def stop(self) -> None:
        """Let the games under way come to their end, and begin no more; told again, cancel them."""
        if self._stopping.is_set():
            while self._tasks:  # once only: what they do after that is clearing up
                self._tasks.pop().cancel()
        self._stopping.set()

    async def run(
        self,
        budget: timedelta,
        max_games: int | None = None,
        watcher: Watcher | None = None,
    ) -> Calibration:
        """Play, and return what came of it. `watcher` is told after every game.

        Raises a `UciError` if Stockfish itself cannot be used, and `TooFewGames` if nobody has met
        the anchor.
        """
        engine = await self._check_engines()
        began = time.monotonic()

        def may_begin() -> bool:
            self.played.elapsed = timedelta(seconds=time.monotonic() - began)
            is_enough = max_games is not None and self._begun >= max_games
            return not (self._stopping.is_set() or is_enough or self.played.elapsed >= budget)

        async def work() -> None:
            while may_begin():
                await self._play_pair(may_begin, watcher)

        async with asyncio.TaskGroup() as group:
            self._tasks = [group.create_task(work()) for _ in range(self._concurrency)]
        if self._failure is not None:
            raise self._failure
        self.played.elapsed = timedelta(seconds=time.monotonic() - began)
        return self._result(engine)

    async def _check_engines(self) -> str:
        """Start every engine once, leave out those that cannot be, and return Stockfish's name."""
        others = [name for name in self._ladder if _is_other(name)]
        checks = [asyncio.create_task(self._engine_name(name)) for name in (STOCKFISH, *others)]
        self._tasks = [*checks]
        # Exceptions are returned, so that a check that `stop` cancels does not cancel the others.
        engine, *answers = await asyncio.gather(*checks, return_exceptions=True)
        for name, answer in zip(others, answers, strict=True):
            if isinstance(answer, AgentError):
                self.played.left_out[name] = str(answer)
            elif isinstance(answer, Exception):
                raise answer
        if isinstance(engine, Exception):
            raise engine
        return str(engine)

    async def _engine_name(self, name: str) -> str:
        async with self._catalogue.pool(name).lease() as process:
            return process.name

    async def _play_pair(self, may_begin: Callable[[], bool], watcher: Watcher | None) -> None:
        """Play two games from one opening, colours swapped."""
        pair = self._choose()
        opening = next(self._openings)
        for white, black in (pair, pair[::-1]):
            if not may_begin():
                return
            self._begun += 1
            self._number += 1
            seats = {
                color: self._ladder[name].seat(_derived(self._seed, self._number, color.name))
                for color, name in ((Color.WHITE, white), (Color.BLACK, black))
            }
            game, seconds, broken = await _play_game(seats, opening)
            if broken is not None:
                color, error = broken
                self._begun -= 1
                self._note_fault(white if color is Color.WHITE else black, error)
                self._first_pairs.insert(0, pair)  # others may be linked to the anchor by it
                return
            self._note_result(white, black, game)
            for name, color in ((white, Color.WHITE), (black, Color.BLACK)):
                total, games = self._seconds.get(name, (0.0, 0))
                self._seconds[name] = (total + seconds[color], games + 1)
            self.played.games += 1
            if watcher is not None:
                watcher(self.played)

    def _choose(self) -> tuple[str, str]:
        while self._first_pairs:
            pair = self._first_pairs.pop(0)
            if not self.played.left_out.keys() & set(pair):
                return pair
        taking_part = {
            name: each.guess
            for name, each in self._ladder.items()
            if name not in self.played.left_out
        }
        seconds = {}
        for name in taking_part:
            total, games = self._seconds.get(name, (_FIRST_SECONDS, 1))
            seconds[name] = total / games
        tallies = [
            tally
            for tally in self._all_tallies()
            if tally.first in taking_part and tally.second in taking_part
        ]
        return choose_pair(taking_part, {ANCHOR}, tallies, seconds)

    def _note_result(self, white: str, black: str, game: Game) -> None:
        first, second = sorted((white, black))
        winner = {Color.WHITE: white, Color.BLACK: black, None: None}[game.winner]
        result = "draws" if winner is None else "wins" if winner == first else "losses"
        self._tallies.setdefault((first, second), Counter())[result] += 1

    def _note_fault(self, name: str, error: UciError) -> None:
        """Count a fault: it is no result. Whoever keeps failing is left out."""
        self._faults[name] += 1
        if isinstance(error, UciFault) and self._faults[name] < _MAX_FAULTS:
            return
        if name.startswith(STOCKFISH):
            self._failure = error
            self._stopping.set()
        else:
            self.played.left_out[name] = str(error)

    def _all_tallies(self) -> list[Tally]:
        return [
            Tally(*pair, counts["wins"], counts["draws"], counts["losses"])
            for pair, counts in self._tallies.items()
        ]

    def _result(self, engine: str) -> Calibration:
        tallies = self._all_tallies()
        results: dict[str, Counter[str]] = {}
        for tally in tallies:
            first = results.setdefault(tally.first, Counter())
            second = results.setdefault(tally.second, Counter())
            first.update(wins=tally.wins, draws=tally.draws, losses=tally.losses)
            second.update(wins=tally.losses, draws=tally.draws, losses=tally.wins)
        linked = _linked_to_anchor(tallies)
        if not linked:
            raise TooFewGames
        ratings = rate(linked, {ANCHOR: ANCHOR_ELO})
        return Calibration(engine, ratings, results, tuple(self._ladder.values()), self.played)

    def _endless_openings(self) -> Iterator[Opening]:
        for number in count():
            yield from shuffled(_derived(self._seed, number))


def _first_pairs(ladder: list[Contestant]) -> list[tuple[str, str]]:
    """Return games that link everybody to the anchor, those next to it first, the others last.

    So whoever has played is linked, whenever it ends.
    """
    by_guess = sorted(ladder, key=lambda each: each.guess)
    rungs = [each for each in by_guess if not _is_other(each.name)]
    outward = sorted(pairwise(rungs), key=lambda pair: max(map(_from_anchor, pair)))
    pairs = [(lower.name, upper.name) for lower, upper in outward]
    for other in by_guess:
        if _is_other(other.name):
            nearest = min(rungs, key=lambda rung: abs(rung.guess - other.guess))
            pairs.append((nearest.name, other.name))
    return pairs


def _from_anchor(contestant: Contestant) -> float:
    return abs(contestant.guess - ANCHOR_ELO)


def _linked_to_anchor(tallies: list[Tally]) -> list[Tally]:
    """Return the results of those whom a chain of games links to the anchor."""
    linked, found = {ANCHOR}, 0
    while found < len(linked):
        found = len(linked)
        for tally in tallies:
            if linked & {tally.first, tally.second}:
                linked |= {tally.first, tally.second}
    return [tally for tally in tallies if tally.first in linked]


def _derived(*parts: object) -> int:
    """Return a seed that depends on all of the parts, and resembles that of no others."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _is_other(name: str) -> bool:
    return name.startswith(f"{UCI}:")


async def _play_game(
    seats: dict[Color, Player], opening: Opening
) -> tuple[Game, dict[Color, float], tuple[Color, UciError] | None]:
    """Play a game to its end; return it, how long each side thought, and who broke it and how."""
    game = Game(claims_draws=True)
    for san in opening.moves:
        game.play(san)
    seconds = dict.fromkeys(Color, 0.0)
    while not game.is_over and len(game.line) < MAX_PLIES:
        color = game.turn
        began = time.monotonic()
        try:
            decision = await seats[color].decide(Turn.of(game))
        except UciError as error:
            return game, seconds, (color, error)
        seconds[color] += time.monotonic() - began
        if decision.move is None:
            game.resign()
        else:
            game.play(decision.move)
    return game, seconds, None


def _tenths(elo: float | None) -> float | None:
    return None if elo is None else round(elo, 1)
