"""Words: what we tell a GUI, as lines of the protocol. None can be taken for another line."""

from __future__ import annotations

from datetime import timedelta

from agents.models.budget import Spending
from agents.player import Advice, Candidate
from agents.uci.info import Info, Score
from app.uci.table import legal_line
from engine import Color, Evaluation, Move, Position

#: A GUI shows a line or two of each.
LONGEST = 400
_LONGEST_REASON = 160
_MILLISECOND = timedelta(milliseconds=1)


def info_string(text: str) -> str:
    """Return a line that tells people something: printable, on one line, and not too long."""
    words = " ".join(text.split())
    line = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in words)
    return f"info string {_cut(line, LONGEST)}"


def advice_words(advice: Advice, position: Position) -> str:
    """Return what somebody advises: `tactical: Nf3 (controls e5); e4 (takes the centre)`."""
    if not advice.candidates:
        why = advice.abstained or advice.words
        return f"{advice.by}: no move{f' ({_cut(why, _LONGEST_REASON)})' if why else ''}"
    named = "; ".join(_candidate(each, position) for each in advice.candidates)
    return f"{advice.by}: {named}"


def info_line(info: Info, position: Position) -> str | None:
    """Return what a search tells as a line of our own; None where it tells of no line of moves."""
    moves = legal_line(position, info.pv)
    if info.score is None or not moves:
        return None
    words = []
    for name, number in (("depth", info.depth), ("seldepth", info.selective_depth)):
        if number is not None:
            words.append(f"{name} {number}")
    if info.rank > 1:
        words.append(f"multipv {info.rank}")
    words.append(f"score {_score(info.score)}")
    for name, number in (
        ("nodes", info.nodes),
        ("nps", info.nodes_per_second),
        ("hashfull", info.hash_permille),
        ("tbhits", info.tablebase_hits),
    ):
        if number is not None:
            words.append(f"{name} {number}")
    if info.time is not None:
        words.append(f"time {info.time // _MILLISECOND}")
    return " ".join(["info", *words, "pv", *(move.uci() for move in moves)])


def decision_line(move: Move, evaluation: Evaluation | None, turn: Color, took: timedelta) -> str:
    """Return the line that tells of a decision, with its score where the player told one."""
    score = "" if evaluation is None else f"score {_score(Score.of(evaluation, turn))} "
    return f"info {score}time {max(took // _MILLISECOND, 0)} pv {move.uci()}"


def best_move(move: Move, ponder: Move | None) -> str:
    """Return the line that ends a search."""
    return f"bestmove {move.uci()}" + (f" ponder {ponder.uci()}" if ponder is not None else "")


def no_move(position: Position) -> tuple[str, str]:
    """Return the lines that end a search of a position in which there is nothing to play."""
    score = Score(mate=0) if position.is_check() else Score(centipawns=0)
    return f"info depth 0 score {_score(score)}", "bestmove (none)"


def cost_words(turn: Spending, whole: Spending) -> str:
    """Return what the models of a move cost, and those of all moves so far."""
    return f"cost: {_spending(turn)} for this move, {_spending(whole)} so far"


def _spending(spending: Spending) -> str:
    calls = "1 call" if spending.calls == 1 else f"{spending.calls:,} calls"
    dollars = "a price nobody knows" if spending.usd is None else f"${spending.usd:.4f}"
    return f"{dollars} ({calls}, {spending.tokens:,} tokens)"


def _candidate(candidate: Candidate, position: Position) -> str:
    move = candidate.move
    name = position.san(move) if position.is_legal(move) else move.uci()
    reason = _cut(" ".join(candidate.reason.split()), _LONGEST_REASON)
    return f"{name} ({reason})" if reason else name


def _score(score: Score) -> str:
    bound = "" if score.bound is None else f" {score.bound.value}"
    if score.mate is not None:
        return f"mate {score.mate}{bound}"
    return f"cp {score.centipawns or 0}{bound}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
