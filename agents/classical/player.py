"""The player `classical`: the offline team. It needs no key and no other program."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from random import SystemRandom

from agents.classical.allowance import THINK, Allowance, check
from agents.classical.thinking import Answer
from agents.classical.workers import ClassicalWorkers
from agents.player import Decision, Turn
from engine import VARIANTS, ChessPosition, Move

#: What counts as level, and what as so much worse that a draw is welcome; in centipawns.
_LEVEL, _WORSE = 15, 50
#: Rooks, queens and minor pieces of both sides up to which a level position is an ending.
_ENDING = 6


class ClassicalPlayer:
    """A tactical specialist, a positional one, and a selector, who decide by our rules engine.

    It thinks for `think` on a move, less if the clock is short. With `nodes` it searches so many
    positions instead, and the time is not limited except by a clock: then a decision depends on the
    seed and the turn alone, so that a match can be repeated or resumed without changing it. Without
    a seed it takes one that nobody knows. Raises `InvalidThinking` for limits out of bounds.
    """

    name = "classical"
    variants = tuple(VARIANTS)

    def __init__(
        self,
        workers: ClassicalWorkers,
        seed: int | None = None,
        *,
        think: timedelta | None = None,
        nodes: int | None = None,
    ) -> None:
        check(think, nodes)
        self._workers = workers
        self._seed = SystemRandom().getrandbits(64) if seed is None else seed
        self._think = THINK if think is None and nodes is None else think
        self._nodes = nodes

    async def decide(self, turn: Turn) -> Decision:
        """Return the selector's move, with the advice of all three.

        Raises what `ClassicalWorkers.think` raises. After a `WorkerFault` the turn can be retried.
        """
        allowance = Allowance.of(turn, self._think, self._nodes)
        answer = await self._workers.think(turn, self._seed, allowance)
        if turn.informed is not None:
            turn.informed(answer.info())
        return Decision(
            answer.move,
            answer.advice,
            answer.evaluation(turn.position.turn),
            accepts_draw=turn.draw_offered and _is_glad_of_a_draw(turn, answer),
            claims_draw=answer.score <= 0 and _may_claim(turn, answer.move),
        )


def _is_glad_of_a_draw(turn: Turn, answer: Answer) -> bool:
    """Return whether the team stands worse, or has nothing to play for in an ending."""
    if answer.score <= -_WORSE:
        return True
    position = turn.position
    if abs(answer.score) > _LEVEL or not isinstance(position, ChessPosition):
        return False
    state = position.state
    pieces = state[1] | state[2] | state[3] | state[7] | state[8] | state[9]
    return pieces.bit_count() <= _ENDING


def _may_claim(turn: Turn, move: Move) -> bool:
    """Return whether a draw can be claimed now, or with the move."""
    position = turn.position
    if not position.may_end_early():
        return False
    occurred = Counter(each.key() for each in turn.positions)
    after = position.play(move)
    return bool(
        position.claims(lambda: occurred[position.key()])
        or after.claims(lambda: occurred[after.key()] + 1)
    )
