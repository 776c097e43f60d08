"""Evaluations as their reports are given them: made up, but as real ones are.

    data = ladder(agents={"team:default": 1100}, pairs=30)

Results are drawn by Elo's curve from a seed, so that the same call gives the same data.
"""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from agents.models.budget import Spending
from app.evaluations.accuracy import (
    centipawn_loss,
    judgement,
    move_accuracy,
    win_percent,
)
from app.evaluations.adaptive import Anchor
from app.evaluations.analysis.analysed_ply import AnalysedCandidate, AnalysedPly, Proposal
from app.evaluations.analysis.game_analysis import GameAnalysis
from app.evaluations.analysis.phases import Phase
from app.evaluations.games import (
    EvaluationData,
    PlayedGame,
    PositionAnswer,
    SideRecord,
    SprtSettings,
    VoidGame,
)
from app.evaluations.scores import expected_score
from app.evaluations.suites.solving import solving_chance
from engine import Color, Evaluation, Termination

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
ANCHORS = (
    Anchor("stockfish:2", 358.0, 50.0),
    Anchor("stockfish:3", 618.0, 44.0),
    Anchor("stockfish:4", 784.0, 40.0),
    Anchor("stockfish:5", 985.0, 30.0),
    Anchor("stockfish:6", 1320.0, 0.0),
    Anchor("stockfish:7", 1928.0, 54.0),
)
OPENINGS = (
    "Ruy Lopez: Closed",
    "Sicilian: Najdorf",
    "Queen's Gambit Declined",
    "English: Symmetrical",
)
#: Hostile to HTML, SVG, spreadsheets and matplotlib's mathematics.
HOSTILE = (
    '=cmd|\' /C calc\'!A0"><script>alert(1)</script>&$\\frac{$ id="x" \x00\x1b ♞🙂 ' + "w" * 200
)


def game(number=1, white="a", black="b", score=1.0, **changes) -> PlayedGame:
    """Return a game in which White scored so much."""
    winner = {1.0: Color.WHITE, 0.5: None, 0.0: Color.BLACK}[score]
    values = {
        "number": number,
        "match_id": f"match-{number}",
        "white": white,
        "black": black,
        "opening": OPENINGS[number % len(OPENINGS)],
        "pair": (number + 1) // 2,
        "winner": winner,
        "termination": Termination.CHECKMATE if winner else Termination.THREEFOLD_REPETITION,
        "plies": 80,
        "opening_plies": 8,
        "white_side": SideRecord(plies=36, think_ms=3600),
        "black_side": SideRecord(plies=36, think_ms=1800),
        "ended_at": START + timedelta(minutes=number),
    }
    return PlayedGame(**{**values, **changes})


def games_of(white, black, wins=0, draws=0, losses=0, first=1, **changes) -> list[PlayedGame]:
    """Return games with these results for White, numbered from `first`."""
    scores = [1.0] * wins + [0.5] * draws + [0.0] * losses
    return [
        game(first + place, white, black, score, **changes) for place, score in enumerate(scores)
    ]


def evaluation(kind="ladder", agents=("a",), games=(), **changes) -> EvaluationData:
    """Return an evaluation that is over, in which these games were played."""
    values = {
        "id": "0199a0c0-0000-7000-8000-000000000001",
        "name": "A first look",
        "kind": kind,
        "status": "completed",
        "detail": "the interval is narrow enough",
        "created_at": START,
        "ended_at": START + timedelta(hours=5),
        "plan": {"kind": kind, "seed": 7},
        "manifest": {
            "kibitz": "0.1.0",
            "engine": {"name": "Stockfish 15.1", "sha256": "4f1a" * 16},
            "seed": 7,
        },
        "agents": tuple(agents),
        "games": tuple(games),
    }
    made = EvaluationData(**{**values, **changes})
    return made if "spent" in changes else replace(made, spent=_spent(made))


def _spent(data):
    """Return what the games and answers took: all, as if no other was ever begun."""
    sides = [side for each in data.games for side in (each.white_side, each.black_side)]
    total = SideRecord.total((*sides, *(each.side for each in data.answers)))
    return Spending(total.cost_usd, total.tokens, total.calls)


def ladder(
    agents=None, pairs=24, anchors=ANCHORS, seed=1, forfeits=0.0, analysed=0.9, **changes
) -> EvaluationData:
    """Return a ladder: each agent, by its true rating, in pairs of games against near anchors."""
    dice = random.Random(seed)
    played = []
    agents = agents or {"team:default": 1050, "solo:default": 930, "classical at 2000 nodes": 1700}
    pair = 0
    for label, elo in agents.items():
        others = [anchor for anchor in anchors if anchor.label != label]
        near = sorted(others, key=lambda anchor: abs(anchor.elo - elo))[:4]
        for _ in range(pairs):
            pair += 1
            anchor = dice.choice(near)
            for color in Color:
                names = (label, anchor.label) if color is Color.WHITE else (anchor.label, label)
                own = _drawn(dice, expected_score(elo, anchor.elo, color, 30.0))
                score = own if color is Color.WHITE else 1 - own
                played.append(
                    _realistic(dice, len(played) + 1, pair, names, score, label, forfeits)
                )
    analyses = {
        each.match_id: analysis(dice, each, agents) for each in played if dice.random() < analysed
    }
    values = {
        "anchors": anchors,
        "white_advantage": 30.0,
        "void_games": (VoidGame(),) * 2,
        "analyses": analyses,
    }
    return evaluation("ladder", agents, played, **{**values, **changes})


def duel(first="team:default", second="solo:default", gain=80, pairs=60, seed=2, **changes):
    """Return a duel in which the first agent is better by so many Elo."""
    dice = random.Random(seed)
    played = []
    for pair in range(1, pairs + 1):
        for names in ((first, second), (second, first)):
            own = _drawn(dice, expected_score(gain, 0.0))
            score = own if names[0] == first else 1 - own
            played.append(_realistic(dice, len(played) + 1, pair, names, score, first, 0.0))
    values = {"sprt": SprtSettings((0.0, 50.0))}
    return evaluation("duel", (first, second), played, **{**values, **changes})


def pool(elos=None, rounds=3, anchors=(), seed=3, **changes) -> EvaluationData:
    """Return a pool in which everybody meets everybody, anchors included."""
    dice = random.Random(seed)
    agents = elos or {"team:default": 1100, "solo:default": 1000, "classical": 1500, "random": 300}
    everybody = {**agents, **{anchor.label: anchor.elo for anchor in anchors}}
    labels = list(everybody)
    played = []
    pair = 0
    for place, one in enumerate(labels):
        for other in labels[place + 1 :]:
            for _ in range(rounds):
                pair += 1
                for white, black in ((one, other), (other, one)):
                    score = _drawn(dice, expected_score(everybody[white], everybody[black]))
                    played.append(
                        _realistic(
                            dice, len(played) + 1, pair, (white, black), score, "team:default", 0.0
                        )
                    )
    return evaluation("pool", agents, played, **{"anchors": anchors, **changes})


def positions(agents=None, count=60, seed=4, **changes) -> EvaluationData:
    """Return answers to a suite of positions between 400 and 2000."""
    dice = random.Random(seed)
    agents = agents or {"team:default": 1100, "solo:default": 950}
    suite = [(f"suite-{number:03}", dice.uniform(400, 2000)) for number in range(count)]
    answers = []
    for label, elo in agents.items():
        for name, difficulty in suite:
            is_right = dice.random() < solving_chance(elo, difficulty)
            number = len(answers) + 1
            answers.append(answer(number, label, name, difficulty, is_right, _side(dice, label, 1)))
    return evaluation("positions", agents, answers=tuple(answers), **changes)


def answer(
    number=1, agent="a", position="p", difficulty=1000.0, is_right=True, side=None, **changes
) -> PositionAnswer:
    """Return one answer to a position."""
    values = {
        "number": number,
        "match_id": f"match-{number}",
        "agent": agent,
        "position_id": position,
        "fen": "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        "best": ("d1d8",),
        "difficulty": difficulty,
        "difficulty_se": 60.0,
        "answer": "d1d8" if is_right else "h2h3",
        "is_right": is_right,
        "side": side or SideRecord(plies=1, think_ms=50),
    }
    return PositionAnswer(**{**values, **changes})


def analysis(dice, played: PlayedGame, advised) -> GameAnalysis:
    """Return what an engine might think of a game; those `advised` have two specialists."""
    plies = []
    worth = 15
    for number in range(1, 37):
        color = Color.WHITE if number % 2 else Color.BLACK
        sign = 1 if color is Color.WHITE else -1
        label = played.white if color is Color.WHITE else played.black
        loss = round(dice.expovariate(1 / (45 if label.startswith("team") else 60)))
        after = worth - sign * loss
        phase = tuple(Phase)[(number - 1) // 12]
        table = _table(dice, after, sign) if label.startswith("team") and label in advised else {}
        plies.append(analysed_ply(number, worth, after, phase, **table))
        worth = max(-900, min(900, after))
    return GameAnalysis(
        engine="Stockfish 15.1",
        nodes_per_position=20_000,
        searches=36,
        nodes=700_000,
        initial=Evaluation(15),
        plies=tuple(plies),
    )


def analysed_ply(number, before, after, phase=Phase.MIDDLEGAME, **changes) -> AnalysedPly:
    """Return a ply by which White's centipawns went from one number to another."""
    color = Color.WHITE if number % 2 else Color.BLACK
    wins = [win_percent(each) for each in (before, after)]
    if color is Color.BLACK:
        wins = [100 - each for each in wins]
    fall = max(0.0, wins[0] - wins[1])
    values = {
        "number": number,
        "color": color,
        "uci": "e2e4",
        "san": "e4",
        "evaluation": Evaluation(after),
        "best": "d2d4",
        "win_before": wins[0],
        "win_after": wins[1],
        "fall": fall,
        "centipawn_loss": centipawn_loss(before, after, color),
        "accuracy": move_accuracy(*wins),
        "judgement": judgement(fall),
        "phase": phase,
    }
    return AnalysedPly(**{**values, **changes})


def _table(dice, after, sign):
    def candidate(uci, worth, *names):
        win = win_percent(worth) if sign > 0 else 100 - win_percent(worth)
        proposals = tuple(Proposal(name, 1) for name in names)
        return AnalysedCandidate(uci, uci, Evaluation(worth), win, proposals)

    other = after + sign * round(dice.gauss(-30, 60))
    played = candidate("e2e4", after, "tactical", "selector")
    passed = candidate("d2d4", other, "positional")
    return {
        "decider": "selector",
        "candidates": (played, passed),
        "regret": max(0.0, passed.win - played.win),
    }


def _drawn(dice, chance):
    """Return a result with this expected score, about one in eight a draw."""
    draws = min(0.24, 2 * chance, 2 - 2 * chance) / 2
    lot = dice.random()
    if lot < chance - draws / 2:
        return 1.0
    return 0.5 if lot < chance + draws / 2 else 0.0


def _realistic(dice, number, pair, names, score, agent, forfeits):
    plies = dice.randrange(30, 70)
    white, black = (_side(dice, name, plies // 2) for name in names)
    made = game(
        number, *names, score, pair=pair, plies=plies + 8, white_side=white, black_side=black
    )
    if agent in names and dice.random() < forfeits:
        loser = made.color_of(agent)
        made = replace(made, winner=loser.opponent, termination=Termination.RULES_INFRACTION)
    elif made.winner and dice.random() < 0.2:
        made = replace(made, termination=Termination.RESIGNATION)
    return made


def _side(dice, label, plies):
    if not label.startswith(("team:", "solo:")):
        return SideRecord(plies=plies, think_ms=plies * dice.randrange(20, 60))
    calls = plies * (3 if label.startswith("team:") else 1)
    return SideRecord(
        plies=plies,
        illegal=dice.choice((0, 0, 0, 1, 2)) if plies > 1 else 0,
        unreadable=dice.choice((0, 0, 0, 0, 1)) if plies > 1 else 0,
        think_ms=plies * dice.randrange(4000, 9000),
        calls=calls,
        prompt_tokens=calls * 900,
        completion_tokens=plies * dice.randrange(500, 900) * (1 if calls > plies else 4),
        reasoning_tokens=plies * 200,
        cost_usd=Decimal(plies * dice.randrange(900, 1500)) / Decimal(1_000_000),
        latency_ms=calls * dice.randrange(1500, 3500),
    )


_HOSTILE_AGENTS = {HOSTILE: 900, f"team:{HOSTILE}": 1000}
#: Evaluations of every kind and in every state, by name; made when they are asked for.
EVERY_KIND = {
    "ladder": lambda: ladder(forfeits=0.1),
    "duel": lambda: duel(),
    "pool": lambda: pool(),
    "pool with anchors": lambda: pool(anchors=ANCHORS[2:5]),
    "positions": lambda: positions(),
    "hostile ladder": lambda: ladder(_HOSTILE_AGENTS, pairs=5, name=HOSTILE, detail=HOSTILE),
    "hostile pool": lambda: pool(_HOSTILE_AGENTS),
    "hostile duel": lambda: duel(HOSTILE, "b", pairs=4),
    "hostile positions": lambda: positions(_HOSTILE_AGENTS, count=5),
    "empty ladder": lambda: evaluation("ladder", ("team:x", "solo:x"), anchors=ANCHORS),
    "empty duel": lambda: evaluation("duel", ("team:x", "solo:x"), sprt=SprtSettings()),
    "empty pool": lambda: evaluation("pool", ("team:x", "solo:x")),
    "empty pool with anchors": lambda: evaluation("pool", ("team:x", "solo:x"), anchors=ANCHORS),
    "empty positions": lambda: evaluation("positions", ("team:x", "solo:x")),
    "one game": lambda: evaluation(games=[game(1, "a", "stockfish:5")], anchors=ANCHORS),
    "one drawn game": lambda: evaluation(games=[game(1, "stockfish:5", "a", 0.5)], anchors=ANCHORS),
    "one game of a duel": lambda: evaluation("duel", ("a", "b"), [game()], sprt=SprtSettings()),
    "one game of a pool": lambda: evaluation("pool", ("a", "b"), [game()]),
    "one answer": lambda: evaluation("positions", ("a",), answers=(answer(),)),
    "all won": lambda: ladder({"a": 9000}),
    "all lost": lambda: ladder({"a": -9000}),
    "duel all won": lambda: duel(gain=9000),
    "agent who is an anchor": lambda: ladder({"stockfish:5": 985}),
}
