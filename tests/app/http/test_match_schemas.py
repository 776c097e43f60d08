"""Bodies of matches: what they mean, and that the examples are right."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.http.match_answers import (
    MatchAnswer,
    MatchCreated,
    MatchList,
    MatchSummary,
    MatchWithLedger,
    PlyList,
)
from app.http.match_schemas import DrawBody, MatchBody, MoveBody, ReasonBody, TakebackBody
from app.http.replies import digest_of
from app.matches.schemas import AnalysisBody, BudgetBody, PlayerBody
from app.matches.settings import (
    AnalysisSettings,
    Budget,
    DrawScore,
    Feedback,
    IllegalMoves,
    LastResort,
    MatchSettings,
    PlayerSettings,
    ResignScore,
)

WITH_EXAMPLES = [
    MatchBody,
    PlayerBody,
    MoveBody,
    DrawBody,
    TakebackBody,
    ReasonBody,
    MatchSummary,
    MatchAnswer,
    MatchWithLedger,
    MatchCreated,
    MatchList,
    PlyList,
]
BOTH = {"white": "human", "black": "random"}


@pytest.mark.parametrize("schema", WITH_EXAMPLES)
def test_examples_are_what_they_are_examples_of(schema):
    examples = schema.model_config["json_schema_extra"]["examples"]
    assert examples
    for example in examples:
        shown = schema.model_validate(example).model_dump(mode="json", exclude_unset=True)
        if schema is MatchBody:
            continue  # which has short forms
        assert shown.keys() == example.keys()


def test_what_is_not_given_is_as_in_the_settings():
    settings = MatchBody.model_validate(BOTH | {"seed": 3}).settings()
    assert settings == MatchSettings(PlayerSettings("human"), PlayerSettings("random"), seed=3)


def test_everything_that_is_given_gets_into_the_settings():
    body = MatchBody.model_validate(
        {
            "white": {"name": "stockfish:5", "title": "Five", "depth": 3, "nodes": 4, "time_ms": 5},
            "black": {"name": "random"},
            "variant": "standard",
            "opening": "C65",
            "time_control": "300+3",
            "illegal_moves": {"retries": 1, "feedback": "none", "then": "random"},
            "budget": {"usd": 0.25, "tokens": 1000, "calls": 10},
            "adjudication": {
                "resign": {"centipawns": 700, "moves": 2},
                "draw": {"centipawns": 5, "moves": 6, "after_move": 30},
            },
            "max_plies": 100,
            "analysis": {"depth": 10},
            "seed": 7,
            "tags": ["a", "b"],
        }
    )
    settings = body.settings()
    assert settings.white == PlayerSettings("stockfish:5", "Five", 3, 4, 5)
    assert settings.black == PlayerSettings("random")
    assert (settings.variant, settings.opening, settings.time_control) == (
        "standard",
        "C65",
        "300+3",
    )
    assert settings.illegal_moves == IllegalMoves(1, Feedback.NONE, LastResort.RANDOM)
    assert settings.budget == Budget(Decimal("0.25"), 1000, 10)
    assert settings.adjudication.resign == ResignScore(700, 2)
    assert settings.adjudication.draw == DrawScore(5, 6, 30)
    assert settings.analysis == AnalysisSettings(10, None, 10_000)
    assert (settings.max_plies, settings.seed, settings.tags) == (100, 7, ("a", "b"))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (True, AnalysisSettings(nodes=50_000)),
        ({}, AnalysisSettings(nodes=50_000)),
        ({"nodes": 7}, AnalysisSettings(nodes=7)),
        ({"time_ms": 7}, AnalysisSettings(time_ms=7)),
        ({"depth": 7, "nodes": 8}, AnalysisSettings(depth=7, nodes=8)),
        # Nothing but the time bounds a search by depth.
        ({"depth": 7}, AnalysisSettings(depth=7, time_ms=10_000)),
        (False, None),
        (None, None),
    ],
)
def test_an_analysis_has_a_bound(given, meant):
    assert MatchBody.model_validate(BOTH | {"analysis": given}).settings().analysis == meant


@pytest.mark.parametrize(
    ("given", "meant"),
    [(0, "0"), (5, "5"), (100.0, "100"), (0.1, "0.1"), (1e-6, "0.000001"), (1e-9, "0")],
)
def test_dollars_are_exact(given, meant):
    usd = BudgetBody.model_validate({"usd": given}).settings().usd
    assert str(usd) == meant


def test_a_digest_does_not_depend_on_how_a_request_is_spelled():
    plain = MatchBody.model_validate(BOTH | {"analysis": True})
    spelled = {"analysis": {}, "black": {"name": "random"}, "white": {"name": "human"}}
    assert digest_of(MatchBody.model_validate(spelled)) == digest_of(plain)


@pytest.mark.parametrize(
    "change", [{"seed": 0}, {"black": "human"}, {"tags": ["a"]}, {"max_plies": 1}]
)
def test_another_request_has_another_digest(change):
    one, other = (MatchBody.model_validate(each) for each in (BOTH | change, BOTH))
    assert digest_of(one) != digest_of(other)


def test_the_order_of_tags_counts():
    one, other = (
        MatchBody.model_validate(BOTH | {"tags": tags}) for tags in (["a", "b"], ["b", "a"])
    )
    assert digest_of(one) != digest_of(other)


def test_no_analysis_goes_on_for_long():
    assert (
        AnalysisBody.model_json_schema()["properties"]["time_ms"]["anyOf"][0]["maximum"] == 10_000
    )
