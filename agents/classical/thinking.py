"""Thinking: a turn as it goes to a worker process, and what comes back. Both are lines of JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from random import Random
from typing import cast

from agents.classical import cooking, specialists
from agents.classical.search import Findings, Search
from agents.classical.selector import DRAWN_PLIES, MARGIN, select
from agents.classical.words import mate_in
from agents.player import Advice, Candidate, Turn
from agents.uci.info import Info, Score
from engine import ChessPosition, Evaluation, KingsCookingPosition, Move, Position
from engine.pieces import Color
from engine.state import CLOCK

#: Without a limit of its own, a search by time still ends here.
_SHORTEST = 0.001


@dataclass(frozen=True, slots=True)
class Question:
    """A turn, as far as it matters: the position after the last capture, the moves since, limits.

    `plies` is how many were played in all; `seed` is for this turn alone; `among` are the moves
    that are wanted, where not every legal one is.
    """

    number: int
    variant: str
    fen: str
    moves: tuple[str, ...]
    plies: int
    seed: str
    seconds: float | None = None
    nodes: int | None = None
    among: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, number: int, turn: Turn, seed: int, seconds: float | None, nodes: int | None
    ) -> Question:
        """Return the question that a turn puts."""
        plies = turn.plies
        position = turn.position
        if isinstance(position, ChessPosition):
            # Nothing from before the last capture or pawn move can be repeated.
            plies = plies[max(0, len(plies) - (position.state[16] & CLOCK)) :]
        first = plies[0].before if plies else position
        return cls(
            number,
            position.variant,
            first.fen(),
            tuple(ply.uci for ply in plies),
            len(turn.plies),
            f"{seed}/{len(turn.plies)}",
            seconds,
            nodes,
            tuple(move.uci() for move in turn.among),
        )

    def line(self) -> str:
        """Return it as a line of JSON."""
        return json.dumps({"ask": asdict(self)}) + "\n"

    @classmethod
    def read(cls, fields: dict[str, object]) -> Question:
        """Return the question of what `line` wrote, once JSON is read."""
        moves, among = (tuple(cast("list[str]", fields.pop(each))) for each in ("moves", "among"))
        return cls(moves=moves, among=among, **fields)  # type: ignore[arg-type]  # from `line`

    def positions(self) -> list[Position]:
        """Return the positions that matter, up to the one to move in."""
        positions = [Position.from_fen(self.fen, self.variant)]
        for move in self.moves:
            positions.append(positions[-1].play(Move.from_uci(move)))
        return positions


@dataclass(frozen=True, slots=True)
class Answer:
    """What the team decided: the move, its score for the mover, and everybody's advice."""

    number: int
    move: Move
    score: int
    advice: tuple[Advice, ...]
    depth: int
    nodes: int

    def line(self) -> str:
        """Return it as a line of JSON."""
        advice = [
            [each.by, [[one.move.uci(), one.reason] for one in each.candidates], each.abstained]
            for each in self.advice
        ]
        fields = {"number": self.number, "move": self.move.uci(), "score": self.score}
        return json.dumps({**fields, "advice": advice, "depth": self.depth, "nodes": self.nodes})

    @classmethod
    def read(cls, text: str | bytes) -> Answer:
        """Return the answer of a line that `line` wrote."""
        found = json.loads(text)
        return cls(
            found["number"],
            Move.from_uci(found["move"]),
            found["score"],
            tuple(
                Advice(
                    by,
                    tuple(Candidate(Move.from_uci(uci), reason) for uci, reason in each),
                    abstained=abstained,
                )
                for by, each, abstained in found["advice"]
            ),
            found["depth"],
            found["nodes"],
        )

    @property
    def worth(self) -> Score:
        """The score for the mover, as UCI engines tell it."""
        mate = mate_in(self.score)
        return Score(centipawns=self.score) if mate is None else Score(mate=mate)

    def evaluation(self, turn: Color) -> Evaluation:
        """Return the score from White's side, as games note it, given whose turn it was."""
        return self.worth.evaluation(turn)

    def info(self) -> Info:
        """Return what the search came to, as UCI engines tell it."""
        return Info(self.depth, score=self.worth, nodes=self.nodes, pv=(self.move.uci(),))


def think(question: Question, now: float, stopped: Callable[[], bool] | None = None) -> Answer:
    """Return what the team decides, given when the question came (by `time.monotonic`)."""
    deadline = None if question.seconds is None else now + max(question.seconds, _SHORTEST)
    positions = question.positions()
    position = positions[-1]
    lot = Random(question.seed) if question.plies < DRAWN_PLIES else None  # noqa: S311
    if isinstance(position, KingsCookingPosition):
        found, advice = _cook(positions, question.nodes, deadline, stopped)
    else:
        among = frozenset(map(Move.from_uci, question.among))
        found, advice = _search(positions, among, question.nodes, deadline, stopped)
    choice = select(position, found, advice[1], lot)
    return Answer(
        question.number,
        choice.line.move,
        choice.line.score,
        (*advice, choice.advice),
        found.depth,
        found.nodes,
    )


def _search(
    positions: list[Position],
    among: Collection[Move],
    nodes: int | None,
    deadline: float | None,
    stopped: Callable[[], bool] | None,
) -> tuple[Findings, tuple[Advice, Advice]]:
    chess = cast("list[ChessPosition]", positions)
    position = chess[-1]
    occurred = Counter(each.key() for each in chess)
    search = Search(
        position.state, occurred, nodes=nodes, deadline=deadline, stopped=stopped, among=among
    )
    positional = specialists.positional(position, search)
    first = positional.candidates[0].move if positional.candidates else None
    found = search.run(margin=MARGIN, first=first)
    return found, (specialists.tactical(position, found), positional)


def _cook(
    positions: list[Position],
    nodes: int | None,
    deadline: float | None,
    stopped: Callable[[], bool] | None,
) -> tuple[Findings, tuple[Advice, Advice]]:
    cooks = cast("list[KingsCookingPosition]", positions)
    search = cooking.CookingSearch(cooks, nodes=nodes, deadline=deadline, stopped=stopped)
    positional = cooking.positional(cooks[-1], specialists.CANDIDATES)
    found = search.run(margin=MARGIN)
    return found, (cooking.tactical(cooks[-1], found, specialists.CANDIDATES), positional)
