"""The part of a report that says what to keep in mind: caveats that follow from the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.evaluations.bradley_terry import NATURAL
from app.evaluations.games import EvaluationData, VoidCause, VoidGame
from app.evaluations.plan import MAX_PLIES
from app.evaluations.ratings import Estimate
from app.evaluations.reports import numerals
from app.evaluations.reports.duel import are_few
from app.evaluations.strengths import strengths_of, with_certain_anchors
from engine import Termination

#: Fewer scored games than this are few.
_FEW = 30
#: Standard deviations by which a score may differ from what is expected.
_SURPRISING = 3.0
#: From this share of games on, forfeits are more than a slip.
_MANY_FORFEITS = 0.1


@dataclass(frozen=True, slots=True)
class Note:
    """One caveat, about one agent or about the whole evaluation."""

    code: str
    text: str
    agent: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"code": self.code, "agent": self.agent, "text": self.text}


def notes(
    data: EvaluationData, agents: Sequence[Mapping[str, Any]], duel: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Return what a reader has to know, by what the report has told of the agents and the duel."""
    found = [*_of_evaluation(data), *_of_duel(duel)]
    certain = with_certain_anchors(data)
    sure = strengths_of(certain, certain.games, certain.answers).estimates
    for agent in agents:
        known = sure.get(agent["label"])
        found += [*_of_rating(data, agent, known), *_of_fit(agent), *_of_conduct(data, agent)]
    return [note.to_json() for note in found]


def _of_evaluation(data: EvaluationData) -> Iterator[Note]:
    what = "positions" if data.kind == "positions" else "games"
    count = len(data.answers) if data.kind == "positions" else len(data.games)
    if data.ended_at is None:
        yield Note("unfinished", f"The evaluation is not over: it is {data.status}.")
    yield from _of_void_games(data)
    if not count:
        yield Note("nothing_played", f"There are no {what} to tell anything by.")
        return
    if data.kind != "positions":
        analysed = sum(game.match_id in data.analyses for game in data.games)
        if not analysed:
            yield Note("not_analysed", "No game has been analysed, so nothing is told of accuracy.")
        elif analysed < count:
            yield Note(
                "not_analysed",
                f"{analysed} of {count} games are analysed; accuracy is told of these alone.",
            )
    unrated = {each.position_id for each in data.answers if each.difficulty is None}
    if unrated:
        yield Note(
            "unknown_difficulty",
            f"Nobody has measured how hard {_many(len(unrated), 'position')} of the suite "
            f"{'is' if len(unrated) == 1 else 'are'}: what was solved counts, and ratings leave "
            "them out.",
        )
    if data.kind == "pool" and not data.anchors:
        yield Note(
            "relative_scale",
            "There is no anchor in the pool: ratings are differences from one of its agents, "
            "and mean nothing beyond it.",
        )
    if data.kind == "pool" and data.white_advantage:
        yield Note("no_advantage", "Ratings of a pool leave the advantage of White out.")

    yield from _of_length(data)
    if data.kind == "ladder" and data.plan.get("adaptive"):
        yield Note(
            "adaptive",
            "Anchors, and how many games there are, were chosen by the results so far. Intervals "
            "are worked out as if both had been settled before.",
        )


def _of_length(data: EvaluationData) -> Iterator[Note]:
    """Tell of games that were cut shorter than those by which anchors are calibrated."""
    most = data.plan.get("match", {}).get("max_plies")
    cut = sum(game.termination is Termination.MAX_PLIES for game in data.games)
    if data.anchors and cut and most is not None and most < MAX_PLIES:
        yield Note(
            "short_games",
            f"{_many(cut, 'game')} {_were(cut)} drawn after {most} plies. Anchors are calibrated "
            f"by games of up to {MAX_PLIES}, so ratings may lie nearer to the opponents' than they "
            "should.",
        )


def _of_void_games(data: EvaluationData) -> Iterator[Note]:
    by_cause: dict[VoidCause, list[VoidGame]] = {}
    for game in data.void_games:
        by_cause.setdefault(game.cause, []).append(game)
    if faults := by_cause.get(VoidCause.FAULT):
        yield Note(
            "void_games",
            f"{_many(len(faults), 'game')} {_were(len(faults))} lost to faults of the "
            f"infrastructure, and not scored{_again(faults, data.ended_at is not None)}.",
        )
    for cause, why in (
        (VoidCause.BUDGET, "since the budget was spent"),
        (VoidCause.CANCELLED, "as the evaluation was cancelled"),
    ):
        if games := by_cause.get(cause):
            replayed = any(game.is_replayed for game in games)
            yield Note(
                "broken_off",
                f"{_many(len(games), 'game')} {_were(len(games))} broken off {why}, and not scored"
                f"{_again(games, data.ended_at is not None) if replayed else ''}.",
            )


def _again(games: Sequence[VoidGame], is_over: bool) -> str:
    """Return whether games that do not count were played again."""
    left = sum(not game.is_replayed for game in games)
    if not left:
        return f"; {'it was' if len(games) == 1 else 'they were'} played again"
    which = "it" if len(games) == 1 else "they" if left == len(games) else f"{left} of them"
    if is_over:
        return f"; {which} {_were(left)} not played again"
    return f"; {which} will be played again"


def _of_duel(duel: Mapping[str, Any] | None) -> Iterator[Note]:
    if duel is None:
        return
    found = duel["pentanomial"] or duel["trinomial"]
    if found is not None and are_few(found["counts"]):
        what = "game" if duel["pentanomial"] is None else "pair"
        yield Note(
            "few_pairs",
            f"There are {_many(sum(found['counts']), what)}, too few or too much alike for the "
            "duel's Elo, normalized Elo and likelihood, which take scores for normally "
            "distributed, as fishtest does. The ratings' own intervals do not.",
        )
    if duel["unpaired_games"]:
        yield Note(
            "unpaired_games",
            f"{_many(duel['unpaired_games'], 'game')} without a partner of swapped colours "
            "count as single games, and not among the pairs.",
        )
    test = duel["sprt"]
    if test is None or test["first_decided"] is None:
        return
    first = test["first_decided"]
    if first["decision"] != test["decision"]:
        now = "is open again" if test["decision"] is None else f"accepts {test['decision']} now"
        yield Note(
            "undecided_again",
            f"After {_many(first['pairs'], 'pair')} the test had accepted {first['decision']}; "
            f"with the games that followed it {now}. Its error rates are those of the first "
            "decision.",
        )
    yield Note(
        "optional_stopping",
        "The duel ends when its test is decided. The verdict keeps its error rates so; the "
        "difference in Elo tends to look larger than it is, since lucky runs end early.",
    )


def _of_rating(
    data: EvaluationData, agent: Mapping[str, Any], sure: Estimate | None
) -> Iterator[Note]:
    """Tell what is doubtful of a rating; `sure` is what it would be if anchors were."""
    label = agent["label"]
    rating = agent["rating"]["as_played"]
    what = "positions" if data.kind == "positions" else "games"
    count = agent["score"]["games"] if agent["positions"] is None else agent["positions"]["answers"]
    if rating is None:
        if count:
            text = f"The {what} of {label} tell nothing of its rating."
            yield Note("unrated", text, label)
        return
    if rating["bound"] is not None and label != agent["rating"]["reference"]:
        did = "scored everything" if rating["bound"] == "lower" else "scored nothing"
        side = "at least" if rating["bound"] == "lower" else "at most"
        yield Note(
            "one_sided",
            f"{label} {did} that could tell: its rating is {side} {rating['elo']:z.0f} by the "
            "likelihood ratio, and no more is known.",
            label,
        )
    if count < _FEW:
        yield Note("few_games", f"The rating of {label} rests on {_many(count, what[:-1])}.", label)
    yield from _of_anchors(data, agent, label, sure)


def _of_anchors(
    data: EvaluationData, agent: Mapping[str, Any], label: str, sure: Estimate | None
) -> Iterator[Note]:
    rating = agent["rating"]["as_played"]
    margin, own = rating["margin"], None if sure is None else sure.margin
    whose = "positions'" if data.kind == "positions" else "anchors'"
    # More than half of the variance is not of the games.
    if margin is not None and own is not None and margin > math.sqrt(2) * own:
        yield Note(
            "anchor_uncertainty",
            f"Most of the interval of {label} is the uncertainty of the {whose} own ratings "
            f"({numerals.percent(1 - (own / margin) ** 2)} of the variance): more games hardly "
            "narrow it.",
            label,
        )
    elos = [anchor.elo for anchor in data.anchors]
    if data.kind == "positions":
        elos = [each.difficulty for each in data.answers if each.difficulty is not None]
    if elos and rating["bound"] is None and not min(elos) <= rating["elo"] <= max(elos):
        side = "above all" if rating["elo"] > max(elos) else "below all"
        thing = "positions" if data.kind == "positions" else "anchors"
        yield Note(
            "extrapolated",
            f"{label} is rated {side} {thing} there were: how the scale goes on there is assumed.",
            label,
        )


def _of_fit(agent: Mapping[str, Any]) -> Iterator[Note]:
    """Tell of anchors against whom the score is not as the rating lets expect."""
    for row in agent["by_opponent"]:
        if not row["is_anchor"] or row["expected_share"] is None:
            continue
        share, games = row["expected_share"], row["games"]
        spread = games * share * (1 - share)
        variance = spread + (spread * NATURAL * row["se"]) ** 2
        if abs(row["points"] - row["expected"]) > _SURPRISING * math.sqrt(variance):
            yield Note(
                "misfit",
                f"Against {row['opponent']} {agent['label']} scored {row['points']:g} of {games}, "
                f"where {row['expected']:.1f} were to be expected: one rating does not describe "
                "it well.",
                agent["label"],
            )


def _of_conduct(data: EvaluationData, agent: Mapping[str, Any]) -> Iterator[Note]:
    label = agent["label"]
    rating, forfeits = agent["rating"], agent["rating"]["forfeits"]
    played, clean = rating["as_played"], rating["without_forfeits"]
    count = agent["score"]["games"] if agent["positions"] is None else agent["positions"]["answers"]
    what = "positions" if data.kind == "positions" else "games"
    if forfeits and played is not None:
        moved = None if clean is None else abs(played["elo"] - clean["elo"])
        margin = numerals.margin(played)
        is_moved = moved is not None and margin is not None and moved > margin / 2
        if clean is None:
            text = f"All {what} of {label} were forfeits: they tell of rules, and nothing of chess."
            yield Note("forfeits", text, label)
        elif is_moved or forfeits >= _MANY_FORFEITS * count:
            yield Note(
                "forfeits",
                f"{forfeits} of {count} {what} of {label} were forfeits; without them it is rated "
                f"{clean['text']} instead of {played['text']}.",
                label,
            )
    if agent["usage"]["calls"] and agent["usage"]["cost_usd"] is None:
        yield Note(
            "unknown_price",
            f"What {label} cost is unknown: some of its calls have no price.",
            label,
        )


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
