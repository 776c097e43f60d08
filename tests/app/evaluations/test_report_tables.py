"""Games and answers as CSV: what is in them, and that no name becomes a formula."""

import csv
import io
from dataclasses import replace
from decimal import Decimal

import pytest

from app.evaluations.analysis.game_analysis import GameAnalysis
from app.evaluations.games import SideRecord
from app.evaluations.reports.tables import ANSWER_COLUMNS, GAME_COLUMNS, answers_csv, games_csv
from engine import Evaluation, Termination
from tests.support.evaluation_data import (
    HOSTILE,
    analysed_ply,
    answer,
    evaluation,
    game,
    ladder,
    positions,
)


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_game_has_one_row_with_everything_in_it():
    side = SideRecord(
        plies=20, illegal=1, unreadable=2, think_ms=3, calls=4, prompt_tokens=5,
        completion_tokens=6, reasoning_tokens=7, cost_usd=Decimal("0.0000008"), latency_ms=9,
    )  # fmt: skip
    plies = (analysed_ply(1, 15, 20), analysed_ply(2, 20, 320))
    analysis = GameAnalysis(None, None, 0, 0, Evaluation(15), plies)
    played = game(7, "a", "b", 0.0, white_side=side, termination=Termination.RULES_INFRACTION)
    data = evaluation(games=[played], analyses={"match-7": analysis})
    (row,) = read(games_csv(data))
    assert tuple(row) == GAME_COLUMNS
    assert row["number"] == "7"
    assert (row["white"], row["black"], row["pair"]) == ("a", "b", "4")
    assert (row["result"], row["winner"]) == ("0-1", "black")
    assert (row["termination"], row["is_forfeit"]) == ("rules_infraction", "true")
    assert [row[f"white_{name}"] for name in ("plies", "illegal", "unreadable", "think_ms")] == [
        "20", "1", "2", "3",
    ]  # fmt: skip
    assert row["white_cost_usd"] == "0.0000008"
    assert (row["white_calls"], row["white_latency_ms"]) == ("4", "9")
    assert row["white_reasoning_tokens"] == "7"
    assert (row["white_accuracy"], row["black_acpl"]) == ("100.0", "300.0")
    assert row["ended_at"] == "2026-03-01T09:07:00+00:00"


def test_what_is_unknown_is_empty():
    side = SideRecord(plies=5, calls=5, cost_usd=None)
    played = game(1, score=0.5, white_side=side, pair=None)
    (row,) = read(games_csv(evaluation(games=[played])))
    unknown = ("white_cost_usd", "pair", "winner", "white_accuracy", "black_acpl")
    assert [row[name] for name in unknown] == [""] * 5
    assert row["black_cost_usd"] == "0"
    assert row["result"] == "1/2-1/2"


def test_an_answer_has_one_row():
    own = answer(3, "a", "p9", 1234.5, best=("d1d8", "d1d7"))
    wrong = answer(4, "a", "p8", is_right=False, answer=None)
    row, other = read(answers_csv(evaluation("positions", answers=(own, wrong))))
    assert tuple(row) == ANSWER_COLUMNS
    assert (row["best"], row["difficulty"], row["is_right"]) == ("d1d8 d1d7", "1234.5", "true")
    assert (other["answer"], other["is_right"]) == ("", "false")


#: Beginnings of what is text to every spreadsheet; a control character is shown as the second.
HARMLESS = "'\ufffd"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n="])
def test_no_name_becomes_a_formula(start):
    name = f"{start}1+1"
    data = evaluation(games=[replace(game(1, name, "b"), opening=name)])
    (row,) = read(games_csv(data))
    assert row["white"][0] in HARMLESS
    assert row["opening"][0] in HARMLESS
    (row,) = read(answers_csv(evaluation("positions", answers=(answer(1, name),))))
    assert row["agent"][0] in HARMLESS


def test_negative_numbers_stay_numbers():
    (row,) = read(answers_csv(evaluation("positions", answers=(answer(1, difficulty=-50.0),))))
    assert row["difficulty"] == "-50.0"


def test_hostile_names_stay_in_their_cells():
    rows = read(games_csv(ladder({HOSTILE: 900, 'a,"b"\nc': 800}, pairs=3)))
    assert len(rows) == 12
    labels = {row[color] for row in rows for color in ("white", "black")}
    assert 'a,"b"\nc' in labels
    assert any(label.startswith("'=cmd") for label in labels)
    assert all(None not in row and None not in row.values() for row in rows)


def test_without_games_there_are_names_only():
    assert games_csv(evaluation()) == ",".join(GAME_COLUMNS) + "\r\n"
    assert answers_csv(evaluation("positions")) == ",".join(ANSWER_COLUMNS) + "\r\n"


def test_all_games_and_answers_are_there():
    assert len(read(games_csv(ladder(pairs=5)))) == 30
    assert len(read(answers_csv(positions(count=7)))) == 14
