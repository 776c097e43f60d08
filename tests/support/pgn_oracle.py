"""PGN as python-chess reads it, which knows nothing of us."""

from __future__ import annotations

import io

import chess.pgn


def games_in(text: str) -> list[chess.pgn.Game]:
    """Return the games of a text, with which nothing is wrong."""
    games = all_games_in(text)
    assert [game.errors for game in games] == [[]] * len(games)
    return games


def all_games_in(text: str) -> list[chess.pgn.Game]:
    """Return the games of a text, also those with which something is wrong."""
    stream, games = io.StringIO(text), []
    while (game := chess.pgn.read_game(stream)) is not None:
        games.append(game)
    return games
