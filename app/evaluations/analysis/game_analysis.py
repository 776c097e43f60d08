"""GameAnalysis: what an engine thinks of every move of a game, and of what was advised instead.

Everything that can be told of single moves is in it, and nothing that follows from that: for the
accuracy of a side and the like see `app.evaluations.analysis.quality`.

    AppError
    ├── InvalidGameAnalysis    data of which no analysis can be made
    ├── CannotAnalyseVariant   a game that no UCI engine plays (of `questions`)
    ├── TooManyNodes           an analysis that does not fit into what may be spent on it
    └── NoEvaluation           an engine that does not tell what a position is worth
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from agents.uci.analyser import Analyser, Analysis
from agents.uci.limits import Limit
from app.errors import AppError
from app.evaluations.accuracy import (
    INITIAL,
    WeighedMove,
    centipawn_loss,
    centipawns,
    judgement,
    move_accuracy,
    weighed_moves,
    win_percent,
)
from app.evaluations.analysis.analysed_ply import AnalysedCandidate, AnalysedPly
from app.evaluations.analysis.phases import Phase, phases_of
from app.evaluations.analysis.questions import Question, Questions
from app.evaluations.analysis.table import AdviceByPly, Table, tables_of
from app.matches.events import evaluation_json
from engine import Color, Evaluation, Game, Ply, Position

_NO_ADVICE: AdviceByPly = {}


@dataclass(eq=False)
class InvalidGameAnalysis(AppError):
    """Data of which no analysis can be made."""

    reason: str

    def __str__(self) -> str:
        return f"this is no analysis of a game: {self.reason}"


@dataclass(eq=False)
class TooManyNodes(AppError):
    """An analysis that does not fit into what may be spent on it."""

    cost: int
    most: int

    def __str__(self) -> str:
        return f"the analysis would search {self.cost:,} nodes, and {self.most:,} are left for it"


@dataclass(eq=False)
class NoEvaluation(AppError):
    """An engine that does not tell what a position is worth."""

    engine: str
    fen: str

    def __str__(self) -> str:
        return f"{self.engine} does not say what {self.fen} is worth"


@dataclass(frozen=True)
class GameAnalysis:
    """What an engine thinks of a game."""

    #: As it calls itself; None if the evaluations are those noted in the game.
    engine: str | None
    #: How many nodes it was given for each search, how many searches there were, and how many nodes
    #: it told of: less than it searched, since it says nothing of what it did not finish.
    nodes_per_position: int | None
    searches: int
    nodes: int
    #: What the first position is worth, from White's side.
    initial: Evaluation
    plies: tuple[AnalysedPly, ...] = ()

    @property
    def played(self) -> tuple[AnalysedPly, ...]:
        """The plies that are the players' own, without those of an opening."""
        return tuple(each for each in self.plies if not each.is_opening)

    @property
    def counted(self) -> tuple[AnalysedPly, ...]:
        """The players' own plies that count in accuracies and losses: all but one that mates.

        So it is on Lichess, which has no evaluation of a position without a move.
        """
        played = self.played
        return played[:-1] if played and played[-1].evaluation.mate == 0 else played

    @cached_property
    def weighed(self) -> Mapping[int, WeighedMove]:
        """The plies that count as they do so in their game's accuracy, by number."""
        counted = self.counted
        if not counted:
            return {}
        first = counted[0]
        before = self.plies[: first.number - 1]
        start = before[-1].evaluation if before else self.initial
        initial = centipawns(start, first.color.opponent)
        cps = [centipawns(each.evaluation, each.color) for each in counted]
        moves = weighed_moves(cps, first.color, initial)
        return {each.number: move for each, move in zip(counted, moves, strict=True)}

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, of which `from_json` makes the same again."""
        return {
            "engine": self.engine,
            "nodes_per_position": self.nodes_per_position,
            "searches": self.searches,
            "nodes": self.nodes,
            "initial": evaluation_json(self.initial),
            "plies": [each.to_json() for each in self.plies],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GameAnalysis:
        """Return what `to_json` gave, or raise `InvalidGameAnalysis`."""
        try:
            changed = {
                "initial": Evaluation(**data["initial"]),
                "plies": tuple(map(AnalysedPly.from_json, data["plies"])),
            }
            return cls(**{**data, **changed})
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidGameAnalysis(f"{type(error).__name__} {error}") from error


def cost_of(game: Game, advice: AdviceByPly = _NO_ADVICE, *, nodes: int) -> int:
    """Return how many nodes `analyse_game` may search: so many for each position it has to.

    An engine looks at its limit now and then only, and may be a few thousandths over it. Raises
    what `analyse_game` raises of the game and the advice.
    """
    return nodes * len(Questions(game, tables_of(advice)).searches)


async def analyse_game(
    analyser: Analyser,
    game: Game,
    advice: AdviceByPly = _NO_ADVICE,
    *,
    nodes: int,
    opening_plies: int = 0,
    most_nodes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GameAnalysis:
    """Return what an engine thinks of every move of a game, and of every other one on the table.

    Each position gets so many `nodes`, with the history of the game; a position in which the game
    is over gets none. `advice` is what was said, by the numbers of plies. The first `opening_plies`
    were nobody's doing. `progress` is told how many searches are done, and of how many.

    Raises `CannotAnalyseVariant`, `TooManyNodes` before anything is searched if that may take more
    than `most_nodes`, `NoEvaluation`, `MoveError` for advice that does not fit the game, and what
    `Analyser.analyse` raises.
    """
    limit = Limit(nodes=nodes)
    questions = Questions(game, tables_of(advice))
    searches = questions.searches
    cost = nodes * len(searches)
    if most_nodes is not None and cost > most_nodes:
        raise TooManyNodes(cost, most_nodes)
    turns = [each.turn for each in searches]
    found = await analyser.analyse_all(turns, limit, progress=progress)
    answers = {
        each: _answer(analysis, analyser.engine)
        for each, analysis in zip(searches, found, strict=True)
    }
    first = questions.positions[0]
    if game.start.key() == Position.start().key():
        # What Lichess takes it to be worth, whatever a short search says; the best move stays.
        answers[first] = _Answer(Evaluation(centipawns=INITIAL), answers[first].best)
    return GameAnalysis(
        analyser.engine,
        nodes,
        len(searches),
        sum(each.best.nodes or 0 for each in found if each.best is not None),
        _worth(first, answers),
        _plies(game, questions, answers, opening_plies),
    )


def noted_analysis(game: Game) -> GameAnalysis | None:
    """Return an analysis by the evaluations that are noted in a game; None if any is missing.

    The last move needs none if it ended the game on the board, and what was noted of it then does
    not count. Raises `CannotAnalyseVariant`.
    """
    questions = Questions(game, {})
    first, *others = questions.positions
    answers = {first: _Answer(Evaluation(centipawns=INITIAL), None)}
    for question, ply in zip(others, game.plies, strict=True):
        if question.known is None and ply.evaluation is None:
            return None
        if ply.evaluation is not None:
            answers[question] = _Answer(ply.evaluation, None)
    initial = _worth(first, answers)
    return GameAnalysis(None, None, 0, 0, initial, _plies(game, questions, answers, 0))


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a position is worth, from White's side, and the best move in it."""

    evaluation: Evaluation
    best: str | None


_Answers: TypeAlias = Mapping[Question, _Answer]


def _answer(analysis: Analysis, engine: str) -> _Answer:
    score, best = analysis.score, analysis.best
    if score is None or best is None:
        raise NoEvaluation(engine, analysis.position.fen())
    move = best.moves[0].uci() if best.moves else None
    return _Answer(score.evaluation(analysis.position.turn), move)


def _worth(question: Question, answers: _Answers) -> Evaluation:
    return question.known or answers[question].evaluation


def _plies(
    game: Game, questions: Questions, answers: _Answers, opening_plies: int
) -> tuple[AnalysedPly, ...]:
    phases = phases_of(ply.before for ply in game.plies)
    return tuple(
        _ply(ply, phase, questions, answers, is_opening=ply.number <= opening_plies)
        for ply, phase in zip(game.plies, phases, strict=True)
    )


def _ply(
    ply: Ply, phase: Phase, questions: Questions, answers: _Answers, *, is_opening: bool
) -> AnalysedPly:
    before, after = questions.positions[ply.number - 1 : ply.number + 1]
    mover, evaluation = ply.color, _worth(after, answers)
    cp_before = centipawns(_worth(before, answers), mover.opponent)
    cp_after = centipawns(evaluation, mover)
    win_before, win_after = _win(cp_before, mover), _win(cp_after, mover)
    fall = max(0.0, win_before - win_after)
    table = questions.tables.get(ply.number)
    candidates = () if table is None else _candidates(ply, table, questions, answers)
    regret = None
    if table is not None and table.has_choice:
        regret = max(0.0, max(each.win for each in candidates) - win_after)
    return AnalysedPly(
        ply.number,
        mover,
        ply.uci,
        ply.san,
        evaluation,
        answers[before].best if before in answers else None,
        win_before,
        win_after,
        fall,
        centipawn_loss(cp_before, cp_after, mover),
        move_accuracy(win_before, win_after),
        None if is_opening else judgement(fall),
        phase,
        is_opening,
        None if table is None else table.decider,
        () if table is None else table.abstained,
        candidates,
        regret,
    )


def _candidates(
    ply: Ply, table: Table, questions: Questions, answers: _Answers
) -> tuple[AnalysedCandidate, ...]:
    candidates = []
    for move, proposals in table.moves.items():
        is_played = move is ply.move
        question = (
            questions.positions[ply.number] if is_played else questions.others[ply.number, move]
        )
        evaluation = _worth(question, answers)
        win = _win(centipawns(evaluation, ply.color), ply.color)
        candidates.append(
            AnalysedCandidate(move.uci(), ply.before.san(move), evaluation, win, proposals)
        )
    return tuple(candidates)


def _win(centipawns: int, mover: Color) -> float:
    """Return the mover's Win%, given centipawns from White's side."""
    return win_percent(centipawns if mover is Color.WHITE else -centipawns)
