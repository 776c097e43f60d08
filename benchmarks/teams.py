"""What a team of models costs besides its models: `make bench-teams`.

The model is a server on loopback in another process. It takes 300 ms for a reply of 60 tokens,
which comes in a few pieces or in one for each token, at once in the end or one by one. Teams play
games from random middlegames on, with all that is theirs: facts, prompts, the client, and a ledger
in SQLite.

1. How long a decision of the default team takes, which asks twice in a row, beside one bare call.
2. The processor time of our process (all its threads) for a decision, and where it goes; beside it
   that of three bare requests by httpx, which tells how fast the machine is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from statistics import mean, median, quantiles

import httpx

from agents.catalogue import Catalogue
from agents.models.access import ModelAccess
from agents.models.budget import Budget, Spending
from agents.models.dialects import Dialect
from agents.models.ledger import CallOutcome, ModelCall, Question
from agents.models.model import ModelReply, ModelRequest, Usage
from agents.models.openai_chat import OpenAiChat
from agents.models.providers import Provider
from agents.player import Player, Turn
from agents.team.answers import candidates_schema, move_schema
from agents.team.briefing import Briefing
from agents.team.facts import facts_of
from agents.team.library import load_teams
from app.garbage import settle
from app.matches.hearing import Hearing
from app.matches.ledger import MatchLedger
from app.matches.settings import MatchSettings, PlayerSettings
from app.persistence.database import Database
from app.services import open_services
from app.settings import Settings
from benchmarks.service import Row
from engine import Game

DECISIONS, PAIRS = 120, 30
#: How long the model takes for a reply, and how much of that is before its first token.
REPLY, FIRST_TOKEN = timedelta(milliseconds=300), timedelta(milliseconds=120)
#: How long a reply is, about, and in how few pieces it may come.
TOKENS, FEW = 60, 4
#: Games are random up to here, and then the team plays so many plies.
OPENING, PLIES = 24, 20
MODEL = "loop/some-model"
CALLS = 3  # of a decision
MOST_RATIO, MOST_CPU = 2.1, 15.0


# --- the model ---


def serve_model(pieces: int, *, at_once: bool) -> None:
    """Serve a model until killed, and print its address."""
    from tests.support.model_server import Asked, ModelServer, Says

    random = Random(1)
    rest = REPLY - FIRST_TOKEN

    def reply(asked: Asked) -> Says:
        moves = asked.enum("move")
        words = "The knight on f3 is pinned, so that the pawn on e5 cannot be taken now. "
        answer: dict[str, object] = {"reasoning": words * 2}
        if "candidates" in (asked.schema or {}).get("properties", {}):
            chosen = random.sample(moves, min(3, len(moves)))
            answer["candidates"] = [{"reason": words[:40], "move": move} for move in chosen]
        else:
            answer["move"] = random.choice(moves)
        usage = {"prompt_tokens": 900, "completion_tokens": TOKENS}
        if at_once:
            return Says(json.dumps(answer), pieces, usage, delay=REPLY)
        return Says(json.dumps(answer), pieces, usage, delay=FIRST_TOKEN, pause=rest / pieces)

    async def serve() -> None:
        async with ModelServer(reply) as server:
            print(server.base_url, flush=True)
            await asyncio.Event().wait()

    asyncio.run(serve())


@contextmanager
def model(pieces: int, *, at_once: bool) -> Iterator[str]:
    """Have the model in another process; what is yielded is its address."""
    command = [sys.executable, "-m", "benchmarks.teams", "--serve", str(pieces)]
    process = subprocess.Popen(  # noqa: S603
        command + ["--at-once"] * at_once, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait(30)


# --- the team ---


@dataclass(frozen=True)
class Table:
    """A team, the model that it asks, and the ledger of its match."""

    player: Player
    client: OpenAiChat
    ledger: MatchLedger

    async def decide(self, game: Game) -> None:
        """Let the team play a ply."""
        hearing = Hearing(lambda: None, lambda by, words: None)
        ledger = self.ledger.for_turn(game.turn, len(game.line) + 1, hearing.excuse)
        turn = replace(Turn.of(game), listener=hearing, ledger=ledger)
        decision = await self.player.decide(turn)
        if len(decision.advice) != CALLS or decision.fault is not None:
            raise RuntimeError(f"not a decision of all: {decision}")
        game.play(decision.move)

    async def call(self, request: ModelRequest) -> None:
        """Ask the model once, and do nothing else."""
        await self.client.ask(request, lambda words: None)


@asynccontextmanager
async def table(folder: Path, url: str) -> AsyncIterator[Table]:
    """Have a team with a ledger of its own."""
    settings = Settings(data_folder=folder)
    async with open_services(settings, Catalogue()) as services:
        human = PlayerSettings("human")
        created = await services.matches.create(MatchSettings(human, human), client="benchmark")
    provider = Provider("loop", url)
    models = ModelAccess({"loop": provider})
    client = OpenAiChat(provider)
    teams = Catalogue(teams=load_teams(), models=models, default_model=MODEL)
    async with teams, await Database.open(settings.database_url) as database:
        ledger = MatchLedger(created.record.id, Budget(), database, lambda call: None)
        yield Table(teams.seat("team:default", "standard", 1), client, ledger)
        await client.aclose()


def middlegames(seed: int) -> Iterator[Game]:
    """Yield games as the team is to go on with them: the same one, until it has played enough."""
    random = Random(seed)
    while True:
        game = Game()
        while not game.is_over and len(game.line) < OPENING:
            game.play(random.choice(game.position.legal_moves()))
        while not game.is_over and len(game.line) < OPENING + PLIES:
            if len(game.position.legal_moves()) > 1:
                yield game  # a forced move is played without a question
            else:
                game.play(game.position.legal_moves()[0])


# --- what is measured ---


async def time_of_decision(folder: Path, url: str, pairs: int) -> Row:
    """Return how long a decision takes, beside one call."""
    decisions, calls = [], []
    games = middlegames(seed=2)
    async with table(folder, url) as here:
        for number in range(-2, pairs):  # what comes first warms up
            game = next(games)
            request = _requests(Turn.of(game))[0]
            began = time.perf_counter()
            await here.call(request)
            between = time.perf_counter()
            await here.decide(game)
            if number >= 0:
                calls.append(between - began)
                decisions.append(time.perf_counter() - between)
    ratio = median(decisions) / median(calls)
    return Row(
        f"time of a concurrent team decision beside one call, medians of {pairs}",
        f"{ratio:.3f} ({1000 * median(decisions):.0f} ms by {1000 * median(calls):.0f} ms)",
        f"{MOST_RATIO}",
        ratio <= MOST_RATIO,
    )


async def cpu_of_decision(
    folder: Path, url: str, decisions: int, how: str, *, shares: bool
) -> list[str]:
    """Return what a decision costs us, and where that goes."""
    games = middlegames(seed=3)
    played, cpus = [], []
    async with table(folder, url) as here:
        for _ in range(3):
            await here.decide(next(games))
        for _ in range(decisions):
            game = next(games)
            before = time.process_time()
            await here.decide(game)
            cpus.append(1000 * (time.process_time() - before))
            played.append(game)
        each = mean(cpus)
        row = Row(
            f"CPU per decision of a team (three calls), {how}, mean of {decisions}",
            f"{each:.2f} ms (a tenth takes {quantiles(cpus, n=10)[0]:.2f} or less)",
            f"{MOST_CPU:.0f} ms",
            each < MOST_CPU,
        )
        parts = await _shares(here, list(dict.fromkeys(played)), each) if shares else []
    bare = await cpu_of_bare_requests(url, _requests(Turn.of(next(games))), decisions)
    beside = f"| beside it three bare requests by httpx | {bare:.2f} ms | | |"
    return [str(row), *parts, beside]


async def cpu_of_bare_requests(url: str, requests: list[ModelRequest], rounds: int) -> float:
    """Return what it costs to send as much as a decision does, and to read what comes."""
    dialect = Dialect.hoped_for(Provider("loop", url))
    bodies = [dialect.body(each, "some-model", include_usage=False) for each in requests]
    cpus = []
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:

        async def send(body: dict[str, object]) -> None:
            async with client.stream("POST", f"{url}/chat/completions", json=body) as response:
                async for _ in response.aiter_raw():
                    pass

        for _ in range(rounds):
            before = time.process_time()
            await asyncio.gather(*map(send, bodies[:-1]))
            await send(bodies[-1])
            cpus.append(1000 * (time.process_time() - before))
    return mean(cpus)


async def _shares(here: Table, games: list[Game], whole: float) -> list[str]:
    """Return where the time goes: each part is done by itself, on positions nobody has seen."""
    turns = [turn for game in games for turn in _turns(game)]
    facts = _cpu(turns, lambda turn: facts_of(turn.position).text())
    turns = [turn for game in games for turn in _turns(game)]
    prompts = _cpu(turns, _requests) - facts
    before = time.process_time()
    for turn in turns:
        requests = _requests(turn)
        await _record(here.ledger, turn, requests)
    ledger = 1000 * (time.process_time() - before) / len(turns)
    before = time.process_time()
    for turn in turns:
        _requests(turn)
    ledger -= 1000 * (time.process_time() - before) / len(turns)
    parts = {"facts": facts, "prompts, schemas and digests": prompts, "ledger": ledger}
    parts["calls, replies and the rest"] = whole - sum(parts.values())
    return [f"| of it {name} | {cpu:.2f} ms | | |" for name, cpu in parts.items()]


def _turns(game: Game) -> list[Turn]:
    """Return the turns that the team had in a game, anew: a position keeps what it has worked out.

    As in a match, what earlier positions know has been worked out before.
    """
    again, turns = Game(), []
    for ply in game.plies:
        if len(again.line) >= OPENING:
            turns.append(Turn.of(again))
        again.play(ply.move)
    return turns


def _cpu(turns: list[Turn], work: Callable[[Turn], object]) -> float:
    before = time.process_time()
    for turn in turns:
        work(turn)
    return 1000 * (time.process_time() - before) / len(turns)


def _requests(turn: Turn) -> list[ModelRequest]:
    """Return what the default team asks in a turn, without what specialists say."""
    team = load_teams()["default"]
    definition = team.definition
    briefing = Briefing(turn, definition)
    requests = []
    for member in definition.members:
        prompt = team.prompt(member.prompt, turn.position.variant)
        if member in definition.specialists:
            messages = briefing.for_specialist(prompt, ())
            schema = candidates_schema(briefing.told_moves, 3, member.reasoning_limit)
        else:
            messages = briefing.for_decider(prompt, ())
            schema = move_schema(briefing.told_moves, member.reasoning_limit, draw_offered=False)
        request = ModelRequest(MODEL, messages, member.max_tokens, schema, effort=member.effort)
        assert request.digest  # noqa: S101 - which is worked out now
        requests.append(request)
    return requests


async def _record(ledger: MatchLedger, turn: Turn, requests: list[ModelRequest]) -> None:
    """Write down what a decision writes down."""
    own = ledger.for_turn(turn.position.turn, len(turn.plies) + 1, turn.listener.excuse)
    reply = ModelReply("x" * 300, Usage(900, 0, 0, TOKENS), REPLY)
    for request in requests:
        question = Question("member", 1, "digest")
        await own.find(question, request.digest)
        reservation = own.reserve(Spending(), Budget())
        call = ModelCall(
            question, MODEL, request.digest, 0, CallOutcome.OK, reply.usage, REPLY, None,
            datetime.now(UTC), reply,
        )  # fmt: skip
        await own.record(call, reservation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer decisions")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--at-once", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve_model(arguments.serve, at_once=arguments.at_once)
        return
    settle()  # as the service does
    decisions, pairs = (12, 6) if arguments.quick else (DECISIONS, PAIRS)
    print("| measured | figure | bar | |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="kibitz-bench-") as name:
        folder = Path(name)
        with model(FEW, at_once=True) as url:
            print(asyncio.run(time_of_decision(folder / "time", url, pairs)), flush=True)
        for pieces, at_once in ((FEW, True), (TOKENS, True), (TOKENS, False)):
            how = f"replies in {pieces} pieces {'at once' if at_once else 'one by one'}"
            place = folder / f"{pieces}-{at_once}"
            with model(pieces, at_once=at_once) as url:
                rows = asyncio.run(cpu_of_decision(place, url, decisions, how, shares=at_once))
            print(*rows, sep="\n", flush=True)


if __name__ == "__main__":
    main()
