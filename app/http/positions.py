"""Positions: the rules engine as a service."""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter, Request

from agents.player import Turn
from agents.uci.analyser import Analysis, Variation
from agents.uci.info import Bound, Score, Wdl
from agents.uci.limits import Limit
from app.http.dependencies import AnalysesOf, ReadScope
from app.http.disconnection import while_connected
from app.http.errors import AtFault, blaming, problems
from app.http.schemas import (
    AnalyseAnswer,
    AnalyseBody,
    ChancesAnswer,
    CheckAnswer,
    CheckBody,
    LegalMove,
    MovesAnswer,
    OutcomeAnswer,
    PlayAnswer,
    PlayBody,
    PlyAnswer,
    PositionBody,
    ScoreAnswer,
    VariationAnswer,
    VerdictAnswer,
    color_name,
)
from engine import (
    AmbiguousMove,
    Color,
    Game,
    GameOver,
    IllegalMove,
    MoveError,
    Position,
    RatedMove,
    UnreadableMove,
    Verdict,
)
from engine.variants import KINGS_COOKING

_MILLISECOND = timedelta(milliseconds=1)
_STOCKFISH, _SOLVER = "stockfish", "solver"
_OPPOSITE = {Bound.LOWER: Bound.UPPER, Bound.UPPER: Bound.LOWER}

router = APIRouter(
    prefix="/api/positions",
    tags=["positions"],
    responses=problems(400, 401, 413, 415, 422),
)


@router.post("/moves", summary="List the legal moves of a position")
async def moves(body: PositionBody, _: ReadScope) -> MovesAnswer:
    """Return every legal move, in SAN and UCI, and how the game stands.

    Where the game is over, there are none.
    """
    game = _game(body)
    return MovesAnswer(
        fen=game.position.fen(),
        variant=game.variant,
        turn=color_name(game.turn),
        check=game.position.is_check(),
        moves=LegalMove.all_of(game),
        outcome=OutcomeAnswer.of(game.outcome),
    )


@router.post("/check", summary="Tell whether a move is legal, and if not, why")
async def check(body: CheckBody, _: ReadScope) -> CheckAnswer:
    """Read a move in any notation, and say whether it can be played.

    A move that is illegal, ambiguous or unreadable is an answer as good as any: 200.
    """
    game = _game(body)
    try:
        move = game.play(body.move)
    except (MoveError, GameOver) as error:
        return CheckAnswer(
            legal=False, uci=None, san=None, reason=_reason(error), detail=str(error)
        )
    played = LegalMove.of(game.start, move)
    return CheckAnswer(legal=True, uci=played.uci, san=played.san, reason=None, detail=None)


@router.post(
    "/play",
    summary="Play moves from a position",
    responses=problems(422, s422="A move cannot be played: `field` tells which, as `moves.3`."),
)
def play(body: PlayBody, _: ReadScope) -> PlayAnswer:
    """Play moves in any notation, and return the positions after each, and how the game stands.

    The first move that cannot be played is named, with the legal moves in its place. Draws that a
    player may claim do not end the game.
    """
    game = _played(body)
    return PlayAnswer(
        fen=game.position.fen(),
        variant=game.variant,
        turn=color_name(game.turn),
        status=game.status,
        outcome=OutcomeAnswer.of(game.outcome),
        plies=[PlyAnswer(uci=ply.uci, san=ply.san, fen=ply.after.fen()) for ply in game.plies],
    )


@router.post(
    "/analyse",
    summary="Ask Stockfish about a position",
    responses=problems(429, 503, s503="Stockfish is not installed, or does not answer."),
)
async def analyse(
    body: AnalyseBody, request: Request, client: ReadScope, analyses: AnalysesOf
) -> AnalyseAnswer:
    """Return the best lines with their scores and chances, from White's side.

    Nodes, depth and time limit the search; the first that is reached ends it. King's Cooking is
    solved: there the answer is what perfect play makes of each move, and no limit is needed. A
    client that does not wait for the answer ends the search.
    """
    game = _played(body)
    is_solved = game.variant == KINGS_COOKING.name
    if game.is_over:
        return _answer(game, _SOLVER if is_solved else _STOCKFISH, [])
    if is_solved:
        solving = analyses.by_solver(game, client.name)
        verdict, rated = await while_connected(request, solving)
        best = [_solved(game.position, *each) for each in enumerate(rated[: body.lines], 1)]
        return _answer(game, _SOLVER, best, verdict)
    time = None if body.time_ms is None else body.time_ms * _MILLISECOND
    limit = Limit(depth=body.depth, nodes=body.nodes, time=time)
    searching = analyses.by_stockfish(Turn.of(game), limit, body.lines, client.name)
    analysis: Analysis = await while_connected(request, searching)
    lines = [_variation(game.position, each) for each in analysis.variations]
    return _answer(game, _STOCKFISH, lines)


def _game(body: PositionBody) -> Game:
    """Return the game that starts with the position of a body, or name the field at fault."""
    with blaming("fen"):
        return Game(body.fen, variant=body.variant)


def _played(body: PlayBody | AnalyseBody) -> Game:
    """Return the game with the moves of a body, or name the first one that cannot be played."""
    game = _game(body)
    for number, move in enumerate(body.moves):
        try:
            game.play(move)
        except (MoveError, GameOver) as error:
            legal = [each.model_dump() for each in LegalMove.all_of(game)]
            raise AtFault(error, f"moves.{number}", {"legal_moves": legal}) from error
    return game


def _reason(error: MoveError | GameOver) -> str:
    match error:
        case IllegalMove(reason=reason):
            return reason.name.lower()
        case AmbiguousMove():
            return "ambiguous"
        case UnreadableMove():
            return "unreadable"
    return "game_over"


def _answer(
    game: Game, by: str, variations: list[VariationAnswer], verdict: Verdict | None = None
) -> AnalyseAnswer:
    return AnalyseAnswer(
        fen=game.position.fen(),
        variant=game.variant,
        turn=color_name(game.turn),
        by=by,
        outcome=OutcomeAnswer.of(game.outcome),
        verdict=None if verdict is None else _verdict(verdict),
        variations=variations,
    )


def _variation(position: Position, variation: Variation) -> VariationAnswer:
    turn = position.turn
    time = variation.time
    moves = zip(variation.moves, variation.san, strict=True)
    return VariationAnswer(
        rank=variation.rank,
        score=_score(variation.score, turn),
        wdl=None if variation.wdl is None else _chances(variation.wdl, turn),
        verdict=None,
        depth=variation.depth,
        seldepth=variation.selective_depth,
        nodes=variation.nodes,
        time_ms=None if time is None else time // _MILLISECOND,
        moves=[LegalMove(uci=move.uci(), san=san) for move, san in moves],
    )


def _score(score: Score, turn: Color) -> ScoreAnswer:
    """Return a score from White's side: Black's lower bound is White's upper one."""
    evaluation = score.evaluation(turn)
    bound = score.bound
    if bound is not None and turn is Color.BLACK:
        bound = _OPPOSITE[bound]
    return ScoreAnswer(
        centipawns=evaluation.centipawns,
        mate=evaluation.mate,
        bound=None if bound is None else bound.value,
    )


def _chances(wdl: Wdl, turn: Color) -> ChancesAnswer:
    if turn is Color.WHITE:
        return ChancesAnswer(win=wdl.win, draw=wdl.draw, loss=wdl.loss)
    return ChancesAnswer(win=wdl.loss, draw=wdl.draw, loss=wdl.win)


def _solved(position: Position, rank: int, rated: RatedMove) -> VariationAnswer:
    return VariationAnswer(
        rank=rank,
        score=None,
        wdl=None,
        verdict=_verdict(rated.verdict),
        depth=None,
        seldepth=None,
        nodes=None,
        time_ms=None,
        moves=[LegalMove.of(position, rated.move)],
    )


def _verdict(verdict: Verdict) -> VerdictAnswer:
    values = {-1: "loss", 0: "draw", 1: "win"}
    return VerdictAnswer.model_validate({"value": values[verdict.value], "plies": verdict.plies})
