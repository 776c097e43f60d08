"""The table: which moves were proposed in a turn, by whom, before one was played."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from app.evaluations.analysis.analysed_ply import Proposal
from app.persistence.records import PlyRecord
from engine import Move

#: What was said of plies, by their numbers, as matches store it: each a list of objects with `by`,
#: `candidates` (objects with `uci`, best first) and more that does not matter here.
AdviceByPly: TypeAlias = Mapping[int, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Table:
    """The moves on the table, each once, with who proposed them; and who proposed none."""

    #: Who had the last word: it decided, whoever that is in a team.
    decider: str
    moves: Mapping[Move, tuple[Proposal, ...]]
    abstained: tuple[str, ...]

    @classmethod
    def of(cls, advice: Sequence[Mapping[str, Any]]) -> Table:
        """Return what is on the table after some advice, of which there must be any.

        Of somebody who spoke more than once, such as after a restart, the last word counts. Raises
        `UnreadableMove` for what is no move.
        """
        latest = {each["by"]: each["candidates"] for each in advice}
        moves: dict[Move, tuple[Proposal, ...]] = {}
        for by, candidates in latest.items():
            named = dict.fromkeys(Move.from_uci(each["uci"]) for each in candidates)
            for rank, move in enumerate(named, 1):
                moves[move] = (*moves.get(move, ()), Proposal(by, rank))
        silent = tuple(by for by, candidates in latest.items() if not candidates)
        return cls(advice[-1]["by"], moves, silent)

    @property
    def has_choice(self) -> bool:
        """Whether anybody but the decider proposed a move, so that one could be passed over."""
        proposals = (proposal for each in self.moves.values() for proposal in each)
        return any(proposal.by != self.decider for proposal in proposals)


def tables_of(advice: AdviceByPly) -> dict[int, Table]:
    """Return what was on the table in each ply in which somebody spoke."""
    return {number: Table.of(said) for number, said in advice.items() if said}


def stored_advice(plies: Iterable[PlyRecord]) -> dict[int, list[dict[str, Any]]]:
    """Return what was said of the plies of a match, as they are stored."""
    return {each.number: json.loads(each.advice) for each in plies if each.advice}
