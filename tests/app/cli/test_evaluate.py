"""`kibitz eval` and `kibitz suite run` as a person runs them: small evaluations, and mistakes."""

from __future__ import annotations

import asyncio
import csv
import fcntl
import io
import json
import os
import re
import signal
import subprocess
import tomllib
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console

from app.cli.evaluations.progress import Bars, Lines
from app.cli.evaluations.texts import duration_text, progress_line, rating_text, spending_text
from app.evaluations.plan import load_plan, read_plan
from app.matches.settings import MatchSettings, PlayerSettings
from app.services import open_services
from app.settings import load_settings
from engine import read_games
from tests.support.command_line import KIBITZ, kibitz
from tests.support.model_server import AnswersSchema, model_server_in_thread
from tests.support.processes import HANGS_AFTER

PLANS = sorted((Path(__file__).parents[3] / "plans").glob("*.toml"))
#: Two short games.
QUICK = """
kind = "duel"
name = "quick"
agents = ["random", { name = "random", title = "also random" }]
games = 2
openings = "none"
match = { max_plies = 6 }
analysis = { nodes = 0 }
"""
EPD = """\
6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id "back rank"; c0 "difficulty=500 se=50";
4k3/8/8/3r4/8/8/8/3QK3 w - - bm Qxd5; id "hanging rook"; c0 "difficulty=400 se=50";
"""
NOBODY = "01a1ed66-f771-734c-afa2-16a7aa3057a4"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place of one's own: no settings, no database but what a test makes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "quick.toml").write_text(QUICK)
    (tmp_path / "two.epd").write_text(EPD)
    return tmp_path


def ids():
    listed = json.loads(kibitz("eval", "list", "--json").stdout)["evaluations"]
    return [each["id"] for each in listed]


def in_services(work, *among):
    """Do something with the services on the database of the settings."""

    async def main():
        async with open_services(load_settings(), among=among) as services:
            return await work(services)

    return asyncio.run(main())


def rows(path):
    return list(csv.DictReader(io.StringIO(path.read_text(), newline="")))


def refused(run):
    """Return the sentence with which a command was refused, having printed nothing else."""
    assert run.returncode == 2, run
    assert run.stdout == ""
    assert "Traceback" not in run.stderr
    return " ".join(run.stderr.replace("│", " ").split())


# --- plans that come with Kibitz ---


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.name)
def test_every_plan_that_comes_with_kibitz_can_be_run(folder, path):
    plan = load_plan(path)
    run = kibitz("eval", "run", str(path), "--dry-run")
    assert (run.returncode, run.stderr) == (0, "")
    assert "Nothing was played, and nothing stored." in run.stdout
    assert plan.name != "evaluation"
    assert f"kibitz eval run plans/{path.name}" in path.read_text()


def test_there_is_a_plan_of_every_kind():
    kinds = {load_plan(path).kind for path in PLANS}
    assert kinds == {"ladder", "duel", "pool", "positions"}


# --- estimates ---


def test_a_dry_run_tells_what_models_will_cost_without_a_key_and_stores_nothing(folder):
    run = kibitz("eval", "ladder", "team:default", "--control", "--usd", "5", "--dry-run")
    assert (run.returncode, run.stderr) == (0, "")
    for expected in ("team:default", "solo:default", "in all", "$5.00", "cannot be seated yet"):
        assert expected in run.stdout
    assert re.search(r"team:default\s+│\s+48 │ 5,760 │", run.stdout)
    assert not (folder / "data").exists()


def test_a_dry_run_speaks_json(folder):
    run = kibitz("eval", "run", "quick.toml", "--dry-run", "--json")
    data = json.loads(run.stdout)
    assert (data["name"], data["kind"], data["games"], data["most_games"]) == (
        "quick",
        "duel",
        2,
        2,
    )
    assert data["likely"]["cost_usd"] == "0.0000"
    assert [each["player"] for each in data["players"]] == ["random", "also random"]
    assert run.stderr == ""
    assert not (folder / "data").exists()


def test_whoever_asks_no_model_costs_nothing(folder):
    run = kibitz("eval", "ladder", "classical", "--margin", "200", "--dry-run")
    assert "Nobody asks a model" in run.stdout
    assert re.search(r"Likely \d+ games, at most 200\.", run.stdout)


# --- mistakes ---

WRONG = [
    (b"kind = duel", "is not TOML"),
    (b'{"kind": "duel"', "is not JSON"),
    (b"\xff\xfe\x00", "is not text"),
    (b"", "it needs a kind: ladder, duel, pool or positions"),
    (b'kind = "cup"\nagents = ["random"]', "'cup' is no kind of plan"),
    (b'kind = "ladder"\nagents = ["random"]\nmargn = 100', "margn"),
    (b'kind = "ladder"\nagents = ["random"]\nmargin = -1', "the plan's margin is wrong"),
    (b'kind = "ladder"\nagents = ["randon"]', "agents: 'randon' is not a player"),
    (b'kind = "ladder"\nagents = ["human"]', "nobody moves for a human"),
    (b'kind = "ladder"\nagents = [{ name = "random", nodes = 5 }]', "random takes no limit"),
    (b'kind = "ladder"\nagents = ["team:default"]', "OPENAI_API_KEY is not set"),
    (b'kind = "ladder"\nagents = ["random"]\nanchors = ["classical"]', "how strong classical is"),
    (b'kind = "duel"\nagents = ["random", "random"]', "the same name; give them titles"),
    (b'kind = "pool"\nagents = ["random"]', "at least two players"),
    (b'kind = "positions"\nagents = ["random"]', "it needs a suite, or positions"),
    (b'kind = "positions"\nagents = ["random"]\nsuite = "none"', "there is no such suite"),
    (b'kind = "positions"\nagents = ["random"]\npositions = ["x"]', "x"),
    (b'kind = "ladder"\nagents = ["random"]\nmargin = ' + b"9" * 5000, "is not TOML"),
]


@pytest.mark.parametrize(("content", "words"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_plan_gets_one_sentence_and_nothing_is_stored(folder, content, words):
    (folder / "plan").write_bytes(content)
    run = kibitz("eval", "run", "plan")
    assert words in refused(run)
    assert run.stderr.startswith("kibitz: ")
    assert run.stderr.count("\n") == 1
    assert not (folder / "data" / "kibitz.db").exists()


def test_a_plan_that_is_no_file_gets_one_sentence(folder):
    assert "'none.toml' cannot be read: No such file" in refused(kibitz("eval", "run", "none.toml"))
    assert "cannot be read: Is a directory" in refused(kibitz("eval", "run", "."))
    assert "it needs a kind" in refused(kibitz("eval", "run", "-"))  # nothing comes


ARGUMENTS = [
    (("ladder", "classical@nodes"), "a limit is written classical@nodes=NUMBER"),
    (("ladder", "classical@speed=5"), "a limit is written"),
    (("ladder", "@nodes=5"), "the plan's agents.0.name is wrong"),
    (("ladder", "random", "--margin", "nan"), "'--margin': Input should be"),
    (("ladder", "random", "--margin", "inf"), "'--margin': Input should be less than"),
    (("ladder", "random", "--usd", "-1"), "--usd"),
    (("duel", "random", "classical", "--sprt", "50"), "two numbers, as in 0,50"),
    (("duel", "random", "classical", "--sprt", "50,0"), "the first bound should be less"),
    (("duel", "random", "classical", "--games", "3"), "the plan's games is wrong"),
    (("run", "quick.toml", "--database", "mysql://x"), "no URL of a database"),
    (("report", NOBODY, "--format", "pdf"), "--format"),
]


@pytest.mark.parametrize(("arguments", "words"), ARGUMENTS)
def test_a_wrong_argument_gets_one_sentence(folder, arguments, words):
    assert words in refused(kibitz("eval", *arguments))
    assert not (folder / "data" / "kibitz.db").exists()


@pytest.mark.parametrize("command", ["show", "report", "resume", "cancel"])
def test_an_unknown_id_gets_one_sentence(folder, command):
    sentence = f"kibitz: there is no evaluation {NOBODY}"
    assert refused(kibitz("eval", command, NOBODY)) == sentence
    assert not (folder / "data" / "kibitz.db").exists()
    kibitz("eval", "run", "quick.toml")
    assert refused(kibitz("eval", command, NOBODY)) == sentence


@pytest.mark.parametrize("output", ["quick.toml", "quick.toml/below", "/dev/null"])
def test_a_folder_that_cannot_be_written_is_found_out_before_anything_is_played(folder, output):
    for arguments in (("eval", "run", "quick.toml"), ("suite", "run", "two.epd", "random")):
        run = kibitz(*arguments, "--output", output)
        assert "cannot be written into" in refused(run)
    assert not (folder / "data" / "kibitz.db").exists()


@contextmanager
def served():
    """Have the database open, as `kibitz serve` has."""
    path = Path(os.environ["KIBITZ_DATA_FOLDER"]) / "kibitz.db.lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_a_database_that_is_served_is_left_to_the_service_but_can_be_read(folder):
    kibitz("eval", "run", "quick.toml")
    (known,) = ids()
    with served():
        said = refused(kibitz("eval", "run", "quick.toml"))
        assert "such as `kibitz serve`: ask it over HTTP (/api/evaluations)" in said
        assert ids() == [known]
        assert kibitz("eval", "show", known).returncode == 0
        elsewhere = f"sqlite:///{folder}/other.db"
        assert kibitz("eval", "run", "quick.toml", "--database", elsewhere).returncode == 0
    assert len(json.loads(kibitz("eval", "list", "--json").stdout)["evaluations"]) == 1


# --- running ---


def test_an_evaluation_is_run_and_its_report_is_written_and_read_again(folder):
    run = kibitz("eval", "run", "quick.toml", "--output", "out")
    assert run.returncode == 0, run.stderr
    # And on a slow machine how far it is, now and then.
    assert re.fullmatch(r"Evaluation \S{36}\n(\d of 2 games.*\n)*", run.stderr)
    for expected in ("0-2-0", "random against also random: +0 ± ", "finished: all 2 games"):
        assert expected in run.stdout
    out = folder / "out"
    names = {"report.html", "report.json", "games.csv", "games.pgn", "manifest.json"}
    assert {path.name for path in out.iterdir()} == names
    report = json.loads((out / "report.json").read_text())
    assert report["manifest"] == json.loads((out / "manifest.json").read_text())
    assert report["counts"]["games"] == 2
    assert "<svg" in (out / "report.html").read_text()
    assert len(rows(out / "games.csv")) == 2
    with (out / "games.pgn").open("rb") as file:
        assert [game.tags["Round"] for game in read_games(file)] == ["1", "2"]

    (known,) = ids()
    assert kibitz("eval", "list").stdout.count(known) == 1
    shown = kibitz("eval", "show", known)
    assert "0-2-0" in shown.stdout
    assert kibitz("eval", "show", known[:13].upper()).stdout == shown.stdout
    state = json.loads(kibitz("eval", "show", known, "--json").stdout)
    assert (state["status"], state["plan"]["name"]) == ("finished", "quick")
    for name in names:
        format_ = "manifest" if name == "manifest.json" else name.partition(".")[2]
        again = kibitz("eval", "report", known, "--format", format_)
        assert again.returncode == 0
        if format_ != "html":  # which tells when it was made
            assert again.stdout.encode() == (out / name).read_bytes(), name
    assert kibitz("eval", "report", known[:13]).stdout.startswith("Written to ")
    assert {path.name for path in (folder / "data/evaluations" / known).iterdir()} == names
    one = kibitz("eval", "report", known, "--format", "csv", "--output", str(folder))
    assert (one.returncode, (folder / "games.csv").exists()) == (0, True)
    kibitz("eval", "report", known, "--format", "json", "--output", "mine.json")
    assert json.loads((folder / "mine.json").read_text()) == report


def test_json_is_all_that_is_printed(folder):
    run = kibitz("eval", "run", "quick.toml", "--json")
    report = json.loads(run.stdout)
    assert (run.returncode, report["status"], report["kind"]) == (0, "finished", "duel")
    assert (
        json.loads(kibitz("eval", "list", "--json").stdout)["evaluations"][0]["id"] == report["id"]
    )
    board = json.loads(kibitz("eval", "ratings", "--json").stdout)
    assert {row["label"] for row in board["rows"]} == {"random", "also random"}


def test_a_plan_comes_from_standard_input_as_json_too(folder):
    plan = tomllib.loads(QUICK) | {"variant": "kings-cooking", "name": "cooks"}
    plan = json.dumps(read_plan(plan).model_dump(mode="json"))
    run = subprocess.run(
        [KIBITZ, "eval", "run", "-", "--json"],
        input=plan, capture_output=True, text=True, timeout=2 * HANGS_AFTER, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert (report["name"], report["counts"]["games"]) == ("cooks", 2)


def test_a_suite_is_run_and_rates(folder):
    run = kibitz("suite", "run", "two.epd", "classical@nodes=500", "random", "--output", "out")
    assert run.returncode == 0, run.stderr
    assert "2 of 2" in run.stdout
    report = json.loads((folder / "out/report.json").read_text())
    assert (report["kind"], report["plan"]["suite"]) == ("positions", "two")
    assert report["agents"][0]["rating"]["as_played"]["bound"] == "lower"
    assert len(rows(folder / "out/answers.csv")) == 4
    assert "back rank" in (folder / "out/answers.csv").read_text()


def test_nothing_is_there_before_the_first_evaluation(folder):
    assert kibitz("eval", "list").stdout == "There are no evaluations yet.\n"
    assert kibitz("eval", "ratings").stdout == "There are no evaluations yet.\n"
    assert json.loads(kibitz("eval", "ratings", "--json").stdout)["rows"] == []
    assert not (folder / "data").exists()


def test_a_report_that_cannot_be_written_in_the_end_is_a_failure_and_can_be_written_again(folder):
    (folder / "out/report.html").mkdir(parents=True)
    run = kibitz("eval", "run", "quick.toml", "--output", "out")
    assert (run.returncode, run.stdout) == (1, "")
    (known,) = ids()
    assert f"`kibitz eval report {known}` writes it again" in run.stderr
    assert kibitz("eval", "report", known).returncode == 0


# --- going on ---


def created(plan=QUICK):
    """Start an evaluation that nobody conducts, and return its id."""
    wanted = read_plan(tomllib.loads(plan))

    async def create(services):
        return (await services.evaluations.create(wanted, client="c")).record.id

    return in_services(create)


def test_what_nobody_conducts_is_resumed(folder):
    known = created()
    run = kibitz("eval", "resume", known[:-2].upper(), "--json")  # a beginning will do
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["counts"]["games"] == 2
    for command in ("resume", "cancel"):
        sentence = refused(kibitz("eval", command, known))
        assert sentence.startswith(f"kibitz: evaluation {known} is finished; write its report")


def test_a_plan_goes_on_with_the_unfinished_evaluation_of_the_same_plan_if_asked_to(folder):
    known = created()
    first = json.loads(kibitz("eval", "run", "quick.toml", "--json").stdout)
    assert first["id"] != known
    second = json.loads(kibitz("eval", "run", "quick.toml", "--resume", "--json").stdout)
    assert second["id"] == known
    third = json.loads(kibitz("eval", "run", "quick.toml", "--resume", "--json").stdout)
    assert third["id"] not in (first["id"], known)
    assert len(ids()) == 3


def test_an_evaluation_is_cancelled_for_good(folder):
    known = created()
    run = kibitz("eval", "cancel", known[:-2])
    assert (run.returncode, run.stdout.split()[:4]) == (
        0,
        ["Evaluation", known, "is", "cancelled;"],
    )
    assert "cancelled" in kibitz("eval", "show", known).stdout
    assert f"evaluation {known} is cancelled;" in refused(kibitz("eval", "resume", known))


def test_other_evaluations_and_matches_are_left_alone(folder):
    """Nobody's clock may run while nobody serves: a human would lose on time."""

    async def start(services):
        settings = MatchSettings(
            PlayerSettings("human"), PlayerSettings("random"), time_control="60"
        )
        made = await services.matches.create(settings, client="c")
        return made.record.id

    match_id, other = in_services(start), created()
    assert kibitz("eval", "run", "quick.toml").returncode == 0

    async def look(services):
        return (
            await services.matches.find(match_id),
            await services.evaluations.find(other),
        )

    match, evaluation = in_services(look)
    assert (match.status, evaluation.status) == ("created", "created")


def test_an_evaluation_that_pauses_by_itself_says_why_and_has_an_exit_code_of_its_own(folder):
    """The plan lets a game make one call, and a team needs three for a move."""
    plan = {"kind": "duel", "agents": ["team:default", "random"], "games": 2, "concurrency": 1,
            "match": {"budget": {"calls": 1}}, "analysis": {"nodes": 0}}  # fmt: skip
    (folder / "poor.json").write_text(json.dumps(plan))
    with model_server_in_thread(AnswersSchema()) as server:
        providers = json.dumps({"openai": {"base_url": server.base_url}})
        run = kibitz("eval", "run", "poor.json", KIBITZ_PROVIDERS=providers)
        (known,) = ids()
        again = kibitz("eval", "resume", known, "--json", KIBITZ_PROVIDERS=providers)
    assert run.returncode == again.returncode == 3, run.stderr
    assert "The evaluation is paused: game 1: " in run.stdout
    assert re.search(rf"is paused .*game 1: .*; go on with: kibitz eval resume {known}", run.stderr)
    assert json.loads(again.stdout)["status"] == "paused"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_pauses_what_can_go_on_later(folder, number, code):
    """Of games that nobody could play in the meantime."""
    plan = QUICK.replace("games = 2", "games = 1000").replace("max_plies = 6", "max_plies = 300")
    (folder / "long.toml").write_text(plan)
    process = subprocess.Popen(
        [KIBITZ, "eval", "run", "long.toml", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    known = process.stderr.readline().split()[-1]  # it has begun
    process.send_signal(number)
    output, errors = process.communicate(timeout=2 * HANGS_AFTER)
    assert (process.returncode, output) == (code, "")
    wanted = f"go on with: kibitz eval resume {known}\n"
    assert errors.endswith(wanted) is (number is not signal.SIGHUP)
    state = json.loads(kibitz("eval", "show", known, "--json").stdout)
    assert state["status"] == "paused"
    assert in_services(lambda it: it.evaluations.resume(known)).status == "created"
    assert kibitz("eval", "cancel", known).returncode == 0


# --- what is shown meanwhile ---

PROGRESS = {
    "phase": "playing",
    "games": {"scored": 12, "playing": 2, "void": 0, "expected": 40},
    "analysed": 9,
    "agents": [
        {"agent": "team:a", "games": 6, "wins": 1, "draws": 2, "losses": 3,
         "rating": {"elo": 1028.3, "margin": 138.4, "bound": None}},
        {"agent": "b", "games": 6, "wins": 6, "draws": 0, "losses": 0,
         "rating": {"elo": 1535.6, "margin": None, "bound": "lower"}},
    ],
    "sprt": {"llr": 1.234, "lower_bound": -2.944, "upper_bound": 2.944, "decision": None},
    "spent": {"calls": 7, "tokens": 1234, "cost_usd": "0.1234"},
    "budget": {"usd": "5", "tokens": 10_000, "calls": None},
    "waiting": "game 3: the provider is away",
    "eta_ms": 125_000,
}  # fmt: skip


def test_a_line_tells_all():
    assert progress_line(PROGRESS) == (
        "12 of 40 games, 2:05 left, $0.1234 of $5.00, 1,234 of 10,000 tokens, "
        "LLR 1.23 of -2.94 to 2.94; team:a 1028 ± 138 (+1 =2 -3); b > 1536 (+6 =0 -0); "
        "game 3: the provider is away"
    )
    bare = {**PROGRESS, "eta_ms": None, "agents": [], "sprt": None, "waiting": ""}
    bare |= {"spent": {"calls": 0, "tokens": 0, "cost_usd": "0"}}
    bare |= {"budget": {"usd": None, "tokens": None, "calls": None}}
    assert progress_line(bare) == "12 of 40 games"
    assert progress_line({**bare, "phase": "analysing"}) == "12 of 40 games, 9 of them analysed"
    unpriced = {**PROGRESS, "spent": {"calls": 1, "tokens": 5, "cost_usd": None}}
    assert spending_text(unpriced).startswith("$? of $5.00")


def test_numbers_are_told_as_people_tell_them():
    texts = [duration_text(each * 1000) for each in (0, 59, 60, 599, 600, 3599, 3600, 86_460)]
    assert texts == [
        "0:00",
        "0:59",
        "1:00",
        "9:59",
        "10 min",
        "59 min",
        "1 h 00 min",
        "24 h 01 min",
    ]
    assert rating_text(None) == "–"
    assert rating_text({"elo": -0.2, "margin": None, "bound": "upper"}) == "< 0"


def test_a_terminal_gets_a_bar_and_how_each_agent_stands():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with Bars("[a name]", console) as bars:
        bars.show(PROGRESS)
    drawn = console.file.getvalue()
    for expected in ("[a name]", "12 of 40 games", "team:a 1028 ± 138", "b > 1536", "away", "LLR"):
        assert expected in drawn
    with Bars("x", console) as bars:
        crowd = [{**PROGRESS["agents"][0], "agent": f"agent {n}"} for n in range(30)]
        bars.show({**PROGRESS, "agents": crowd, "phase": "analysing"})
    assert "and 20 more" in console.file.getvalue()
    assert "9 analysed" in console.file.getvalue()


def test_a_bar_is_hushed_when_the_terminal_goes_away():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with Bars("x", console) as bars:
        bars.hush()
        before = console.file.getvalue()
        bars.show(PROGRESS)
    assert console.file.getvalue() == before


def test_without_a_terminal_there_is_a_line_now_and_then(capsys):
    with Lines(every=0) as lines:
        lines.show(PROGRESS)
        lines.show(PROGRESS)
        lines.hush()
        lines.show(PROGRESS)
    with Lines() as lines:
        lines.show(PROGRESS)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [progress_line(PROGRESS)] * 2
