"""What tests of reports share: the published example, and reports as they are read from JSON."""

import json

from app.evaluations.adaptive import Anchor
from app.evaluations.reports.report import build_report
from tests.support.evaluation_data import game, games_of

EXAMPLE_ANCHORS = (Anchor("x", 800.0), Anchor("y", 1000.0), Anchor("z", 1200.0))


def example_games():
    """The example of the formulas: 7-1-2, 5-2-3 and 2-1-7 against 800, 1000 and 1200."""
    return [
        *games_of("a", "x", 7, 1, 2),
        *games_of("a", "y", 5, 2, 3, first=11),
        *games_of("a", "z", 2, 1, 7, first=21),
    ]


def reported(data):
    """Return a report as it is read from JSON, in which nothing may be infinite."""
    return json.loads(json.dumps(build_report(data), allow_nan=False))


def agent_of(data, label=None):
    agents = reported(data)["agents"]
    return agents[0] if label is None else next(a for a in agents if a["label"] == label)


def codes(report, agent=None):
    return [note["code"] for note in report["notes"] if agent in (None, note["agent"])]


def paired(pairs, first="a", second="b"):
    games = []
    for number, (white, black) in enumerate(pairs, 1):
        place = len(games) + 1
        games.append(game(place, first, second, float(white), pair=number))
        games.append(game(place + 1, second, first, 1.0 - black, pair=number))
    return games


def control_of(data):
    (row,) = reported(data)["controls"]
    return row
