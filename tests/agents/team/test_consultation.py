"""How a team decides, by a caller that answers from a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from agents.models.errors import (
    BudgetSpent,
    ModelNotConfigured,
    ProviderFault,
    ProviderSilent,
    RequestRefused,
    ServerFault,
)
from agents.models.ledger import MemoryLedger, Question
from agents.models.model import ModelReply, ModelRequest, Usage
from agents.player import Advice, Rejection, Turn
from agents.team.definition import Fallback, read_definition
from agents.team.library import Team, load_teams
from agents.team.pacing import Pacing
from agents.team.player import TeamPlayer
from engine import Game, Illegality, Position, TimeControl

pytestmark = pytest.mark.asyncio

SILENT = ProviderSilent("loop", timedelta(seconds=1))


def advice(*moves: str, reasoning: str = "well") -> str:
    listed = [{"reason": f"because of {move}", "move": move} for move in moves]
    return json.dumps({"reasoning": reasoning, "candidates": listed})


def choice(move: str, reasoning: str = "so be it", **more: Any) -> str:
    return json.dumps({"reasoning": reasoning, **more, "move": move})


@dataclass
class ScriptedCaller:
    """Answers by role: with text, or by raising."""

    answers: dict[str, Any]
    asked: list[tuple[Question, ModelRequest]] = field(default_factory=list)
    pieces: int = 1
    retries: list[int | None] = field(default_factory=list)
    #: What nobody waited for any longer.
    abandoned: list[ModelRequest] = field(default_factory=list)

    async def call(self, request, question, ledger, budget, heard, excuse, retries=None):
        self.asked.append((question, request))
        self.retries.append(retries)
        answer = self.answers[question.role]
        if isinstance(answer, Callable):
            answer = await answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ModelReply):
            return answer
        heard(answer)
        return ModelReply(answer, Usage(1, 0, 0, 1), timedelta(0))

    async def given_up(self, request):
        self.abandoned.append(request)

    def request(self, role: str) -> ModelRequest:
        (found,) = [request for question, request in self.asked if question.role == role]
        return found

    @property
    def roles(self) -> list[str]:
        return [question.role for question, _ in self.asked]


@dataclass
class Notes:
    """A listener that writes down."""

    words: list[tuple[str, str]] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)

    def said(self, by, words):
        self.words.append((by, words))

    def advised(self, advice):
        self.advice.append(advice)

    def excuse(self, since, until):
        pass


def seat(caller, name="default", **changes):
    team = load_teams()[name]
    definition = team.definition.model_copy(update=changes)
    team = Team(name, definition, team.texts)
    return TeamPlayer(f"team:{name}", team, caller, default_model="loop/x", seed=7)


def turn(fen=None, variant="standard", moves=(), **fields):
    start = Position.start(variant) if fen is None else Position.from_fen(fen, variant)
    game = Game(start)
    for move in moves:
        game.play(move)
    return replace(Turn.of(game), **fields)


ALL = {"tactical": advice("e2e4", "d2d4"), "positional": advice("g1f3"), "selector": choice("g1f3")}


async def test_specialists_advise_and_the_selector_decides():
    caller, notes = ScriptedCaller(ALL), Notes()
    decision = await seat(caller).decide(turn(listener=notes))
    assert decision.move.uci() == "g1f3"
    assert [each.by for each in decision.advice] == ["tactical", "positional", "selector"]
    assert [each.move.uci() for each in decision.advice[0].candidates] == ["e2e4", "d2d4"]
    assert decision.advice[2].candidates[0].reason == "so be it"
    assert decision.advice[0].words == "well"
    assert notes.advice == list(decision.advice)  # each as soon as it is whole
    assert ("selector", "so be it\n") in notes.words
    told = caller.request("selector").messages[1].content
    assert "- tactical, choice 2: d2d4 (d4): because of d2d4" in told
    assert "- positional, choice 1: g1f3 (Nf3): because of g1f3" in told
    assert "Advice of the team" not in caller.request("positional").messages[1].content
    assert {request.model for _, request in caller.asked} == {"loop/x"}
    assert caller.retries == [4, 4, 4]


async def test_specialists_are_asked_at_the_same_time():
    met = asyncio.Barrier(2)

    async def meet(request):
        async with asyncio.timeout(10):
            await met.wait()
        return advice("e2e4")

    caller = ScriptedCaller({**ALL, "tactical": meet, "positional": meet})
    assert (await seat(caller).decide(turn())).move.uci() == "g1f3"


async def test_in_sequence_each_sees_what_came_before():
    caller = ScriptedCaller(ALL)
    await seat(caller, "sequential").decide(turn())
    assert caller.roles == ["tactical", "positional", "selector"]
    assert "choice 1: e2e4" in caller.request("positional").messages[1].content
    assert "positional" not in caller.request("tactical").messages[1].content


async def test_what_never_changes_comes_first():
    caller = ScriptedCaller(ALL)
    await seat(caller).decide(turn(moves=("e4", "e5")))
    await seat(caller).decide(turn(moves=("e4", "e5", "Nf3", "Nc6")))
    first, second = (
        request.messages for question, request in caller.asked if question.role == "tactical"
    )
    assert first[0] == second[0]
    assert "FIDE rules" in first[0].content
    assert "tactical specialist" in first[0].content
    start = "Moves so far: 1. e4 e5"
    assert first[1].content.startswith(start)
    assert second[1].content.startswith(f"{start} 2. Nf3 Nc6\n")
    question = second[1].content
    parts = ["Moves so far", "Position: r1bqkbnr", "Your legal moves", "rules engine sees"]
    assert sorted(parts, key=question.index) == parts
    assert "f1b5 (Bb5)" in question


async def test_a_pure_team_is_not_helped():
    caller = ScriptedCaller(ALL)
    await seat(caller, "pure").decide(turn())
    for _, request in caller.asked:
        assert "legal moves" not in request.messages[1].content
        assert "rules engine" not in request.messages[1].content
        assert "enum" not in json.dumps(dict(request.schema.schema))
    assert '"enum"' not in json.dumps(dict(caller.request("selector").schema.schema))


async def test_the_schema_has_the_legal_moves():
    caller = ScriptedCaller(ALL)
    await seat(caller).decide(turn())
    properties = caller.request("selector").schema.schema["properties"]
    assert len(properties["move"]["enum"]) == 20
    assert "accept_draw" not in properties


@pytest.mark.parametrize("variant", ["chess960", "kings-cooking"])
async def test_other_variants_are_explained(variant):
    uci = Position.start(variant).legal_moves()[0].uci()
    answers = {
        "tactical": advice(uci),
        "positional": advice(uci),
        "selector": choice(uci),
    }
    caller = ScriptedCaller(answers)
    decision = await seat(caller).decide(turn(variant=variant))
    assert decision.move.uci() == uci
    system = caller.request("selector").messages[0].content
    words = {"chess960": "shuffled back rank", "kings-cooking": "**leaves** the board"}
    assert words[variant] in system


async def test_a_game_that_began_elsewhere_is_told_from_there():
    caller = ScriptedCaller({**ALL, "selector": choice("a1a2")})
    await seat(caller).decide(turn("7k/8/8/8/8/8/8/R6K w - - 0 1"))
    told = caller.request("selector").messages[1].content
    assert told.startswith("The game began from this position: 7k/8")
    assert "No move has been played yet." in told


async def test_black_to_move_first():
    caller = ScriptedCaller({**ALL, "selector": choice("h8g8")})
    await seat(caller).decide(turn("7k/8/8/8/8/8/8/R6K w - - 0 9", moves=("Ra2", "Kg8", "Ra3")))
    told = caller.request("selector").messages[1].content
    assert "Moves so far: 9. Ra2 Kg8 10. Ra3" in told
    assert "You are Black" in told


# --- abstentions ---


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (SILENT, "loop timed out after 1.0 s"),
        (ServerFault("loop", 500), "loop answered 500"),
        (BudgetSpent("calls", "0", "1"), "the match's budget is spent"),
        (ModelReply("", Usage(), timedelta(0)), "it said nothing"),
        (ModelReply("", Usage(), timedelta(0), refusal="I\nwon't"), "it refuses: I won't"),
        (advice(), "it named no move"),
        (advice("e2e5"), "'e2e5' in "),
        ("no idea", "'no idea' cannot be read as a move"),
    ],
)
async def test_a_team_goes_on_without_whoever_abstains(answer, why):
    caller, notes = ScriptedCaller({**ALL, "tactical": answer}), Notes()
    decision = await seat(caller).decide(turn(listener=notes))
    assert decision.move.uci() == "g1f3"
    first = decision.advice[0]
    assert (first.by, first.candidates) == ("tactical", ())
    assert first.abstained.startswith(why)
    assert first in notes.advice
    assert "- tactical abstains." in caller.request("selector").messages[1].content


async def test_a_specialist_that_takes_too_long_abstains():
    async def never(request):
        await asyncio.Event().wait()

    caller = ScriptedCaller({**ALL, "tactical": never})
    specialists = tuple(
        each.model_copy(update={"patience": 0.01})
        for each in load_teams()["default"].definition.specialists
    )
    decision = await seat(caller, specialists=specialists).decide(turn())
    assert decision.advice[0].abstained == "it did not answer in time"
    assert caller.abandoned == [caller.request("tactical")]


@pytest.mark.parametrize(
    "error", [RequestRefused("loop", 401, "no key"), ModelNotConfigured("loop/x", "no key")]
)
async def test_nobody_goes_on_with_a_wrong_key(error):
    for role in ALL:
        with pytest.raises(type(error)):
            await seat(ScriptedCaller({**ALL, role: error})).decide(turn())


async def test_a_selector_without_a_provider_is_a_fault():
    with pytest.raises(ProviderFault):
        await seat(ScriptedCaller({**ALL, "selector": SILENT})).decide(turn())


async def test_a_selector_without_a_provider_may_be_done_without():
    answers = {
        "tactical": advice("e2e4"),
        "positional": advice("d2d4"),
        "endgame": advice("d2d4"),
        "selector": SILENT,
    }
    definition = load_teams()["default"].definition
    third = definition.specialists[0].model_copy(update={"name": "endgame"})
    player = seat(
        ScriptedCaller(answers),
        fallback=Fallback.CANDIDATE,
        specialists=(*definition.specialists, third),
    )
    decision = await player.decide(turn())
    assert decision.move.uci() == "d2d4"
    assert decision.advice[-1].abstained == str(SILENT)
    nobody = dict.fromkeys(answers, SILENT)
    with pytest.raises(ProviderSilent):
        await seat(ScriptedCaller(nobody), fallback=Fallback.CANDIDATE).decide(turn())


# --- refusals ---


@pytest.mark.parametrize(
    ("answer", "move", "reason"),
    [
        (choice("e2e5"), "e2e5", "does not move like that"),
        ("I play Ke2.", None, "a piece of the same side"),
        ("no idea", "no idea", "cannot be read"),
        (ModelReply("", Usage(), timedelta(0), refusal="No!"), "No!", "cannot be read"),
    ],
)
async def test_what_is_no_legal_move_is_told_with_its_fault(answer, move, reason):
    decision = await seat(ScriptedCaller({**ALL, "selector": answer})).decide(turn())
    assert decision.fault is not None
    assert reason in str(decision.fault)
    assert move is None or decision.move == move
    assert [each.move.uci() for each in decision.advice[0].candidates] == ["e2e4", "d2d4"]
    assert decision.advice[-1].candidates == ()


async def test_a_retry_is_told_why_and_is_another_attempt():
    caller = ScriptedCaller(ALL)
    refused = (Rejection("e2e5", str(Illegality.NOT_HOW_IT_MOVES)), Rejection("e1e3", ""))
    await seat(caller).decide(turn(rejections=refused))
    told = caller.request("selector").messages[1].content
    assert "already tried e2e5, and it was refused (the piece does not move like that)" in told
    assert "e1e3" not in told  # the match does not tell
    assert [question.attempt for question, _ in caller.asked] == [1, 1, 3]
    assert "e2e5" not in caller.request("tactical").messages[1].content


# --- alone ---


async def test_solo():
    caller = ScriptedCaller({"solo": choice("e2e4", "space")})
    team = load_teams()["default"].control()
    player = TeamPlayer("solo:default", team, caller, default_model="loop/x")
    decision = await player.decide(turn())
    assert decision.move.uci() == "e2e4"
    assert caller.request("solo").max_tokens == 12_000
    assert "decide alone" in caller.request("solo").messages[0].content
    assert decision.advice[0].candidates[0].reason == "space"
    assert player.models == ("loop/x",)


QUIET = "r1bqkb1r/pppp1ppp/2n2n2/4p3/4P3/2NP4/PPP2PPP/R1BQKBNR w KQkq - 0 4"
CRITICAL = "rnb1kbnr/pppp1ppp/8/4p1q1/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3"


@pytest.mark.parametrize(
    ("fen", "roles"), [(QUIET, ["solo"]), (CRITICAL, ["tactical", "positional", "selector"])]
)
async def test_a_frugal_team_escalates_where_it_matters(fen, roles):
    caller = ScriptedCaller({**ALL, "solo": choice("a2a3")})
    await seat(caller, "frugal").decide(turn(fen))
    assert caller.roles == roles


async def test_the_majority_decides():
    moves = iter(("e2e4", "d2d4", "d2d4"))

    async def next_move(request):
        return choice(next(moves), "why not")

    caller, notes = ScriptedCaller({"solo": next_move}), Notes()
    decision = await seat(caller, "vote").decide(turn(listener=notes))
    assert decision.move.uci() == "d2d4"
    assert {by for by, _ in notes.words} == {"solo 1", "solo 2", "solo 3"}
    assert [request.sample for _, request in caller.asked] == [0, 1, 2]
    assert len({request.digest for _, request in caller.asked}) == 3
    assert decision.advice[-1].candidates[0].reason == "2 of 3 chose it: why not"
    assert [each.by for each in decision.advice] == ["solo 1", "solo 2", "solo 3", "solo"]


async def test_of_as_many_votes_the_first_counts():
    moves = iter(("d2d4", "e2e5", "e2e4"))

    async def next_move(request):
        return choice(next(moves))

    decision = await seat(ScriptedCaller({"solo": next_move}), "vote").decide(turn())
    assert decision.move.uci() == "d2d4"
    assert "does not move like that" in decision.advice[1].abstained


async def test_votes_that_are_not_given_do_not_count():
    answers = iter((SILENT, choice("e2e5"), SILENT))

    async def next_answer(request):
        return next(answers)

    decision = await seat(ScriptedCaller({"solo": next_answer}), "vote").decide(turn())
    assert (decision.move, decision.fault is None) == ("e2e5", False)
    assert [each.by for each in decision.advice] == ["solo 1", "solo 2", "solo 3", "solo"]
    assert decision.advice[2].abstained == str(SILENT)
    with pytest.raises(ProviderSilent):
        await seat(ScriptedCaller({"solo": SILENT}), "vote").decide(turn())


class Paid(MemoryLedger):
    """A ledger in which some roles have answered."""

    def __init__(self, *roles):
        super().__init__()
        self.roles = roles

    async def has_reply(self, role):
        return role in self.roles


@pytest.mark.parametrize(
    ("team", "has_answered", "speaks"),
    [
        ("default", ("selector",), False),
        # What it would be told does not depend on others who are asked at the same time.
        ("default", ("positional",), True),
        ("sequential", ("positional",), False),
        ("sequential", ("selector",), False),
        # Nothing is paid for that would be lost.
        ("default", (), True),
        # It has said something since, which is not to be lost, and the others were told of it.
        ("default", ("tactical", "selector"), True),
        ("sequential", ("tactical", "positional", "selector"), True),
    ],
)
async def test_who_abstained_does_not_speak_up_when_somebody_has_answered_to_that(
    team, has_answered, speaks
):
    before = Advice("tactical", abstained="it did not answer in time")
    caller = ScriptedCaller(ALL)
    await seat(caller, team).decide(turn(advice=(before,), ledger=Paid(*has_answered)))
    assert ("tactical" in caller.roles) is speaks
    assert {"positional", "selector"} <= set(caller.roles)
    told = caller.request("selector").messages[1].content
    assert ("- tactical abstains." in told) is not speaks


async def test_who_did_not_abstain_is_asked():
    caller = ScriptedCaller(ALL)
    await seat(caller).decide(turn(ledger=Paid("selector")))
    assert sorted(caller.roles) == ["positional", "selector", "tactical"]


# --- forced moves, draws, seeds, clocks ---


async def test_a_forced_move_costs_nothing():
    fen = "7k/8/8/8/8/8/r7/7K w - - 0 1"
    caller = ScriptedCaller({})
    decision = await seat(caller).decide(turn(fen))
    assert decision.move.uci() == "h1g1"
    assert caller.asked == []
    assert decision.advice[0].candidates[0].reason == "the only legal move"
    caller = ScriptedCaller({**ALL, "selector": choice("h1g1")})
    await seat(caller, "pure").decide(turn(fen))
    assert len(caller.asked) == 3


async def test_a_draw_can_be_accepted_only_if_it_is_offered():
    answers = {**ALL, "selector": choice("g1f3", accept_draw=True)}
    caller = ScriptedCaller(answers)
    assert (await seat(caller).decide(turn(draw_offered=True))).accepts_draw
    assert "accept_draw" in caller.request("selector").schema.schema["properties"]
    assert "offers a draw" in caller.request("selector").messages[1].content
    assert not (await seat(ScriptedCaller(answers)).decide(turn())).accepts_draw


@pytest.mark.parametrize("move", ["", "none", "e2e5"])
async def test_a_draw_is_accepted_without_a_legal_move(move):
    answers = {**ALL, "selector": choice(move, accept_draw=True)}
    decision = await seat(ScriptedCaller(answers)).decide(turn(draw_offered=True))
    assert decision.accepts_draw
    assert decision.advice[-1] == Advice("selector", words="so be it")
    # Where none is offered, that is no decision.
    decision = await seat(ScriptedCaller(answers)).decide(turn())
    assert not decision.accepts_draw
    assert decision.fault is not None
    assert decision.advice[-1].abstained


@pytest.mark.parametrize(
    ("answers", "accepts"),
    [
        ((choice("", accept_draw=True), choice("e2e4"), choice("", accept_draw=True)), True),
        ((choice("e2e5"), choice("e2e5"), choice("", accept_draw=True)), True),
        ((choice("e2e4"), choice("e2e4"), choice("", accept_draw=True)), False),
        ((choice("e2e4"), choice("e2e5"), choice("", accept_draw=True)), False),
        ((choice("e2e4", accept_draw=True), choice("e2e5"), choice("e2e5")), True),
    ],
)
async def test_most_of_those_who_decide_accept_a_draw(answers, accepts):
    rest = iter(answers)

    async def next_answer(request):
        return next(rest)

    caller = ScriptedCaller({"solo": next_answer})
    decision = await seat(caller, "vote").decide(turn(draw_offered=True))
    assert decision.accepts_draw is accepts


@pytest.mark.parametrize(("seeded", "seed"), [(True, 7), (False, None)])
async def test_the_seed_goes_along_if_wished_for(seeded, seed):
    caller = ScriptedCaller(ALL)
    await seat(caller, seeded=seeded).decide(turn())
    assert caller.request("selector").seed == seed


async def test_a_clock_bounds_what_members_may_take():
    member = load_teams()["default"].definition.specialists[0]
    game = Game(Position.start())
    assert Pacing(Turn.of(game)).patience(member) == timedelta(minutes=5)
    assert Pacing(Turn.of(game)).silence(timedelta(minutes=2)) == timedelta(minutes=2)
    game.start_clock(TimeControl.parse("60"))
    paced = Pacing(replace(Turn.of(game), spent=timedelta(seconds=20)))
    assert timedelta(seconds=4) < paced.patience(member) <= timedelta(seconds=5)
    silence = paced.silence(timedelta(minutes=2))
    assert timedelta(seconds=38) < silence < timedelta(seconds=40)
    late = Pacing(replace(Turn.of(game), spent=timedelta(seconds=61)))
    assert late.patience(member) == timedelta(seconds=1)
    assert timedelta(0) < late.silence(timedelta(minutes=2)) < timedelta(seconds=1)


async def test_what_was_excused_is_still_there():
    game = Game(Position.start())
    game.start_clock(TimeControl.parse("60"))
    paced = Pacing(Turn.of(game))
    paced._began -= timedelta(seconds=50)
    assert paced.silence(timedelta(minutes=2)) < timedelta(seconds=10)
    for _ in range(2):  # it counts once
        paced.excuse(paced._began, paced._began + timedelta(seconds=30))
        silence = paced.silence(timedelta(minutes=2))
        assert timedelta(seconds=35) < silence < timedelta(seconds=40)


async def test_members_may_ask_models_of_their_own():
    text = """
    title = "Mixed"
    [[specialists]]
    name = "tactical"
    prompt = "tactical.md"
    model = "other/y"
    temperature = 0.5
    effort = "low"
    """
    team = Team("mixed", read_definition("mixed", text), load_teams()["default"].texts)
    caller = ScriptedCaller(ALL)
    player = TeamPlayer("team:mixed", team, caller, default_model="loop/x")
    await player.decide(turn())
    assert player.models == ("other/y", "loop/x")
    request = caller.request("tactical")
    assert (request.model, request.temperature, request.effort) == ("other/y", 0.5, "low")
