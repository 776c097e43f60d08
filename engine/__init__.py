"""The rules of chess and its variants: positions, legal moves, notation, games, clocks, PGN.

Pure and synchronous, standard library only. What is named here is the public surface.
"""

from engine.chess_position import ChessPosition
from engine.clock import Clock, Stopwatch, TimeControl, format_clock
from engine.errors import (
    AmbiguousMove,
    DrawNotClaimable,
    GameOver,
    Illegality,
    IllegalMove,
    IllegalPosition,
    InvalidFen,
    InvalidPgn,
    InvalidSavedGame,
    InvalidTimeControl,
    MoveError,
    NothingToUndo,
    NotSolved,
    PositionRule,
    RulesError,
    SavedGameFault,
    UnknownStart,
    UnknownVariant,
    UnreadableMove,
)
from engine.exchange import exchange_value
from engine.fen import read_fen
from engine.game import Game, Status
from engine.line import Evaluation, Line, Note, Ply
from engine.moves import Move
from engine.outcome import Outcome, Termination
from engine.perft import divide, perft
from engine.pgn_reader import read_games
from engine.pieces import Color, PieceType
from engine.position import Position
from engine.setup import Setup
from engine.variant import Variant
from engine.variants import VARIANTS
from engine.variants.kings_cooking import KingsCookingPosition
from engine.variants.kings_cooking_saving import SavedGame
from engine.variants.kings_cooking_solver import RatedMove, Solver, Value, Verdict, seen_twice

__all__ = [
    "VARIANTS",
    "AmbiguousMove",
    "ChessPosition",
    "Clock",
    "Color",
    "DrawNotClaimable",
    "Evaluation",
    "Game",
    "GameOver",
    "IllegalMove",
    "IllegalPosition",
    "Illegality",
    "InvalidFen",
    "InvalidPgn",
    "InvalidSavedGame",
    "InvalidTimeControl",
    "KingsCookingPosition",
    "Line",
    "Move",
    "MoveError",
    "NotSolved",
    "Note",
    "NothingToUndo",
    "Outcome",
    "PieceType",
    "Ply",
    "Position",
    "PositionRule",
    "RatedMove",
    "RulesError",
    "SavedGame",
    "SavedGameFault",
    "Setup",
    "Solver",
    "Status",
    "Stopwatch",
    "Termination",
    "TimeControl",
    "UnknownStart",
    "UnknownVariant",
    "UnreadableMove",
    "Value",
    "Variant",
    "Verdict",
    "divide",
    "exchange_value",
    "format_clock",
    "perft",
    "read_fen",
    "read_games",
    "seen_twice",
]
