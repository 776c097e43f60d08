"""Modules of the page that only compute, each by a table; they run in the browser all the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.app.http.match_service import Match, command, done, look, play, start, wait_until
from tests.support.browser import Visitor
from tests.support.servers import Served
from tests.web.match_page import assets
from tests.web.prompting import PROMPTED, Stage

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
COOKING = "R1b/3/1Nn b n - B r 2"

#: Calls a function of a module; what it returns has to be JSON.
CALL = """
async ([module, name, rows]) => {
  const called = (await import(module))[name];
  return rows.map((row) => called(...row));
}
"""


@pytest.fixture(scope="module")
def loaded(chromium: Browser, service: Served) -> Iterator[Page]:
    """A page, one for all tests: modules keep nothing."""
    with Visitor(chromium, service.url) as visitor:
        visitor.complaints.expect("404", at_least=0)
        yield visitor.open("/matches/nowhere")


@pytest.fixture(scope="module")
def results(loaded: Page) -> Callable[[str, str, list[Any]], list[Any]]:
    """Return what a function of a module returns for each row of arguments."""

    def call(module: str, name: str, rows: list[Any]) -> list[Any]:
        found: list[Any] = loaded.evaluate(CALL, [f"{assets(loaded)}/{module}.js", name, rows])
        return found

    return call


Results = Callable[[str, str, list[Any]], list[Any]]

NARROW = "\N{NARROW NO-BREAK SPACE}"
#: By module and function: arguments, and what is returned.
TABLES: dict[tuple[str, str], list[tuple[list[Any], Any]]] = {
    ("core/wording", "clock"): [
        ([0], "00:00.0"),
        ([-5], "00:00.0"),
        ([99], "00:00.0"),
        ([100], "00:00.1"),
        ([19_999], "00:19.9"),
        ([20_000], "00:20"),
        ([59_999], "00:59"),
        ([60_000], "01:00"),
        ([299_000], "04:59"),
        ([3_599_999], "59:59"),
        ([3_600_000], "1:00:00"),
        ([3_903_000], "1:05:03"),
        ([36_000_000], "10:00:00"),
    ],
    ("core/wording", "duration"): [
        ([None], ""),
        ([0], "0 ms"),
        ([850.4], "850 ms"),
        ([1000], "1.0 s"),
        ([9940], "9.9 s"),
        ([12_000], "12 s"),
        ([89_000], "89 s"),
        ([180_000], "3 min"),
        ([7_500_000], "2 h 5 min"),
    ],
    ("core/wording", "score"): [
        ([None], ""),
        ([{"centipawns": 0}], "0.00"),
        ([{"centipawns": 35}], "+0.35"),
        ([{"centipawns": -120}], "−1.20"),
        ([{"centipawns": 1234}], "+12.34"),
        ([{"mate": 3}], "#3"),
        ([{"mate": -3}], "#−3"),
        ([{"mate": 0}], "#"),
    ],
    ("core/wording", "money"): [
        ([None], "unknown"),
        (["0"], "$0"),
        (["0.0000123"], "$0.000012"),
        (["0.0042"], "$0.0042"),
        (["0.05"], "$0.050"),
        (["0.5"], "$0.500"),
        (["1.239"], "$1.24"),
        (["20"], "$20.00"),
    ],
    ("core/wording", "sentence"): [
        ([""], ""),
        (["it was aborted"], "It was aborted."),
        (["Really?"], "Really?"),
        (["wait …"], "Wait …"),
    ],
    ("core/wording", "resultText"): [
        (["1-0"], "1–0"), (["0-1"], "0–1"), (["1/2-1/2"], "½–½"), (["*"], ""),
    ],
    ("core/wording", "playerName"): [
        ([{"title": "", "name": "stockfish:1"}], "stockfish:1"),
        ([{"title": "Ada", "name": "human"}], "Ada"),
    ],
    ("core/wording", "many"): [
        ([1, "game"], "1 game"), ([0, "game"], "0 games"), ([2, "ply", "plies"], "2 plies"),
    ],
    ("board/placement", "endsOf"): [
        (["e2e4"], {"from": "e2", "to": "e4", "promotion": None}),
        (["a7a8q"], {"from": "a7", "to": "a8", "promotion": "q"}),
        (["a3off"], {"from": "a3", "to": "off", "promotion": None}),
    ],
    ("board/placement", "pieceName"): [(["K"], "white king"), (["p"], "black pawn")],
    ("board/placement", "material"): [
        ([START, START, "standard"], {"captured": {"white": [], "black": []}, "lead": 0}),
        (
            [START, "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b - - 0 4", "standard"],
            {"captured": {"white": ["p"], "black": []}, "lead": 1},
        ),
        (
            [START, "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPP1/RNBQKBN1 w - - 0 1", "standard"],
            {"captured": {"white": ["q"], "black": ["R", "P"]}, "lead": 3},
        ),
        (  # a pawn became a queen: nobody took it
            ["7k/P7/8/8/8/8/8/K7 w - - 0 1", "Q6k/8/8/8/8/8/8/K7 b - - 0 1", "standard"],
            {"captured": {"white": [], "black": []}, "lead": 9},
        ),
        (  # and then the queen was taken
            ["7k/P7/8/8/8/8/8/K7 w - - 0 1", "7k/8/8/8/8/8/8/K7 w - - 0 2", "standard"],
            {"captured": {"white": [], "black": ["P"]}, "lead": 0},
        ),
    ],
    ("match/speech", "spoken"): [
        (["e4"], "e4"),
        (["exd5"], "e pawn takes d5"),
        (["Nf3"], "knight f3"),
        (["Nbd7"], "knight b d7"),
        (["R1a3"], "rook 1 a3"),
        (["Qh4xe1+"], "queen h4 takes e1, check"),
        (["Qxf7#"], "queen takes f7, checkmate"),
        (["O-O"], "castles short"),
        (["O-O-O+"], "castles long, check"),
        (["e8=Q"], "e8, becomes a queen"),
        (["dxe8=N#"], "d pawn takes e8, becomes a knight, checkmate"),
        (["Roff"], "rook leaves the board"),
        (["<img>"], "<img>"),
    ],
    ("core/delays", "delayOf"): [
        ([None, 0], 0),
        (["300", 3], 0),
        (["300+3", 0], 0),
        (["300b3", 0], 0),
        (["10s", 0], 0),
        (["300d3", 0], 3000),
        (["300d3", 70], 3000),
        (["300d0.5", 0], 500),
        (["40/5400d30:1800d10", 39], 30_000),
        (["40/5400d30:1800d10", 40], 10_000),
        (["40/5400+30:1800d10", 39], 0),
        (["40/5400d30:1800", 40], 0),
    ],
    ("match/share_panel", "invitation"): [
        (["#seat=white:0123456789-_aB"], {"color": "white", "token": "0123456789-_aB"}),
        (["#seat=black:0123456789"], {"color": "black", "token": "0123456789"}),
        (["#seat=green:0123456789"], None),
        (["#seat=white:short"], None),
        (["#seat=white:0123456789 <b>"], None),
        (["#main"], None),
        ([""], None),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("module", "name"), TABLES, ids=lambda each: each)
def test_what_a_function_returns(results: Results, module: str, name: str) -> None:
    rows = TABLES[module, name]
    assert results(module, name, [given for given, _ in rows]) == [wanted for _, wanted in rows]


def test_white_s_chances(results: Results) -> None:
    rows: list[Any] = [
        {"centipawns": 0}, {"centipawns": 100}, {"centipawns": -100}, {"centipawns": 5000},
        {"mate": 2}, {"mate": -2}, {"mate": 0, "by": "white"}, {"mate": 0, "by": "black"},
    ]  # fmt: skip
    found = results("core/wording", "winShare", [[row] for row in rows])
    assert found == pytest.approx([50, 59.1, 40.9, 97.5, 100, 0, 100, 0], abs=0.1)


def test_where_pieces_stand(loaded: Page) -> None:
    found = loaded.evaluate(
        """async ([module, rows]) => {
             const { placementOf } = await import(module);
             return rows.map(([fen, variant]) => {
               const { pieces, ...rest } = placementOf(fen, variant);
               return { pieces: Object.fromEntries(pieces), ...rest };
             });
           }""",
        [
            f"{assets(loaded)}/board/placement.js",
            [["4k3/8/8/8/3Pp3/8/8/R3K2R b KQ d3 0 1", "standard"], [COOKING, "kings-cooking"]],
        ],
    )
    assert found[0] == {
        "pieces": {"e8": "k", "d4": "P", "e4": "p", "a1": "R", "e1": "K", "h1": "R"},
        "side": 8,
        "turn": "black",
        "courts": None,
    }
    assert found[1] == {
        "pieces": {"a3": "R", "c3": "b", "b1": "N", "c1": "n"},
        "side": 3,
        "turn": "black",
        "courts": {
            "white": {"scored": ["n"], "captured": ["r"]},
            "black": {"scored": [], "captured": ["B"]},
        },
    }


def test_squares_lie_where_either_side_sees_them(loaded: Page) -> None:
    found = loaded.evaluate(
        """async (module) => {
             const { Geometry } = await import(module);
             const wrong = [];
             const sides = ["white", "black"];
             const all = [3, 8].flatMap((side) => sides.flatMap((color) =>
               [true, false].map((courts) => [side, color, courts])));
             for (const [side, color, courts] of all) {
               const board = new Geometry(side, color, courts);
               for (const square of board.rows().flat()) {
                 const [x, y] = board.middle(square);
                 if (board.at(x, y) !== square) wrong.push([side, color, courts, square]);
               }
               const outside = [[-1, 5], [5, board.height]];
               if (outside.some((point) => board.at(...point) !== null)) wrong.push([side, color]);
               for (const each of courts ? sides : [])
                 if (board.at(5, board.courtTop(each) + 1) !== each) wrong.push([side, each]);
             }
             return [wrong, ...sides.map((color) => new Geometry(8, color, false).rows()[0][0])];
           }""",
        f"{assets(loaded)}/board/geometry.js",
    )
    assert found == [[], "a8", "h1"]


# --- streams ---

STREAM = """retry: 2000

id: 6
event: ply.played
data: {"san":"Nf3","words":"a\\u2028b – ü 😀"}

: keep-alive

event: advice.delta
data: {"words":"x: y"}

id:7
data:[1,
data:2]

"""
EVENTS = [
    {"id": "6", "type": "ply.played", "data": {"san": "Nf3", "words": "a\u2028b – ü 😀"}},
    {"id": None, "type": "advice.delta", "data": {"words": "x: y"}},
    {"id": "7", "type": "message", "data": [1, 2]},
]
SPLIT = """async ([module, text, pieces]) => {
  const { parser } = await import(module);
  return pieces.map((ends) => {
    const parse = parser();
    let begin = 0;
    return [...ends, text.length].flatMap((end) => parse(text.slice(begin, (begin = end, end))));
  });
}"""


def test_a_stream_is_read_wherever_it_is_cut(loaded: Page) -> None:
    length = len(STREAM.encode("utf-16-le")) // 2
    cuts: list[list[int]] = [[each] for each in range(length)]
    cuts += [[each, each + 1] for each in range(length - 1)]
    cuts.append(list(range(length)))  # one sign at a time
    module = f"{assets(loaded)}/core/event_stream.js"
    for found in loaded.evaluate(SPLIT, [module, STREAM, cuts]):
        assert found == EVENTS


# --- a log is all that a match is ---

FOLD = """async ([module, events]) => {
  const { MatchLog } = await import(module);
  const log = new MatchLog();
  return events.map((data) => {
    log.apply({ type: data.type, data });
    return {
      status: log.status, sequence: log.sequence, fen: log.fen, turn: log.toMove,
      clocks: log.clocks,
      draw_offer: log.drawOffer, takeback: log.takeback, outcome: log.outcome,
      pause_cause: log.pause?.cause ?? null, spent_ms: log.turn?.spentMs ?? 0,
      plies: log.plies.map(({ number, san, uci, fen }) => ({ number, san, uci, fen })),
    };
  });
}"""


def log_of(client: httpx.Client, match: Match) -> list[dict[str, Any]]:
    """Return the log of a match so far."""
    found: list[dict[str, Any]] = []
    last = look(client, match)["sequence"]
    headers = {"Accept": "application/x-ndjson", "Last-Event-ID": "0"}
    with client.stream("GET", f"/api/matches/{match['id']}/events", headers=headers) as response:
        for line in filter(None, response.iter_lines()):
            found.append(json.loads(line))
            if found[-1]["sequence"] == last:
                break
    return found


class Comparison:
    """Does things in a match, and sees after each that the log tells what the service tells."""

    def __init__(self, client: httpx.Client, page: Page, match: Match) -> None:
        self.client, self.page, self.match = client, page, match

    def command(self, what: str, seat: str | None = None, **body: Any) -> None:
        done(command(self.client, self.match, what, seat, **body))
        self.compare()

    def move(self, *moves: str) -> None:
        for each in moves:
            play(self.client, self.match, each)
            self.compare()

    def compare(self) -> None:
        while True:
            told = look(self.client, self.match)
            events = log_of(self.client, self.match)
            if events[-1]["sequence"] == told["sequence"]:  # nothing has happened in between
                break
        module = f"{assets(self.page)}/match/match_log.js"
        folded = self.page.evaluate(FOLD, [module, events])[-1]
        plies = self.client.get(f"/api/matches/{self.match['id']}/plies").json()["plies"]
        names = ("number", "san", "uci", "fen")
        opening = len(events[0]["opening"])
        assert folded.pop("plies")[opening:] == [
            {name: ply[name] for name in names} for ply in plies[opening:]
        ]
        if told["status"] not in ("running", "paused"):
            folded.pop("spent_ms")
        for name, value in folded.items():
            assert value == told[name], name


@pytest.mark.parametrize("body", [{}, {"time_control": "600+5"}, {"opening": "e4 e5"}])
def test_a_log_tells_what_the_service_tells(
    loaded: Page, client: httpx.Client, body: dict[str, Any]
) -> None:
    match = start(client, **body)
    wait_until(client, match, lambda event: event["type"] == "turn.started")
    told = Comparison(client, loaded, match)
    told.compare()
    told.move("d4", "d5")
    told.command("takeback", "white", action="ask")
    told.command("takeback", "black", action="decline")
    told.command("takeback", "white", action="ask")
    told.command("takeback", "black", action="accept")
    told.move("Nc3", "Nf6", "Nf3")
    told.command("draw", "black", action="offer")
    told.move("a6")
    told.command("draw", "white", action="decline")
    told.command("pause", reason="lunch")
    told.command("takeback", "black", action="ask")
    told.command("takeback", "white", action="accept")  # while it is paused
    told.command("resume")
    told.move("b6")
    told.command("draw", "white", action="offer")
    told.move("h3")
    told.command("pause")
    told.command("resume")
    told.command("draw", "black", action="accept")


@pytest.mark.parametrize("white", ["resigning", "stubborn", "faulty", "mating"])
def test_a_log_of_programs_tells_it_too(loaded: Page, client: httpx.Client, white: str) -> None:
    match = start(client, white, "mated", time_control="600")
    ends = {"resigning": "match.ended", "faulty": "match.paused", "mating": "match.ended"}
    kind = ends.get(white, "ply.played")
    wait_until(client, match, lambda event: event["type"] == kind)
    if kind == "ply.played":
        wait_until(client, match, lambda event: event.get("ply") == 3)
    told = Comparison(client, loaded, match)
    told.compare()
    if kind != "match.ended":
        told.command("abort", reason="enough")


def test_words_that_are_said_are_no_part_of_the_log(
    loaded: Page, client: httpx.Client, stage: Stage
) -> None:
    start(client, PROMPTED, "human")
    stage.asked()
    found = loaded.evaluate(
        """async (module) => {
             const { MatchLog } = await import(module);
             const log = new MatchLog();
             log.apply({ type: "advice.delta", data: { by: "tactical", words: "one " } });
             log.apply({ type: "advice.delta", data: { by: "tactical", words: "two" } });
             log.apply({ type: "something.new", data: { sequence: 3 } });
             return [log.sequence, [...log.pending.speaking]];
           }""",
        f"{assets(loaded)}/match/match_log.js",
    )
    assert found == [3, [["tactical", "one two"]]]


def test_what_is_left_on_a_clock(loaded: Page) -> None:
    found = loaded.evaluate(
        """async (module) => {
             const { MatchLog } = await import(module);
             const at = Date.parse("2026-11-16T16:40:00.000Z");
             const log = new MatchLog();
             const left = (now) =>
               [log.left("white", now), log.left("black", now), log.thought(now)];
             const clocks = { white_ms: 60_000, black_ms: 50_000 };
             const apply = (type, seconds, data) => {
               const moment = new Date(at + seconds * 1000);
               log.apply({ type, data: { at: moment.toISOString(), ...data } }, +moment + 90_000);
             };
             const results = [left(at)];
             apply("match.started", 0, {}); // this browser is 90 s ahead
             apply("turn.started", 0, { color: "white", spent_ms: 500, clocks });
             results.push(left(at + 90_000), left(at + 93_000), left(at));
             apply("match.paused", 4, { spent_ms: 4_500, reason: "", cause: "command" });
             results.push(left(at + 200_000));
             apply("match.resumed", 10, {});
             apply("turn.started", 10, { color: "white", spent_ms: 4_500, clocks });
             results.push(left(at + 101_000));
             log.tellTime(at + 11_000, at + 41_000); // it is only 30 s ahead, after all
             results.push(left(at + 41_000));
             return results;
           }""",
        f"{assets(loaded)}/match/match_log.js",
    )
    assert found == [
        [None, None, 0],
        [59_500, 50_000, 500],
        [56_500, 50_000, 3_500],
        [59_500, 50_000, 500],
        [55_500, 50_000, 4_500],
        [54_500, 50_000, 5_500],
        [54_500, 50_000, 5_500],
    ]


#: Folds events, dated so many seconds after the first, into a log, and returns what it shows then.
FOLDED = """
async ([module, events, settings]) => {
  const { MatchLog } = await import(module);
  const began = Date.parse("2026-11-16T16:40:00.000Z");
  const log = new MatchLog();
  log.tellTime(began, began);
  const clocks = { white_ms: 60_000, black_ms: 60_000 };
  const fen = "8/8/8/8/8/8/8/8 w - - 0 1";
  const created = { settings: { budget: null, ...settings }, opening: [], fen };
  log.apply({ type: "match.created", data: created }, began);
  log.apply({ type: "match.started", data: {} }, began);
  return events.map(([type, dated, came, data]) => {
    const at = new Date(began + dated * 1000).toISOString();
    log.apply({ type, data: { at, clocks, ...data } }, began + came * 1000);
    return [log.left("white", began + came * 1000), [...log.pending.speaking.values()].join()];
  });
}
"""


def folded(loaded: Page, events: list[list[Any]], **settings: Any) -> list[list[Any]]:
    found: list[list[Any]] = loaded.evaluate(
        FOLDED, [f"{assets(loaded)}/match/match_log.js", events, settings]
    )
    return found


def test_a_turn_that_begins_in_the_future_moves_no_clock(loaded: Page) -> None:
    """After a fault a player is asked again only later, and the turn is dated then."""
    turn = {"color": "white", "spent_ms": 0}
    found = folded(
        loaded,
        [["turn.started", 10, 0, turn], ["advice.given", 12, 12, {"by": "tactical"}]],
    )
    assert [left for left, _ in found] == [60_000, 58_000]


def test_a_clock_with_a_delay_waits(loaded: Page) -> None:
    turn = {"color": "white", "spent_ms": 0}
    advice = {"by": "tactical"}
    found = folded(
        loaded,
        [
            ["turn.started", 0, 0, turn],
            ["advice.given", 2, 2, advice],
            ["advice.given", 5, 5, advice],
        ],
        time_control="60d3",
    )
    assert [left for left, _ in found] == [60_000, 60_000, 58_000]


@pytest.mark.parametrize("type_", ["turn.started", "match.paused"])
def test_whoever_is_interrupted_begins_anew(loaded: Page, type_: str) -> None:
    turn = {"color": "white", "spent_ms": 0}
    words = {"by": "tactical", "words": "I think"}
    found = folded(
        loaded,
        [
            ["turn.started", 0, 0, turn],
            ["advice.delta", 1, 1, words],
            [type_, 2, 2, turn],
            ["advice.delta", 3, 3, words],
        ],
    )
    assert [said for _, said in found] == ["", "I think", "", "I think"]


def test_advice_of_another_turn_does_not_stay(loaded: Page) -> None:
    """As many said as much in the next turn: it is shown, and under the right name."""
    found = loaded.evaluate(
        """async (folder) => {
             const { AdvicePanel } = await import(`${folder}/match/advice_panel.js`);
             const panel = new AdvicePanel(() => {});
             const said = (words) => ({ by: "tactical", candidates: [], words, abstained: "" });
             const log = { isOver: false, status: "running", plies: [], toMove: "white" };
             const show = (words) => {
               log.pending = { advice: [said(words)], rejected: [], speaking: new Map() };
               panel.show(log, log.plies.length, true);
               return panel.root.textContent;
             };
             const texts = [show("attack")];
             log.plies = [{ number: 1 }];
             log.toMove = "black";
             texts.push(show("defend"));
             log.status = "paused";
             texts.push(show("defend"));
             return texts;
           }""",
        assets(loaded),
    )
    assert "White is thinking" in found[0]
    assert "attack" in found[0]
    assert "Black is thinking" in found[1]
    assert "defend" in found[1]
    assert "thinking" not in found[2]


def test_an_answer_that_comes_after_the_end_does_not_bring_a_match_back(loaded: Page) -> None:
    found = loaded.evaluate(
        """async (folder) => {
             const { LiveMatches } = await import(`${folder}/lobby/live_matches.js`);
             const told = [];
             const signal = new AbortController().signal;
             const nothing = () => {};
             const tell = (match) => told.push(match.status);
             const others = { forget: nothing, fail: nothing, succeed: nothing };
             const live = new LiveMatches({ tell, signal, ...others });
             const running = { id: "a", status: "running", sequence: 5 };
             live.learn({ ...running });
             const at = new Date().toISOString();
             const outcome = { result: "1-0" };
             const data = { match_id: "a", sequence: 7, at, status: "ended", outcome };
             live.take([{ type: "match.ended", data }]);
             live.learn({ ...running, sequence: 6 });
             return told;
           }""",
        assets(loaded),
    )
    assert found == ["running", "ended"]
