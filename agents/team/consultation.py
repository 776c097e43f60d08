"""Consultation: how a team comes to its decision in one turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

from agents.models.budget import Budget
from agents.models.errors import BudgetSpent, ModelError, ProviderFault
from agents.models.ledger import Ledger, Question
from agents.models.model import Heard, Message, ModelReply, ModelRequest, ReplySchema
from agents.player import Advice, Candidate, Decision, Turn
from agents.team.answers import (
    Choice,
    candidates_schema,
    move_schema,
    one_line,
    read_choice,
    read_counsel,
)
from agents.team.briefing import Briefing
from agents.team.critical import why_critical
from agents.team.definition import THE_DEFAULT, Fallback, MemberDefinition, Mode
from agents.team.library import Team
from agents.team.pacing import Pacing
from agents.team.words import Words
from agents.timekeeping import now
from engine import Move, UnreadableMove

#: The most of what a member said that is kept.
MAX_WORDS = 20_000
_NEVER = datetime.max.replace(tzinfo=UTC)

T = TypeVar("T")


class Caller(Protocol):
    """Whoever makes model calls, pays for them and writes them down."""

    async def call(
        self,
        request: ModelRequest,
        question: Question,
        ledger: Ledger,
        budget: Budget,
        heard: Heard,
        excuse: Callable[[datetime, datetime], None],
        retries: int | None = None,
    ) -> ModelReply:
        """Return the reply, also one that was paid for before; raises `ModelError`."""

    async def given_up(self, request: ModelRequest) -> None:
        """Be told that the team goes on without a reply."""


class Consultation:
    """One turn of a team."""

    def __init__(
        self, team: Team, turn: Turn, caller: Caller, *, default_model: str, seed: int | None
    ) -> None:
        self._team = team
        self._definition = team.definition
        self._turn = turn
        self._caller = caller
        self._default_model = default_model
        self._seed = seed
        self._briefing = Briefing(turn, team.definition)
        self._pacing = Pacing(turn)

    async def decide(self) -> Decision:
        """Return what the team decides; raises `ModelError` if whoever decides cannot be asked."""
        definition, moves = self._definition, self._briefing.moves
        if len(moves) == 1 and definition.plays_forced:
            return _forced(self._team.name, moves[0])
        match definition.mode:
            case Mode.SOLO:
                return await self._decide_alone()
            case Mode.VOTE:
                return await self._vote()
            case Mode.ESCALATING if not why_critical(self._briefing.facts):
                return await self._decide_alone()
            case Mode.SEQUENTIAL:
                advice = await self._advise_in_turn()
            case _:
                advice = await self._advise_at_once()
        return await self._select(advice)

    # --- specialists ---

    async def _advise_at_once(self) -> tuple[Advice, ...]:
        asked = [self._advise(member, ()) for member in self._definition.specialists]
        return _told(await _all(asked))

    async def _advise_in_turn(self) -> tuple[Advice, ...]:
        advice: tuple[Advice, ...] = ()
        for member in self._definition.specialists:
            advice = (*advice, *_told([await self._advise(member, advice)]))
        return advice

    async def _advise(
        self, member: MemberDefinition, before: tuple[Advice, ...]
    ) -> Advice | ModelError:
        """Return a specialist's advice or abstention; an error is one that waiting cannot mend."""
        if (before_now := await self._abstained(member)) is not None:
            return before_now
        briefing, count = self._briefing, self._definition.candidates
        prompt = self._team.prompt(member.prompt, self._turn.position.variant)
        schema = candidates_schema(briefing.told_moves, count, member.reasoning_limit)
        patience = self._pacing.patience(member)
        messages = briefing.for_specialist(prompt, before)
        request = self._request(member, messages, schema, patience=patience)
        is_again = any(each.by == member.name and each.abstained for each in self._turn.advice)
        request = replace(request, is_again=is_again)
        try:
            async with asyncio.timeout(patience.total_seconds()):
                reply = await self._call(
                    member,
                    request,
                    prompt.digest,
                    attempt=1,
                    given_up_at=now() + patience,
                )
        except TimeoutError:
            await self._caller.given_up(request)
            advice = Advice(member.name, abstained="it did not answer in time")
        except (ProviderFault, BudgetSpent) as error:
            advice = Advice(member.name, abstained=str(error))
        except ModelError as error:
            return error
        else:
            advice = self._counsel(member, reply)
        self._turn.listener.advised(advice)
        return advice

    async def _abstained(self, member: MemberDefinition) -> Advice | None:
        """Return that a specialist has abstained in this turn, if somebody has answered to that.

        If it spoke up now, they would be asked something else, and paid for twice. What it said
        itself since then is in the ledger, and costs nothing.
        """
        ledger = self._turn.ledger
        said = [each for each in self._turn.advice if each.by == member.name and each.abstained]
        if not said or await ledger.has_reply(member.name):
            return None
        has_answer = [await ledger.has_reply(each) for each in self._told_of(member)]
        return said[-1] if any(has_answer) else None

    def _told_of(self, member: MemberDefinition) -> list[str]:
        """Return who is told what a specialist says."""
        told = [self._definition.selector.name]
        if self._definition.mode is Mode.SEQUENTIAL:
            specialists = self._definition.specialists
            told += [each.name for each in specialists[specialists.index(member) + 1 :]]
        return told

    def _counsel(self, member: MemberDefinition, reply: ModelReply) -> Advice:
        """Return the advice that a reply holds."""
        if reply.refusal:
            return Advice(member.name, abstained=f"it refuses: {one_line(reply.refusal)}")
        if not reply.text.strip():
            return Advice(member.name, abstained="it said nothing")
        counsel = read_counsel(reply.text, self._turn.position, self._definition.candidates)
        abstained = ""
        if not counsel.candidates:
            refused = "; ".join(str(error) for error in counsel.refused)
            abstained = refused or "it named no move"
        return Advice(
            member.name, counsel.candidates, counsel.words[:MAX_WORDS], one_line(abstained)
        )

    # --- whoever decides ---

    async def _select(self, advice: tuple[Advice, ...]) -> Decision:
        try:
            choice = await self._choose(self._definition.selector, advice)
        except ProviderFault as error:
            move = _favourite(advice)
            if self._definition.fallback is not Fallback.CANDIDATE or move is None:
                raise
            silent = Advice(self._definition.selector.name, abstained=str(error))
            self._turn.listener.advised(silent)
            return Decision(move, (*advice, silent))
        return self._decision(self._definition.selector, choice, advice)

    async def _decide_alone(self) -> Decision:
        member = self._definition.solo
        return self._decision(member, await self._choose(member, ()), ())

    async def _vote(self) -> Decision:
        """Return what most samples decide for; of those as frequent, what was said first."""
        member = self._definition.solo
        samples = range(self._definition.samples)
        voices = await _all([self._voice(member, number) for number in samples])
        errors = [each for each in voices if isinstance(each, ModelError)]
        choices = [each for each in voices if isinstance(each, Choice)]
        if not choices:
            raise errors[0]
        advice = [
            Advice(f"{member.name} {number}", abstained=str(each))
            if isinstance(each, ModelError)
            else Advice(f"{member.name} {number}", *self._voiced(each))
            for number, each in enumerate(voices, 1)
        ]
        for each in advice:
            self._turn.listener.advised(each)
        legal = [each for each in choices if each.move is not None]
        accepting = [each for each in choices if each.accepts_draw]
        if not legal:
            return self._decision(member, (accepting or choices)[0], tuple(advice))
        votes = Counter(each.move for each in legal)
        winner = max(legal, key=lambda each: votes[each.move])
        # Who accepts without a move has decided, too; who did neither has not.
        voters = [each for each in choices if each.move is not None or each.accepts_draw]
        accepts = 2 * len(accepting) > len(voters)
        reason = f"{votes[winner.move]} of {len(choices)} chose it: {one_line(winner.words, 200)}"
        chosen = Choice(reason, winner.move, accepts_draw=accepts)
        return self._decision(member, chosen, tuple(advice))

    async def _voice(self, member: MemberDefinition, sample: int) -> Choice | ModelError:
        try:
            return await self._choose(member, (), sample)
        except ModelError as error:
            return error

    def _voiced(self, choice: Choice) -> tuple[tuple[Candidate, ...], str, str]:
        if choice.move is None:
            # A draw needs no move: who accepts it does not abstain.
            abstained = "" if choice.accepts_draw else one_line(str(choice.fault))
            return (), choice.words[:MAX_WORDS], abstained
        candidate = Candidate(choice.move, one_line(choice.words))
        return (candidate,), choice.words[:MAX_WORDS], ""

    async def _choose(
        self, member: MemberDefinition, advice: Sequence[Advice], sample: int = 0
    ) -> Choice:
        """Return what a member decides for; a draw is accepted only if it is offered."""
        briefing, turn = self._briefing, self._turn
        prompt = self._team.prompt(member.prompt, turn.position.variant)
        schema = move_schema(
            briefing.told_moves, member.reasoning_limit, draw_offered=turn.draw_offered
        )
        messages = briefing.for_decider(prompt, advice)
        request = self._request(member, messages, schema, sample)
        attempt = len(turn.rejections) + 1
        reply = await self._call(member, request, prompt.digest, attempt=attempt)
        if reply.refusal:
            return Choice(reply.refusal, fault=UnreadableMove(one_line(reply.refusal)))
        choice = read_choice(reply.text, turn.position)
        return choice if turn.draw_offered else replace(choice, accepts_draw=False)

    def _decision(
        self, member: MemberDefinition, choice: Choice, advice: tuple[Advice, ...]
    ) -> Decision:
        own = Advice(member.name, *self._voiced(choice))
        self._turn.listener.advised(own)
        said = choice.move or getattr(choice.fault, "move", None) or one_line(choice.words)
        return Decision(
            said,
            (*advice, own),
            accepts_draw=choice.accepts_draw,
            fault=choice.fault,
        )

    # --- calls ---

    def _request(
        self,
        member: MemberDefinition,
        messages: tuple[Message, ...],
        schema: ReplySchema,
        sample: int = 0,
        patience: timedelta | None = None,
    ) -> ModelRequest:
        timeout = member.call_timeout
        return ModelRequest(
            model=model_of(member, self._default_model),
            messages=messages,
            max_tokens=member.max_tokens,
            schema=schema,
            temperature=member.temperature,
            effort=member.effort,
            seed=self._seed if self._definition.seeded else None,
            sample=sample,
            timeout=timeout,
            silence=self._pacing.silence(timeout, patience),
        )

    async def _call(
        self,
        member: MemberDefinition,
        request: ModelRequest,
        prompt_digest: str,
        *,
        attempt: int,
        given_up_at: datetime = _NEVER,
    ) -> ModelReply:
        """Ask a member. From when it is given up, nobody waits for it, and nothing is excused."""
        listener = self._turn.listener
        is_vote = self._definition.mode is Mode.VOTE
        by = f"{member.name} {request.sample + 1}" if is_vote else member.name

        def begin() -> Words:
            return Words(lambda text: listener.said(by, text))

        words = begin()

        def hear(text: str) -> None:
            words.feed(text)

        def excuse(since: datetime, until: datetime) -> None:
            nonlocal words
            words = begin()  # after a fault all is said from the beginning
            until = min(until, given_up_at)
            self._pacing.excuse(since, until)
            listener.excuse(since, until)

        return await self._caller.call(
            request,
            Question(member.name, attempt, prompt_digest),
            self._turn.ledger,
            self._definition.budget,
            hear,
            excuse,
            self._definition.retries,
        )


def model_of(member: MemberDefinition, default: str) -> str:
    """Return the model that a member asks."""
    return default if member.model == THE_DEFAULT else member.model


async def _all(asked: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Return what several say who are asked at the same time, in the order of asking."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in asked]
    return [task.result() for task in tasks]


def _told(advice: Sequence[Advice | ModelError]) -> tuple[Advice, ...]:
    """Return advice, or raise what nobody should go on without knowing, such as a wrong key."""
    for each in advice:
        if isinstance(each, ModelError):
            raise each
    return tuple(each for each in advice if isinstance(each, Advice))


def _favourite(advice: Sequence[Advice]) -> Move | None:
    """Return the move that most specialists put first."""
    first = [each.candidates[0].move for each in advice if each.candidates]
    return max(first, key=first.count, default=None)


def _forced(name: str, move: Move) -> Decision:
    return Decision(move, (Advice(name, (Candidate(move, "the only legal move"),)),))
