"""The documentation tells the truth: its code and commands run, its links lead somewhere.

What needs a service, the `curl` commands and blocks of `python service`, is tried on a real one,
whose language models are a server of ours. Blocks of `toml team NAME`, `markdown prompt NAME` and
`toml settings` are read, as are those of `toml plan`. The pages of reference name everything that
there is.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import httpx
import pytest

from agents.player import Advice, Candidate
from agents.team.definition import MemberDefinition, TeamDefinition
from agents.team.library import load_teams
from app.bodies import Body
from app.cli.evaluate import evaluate
from app.evaluations import plan as plan_module
from app.evaluations.plan import parse_plan
from app.matches.events import EventType
from app.matches.match import Match
from app.matches.schemas import BudgetBody, PlayerBody
from app.matches.settings import MatchSettings, PlayerSettings
from app.settings import CONFIG_VARIABLE, Settings, load_settings
from engine import Color, Move
from tests.support.command_line import KIBITZ, kibitz
from tests.support.model_server import AnswersSchema, model_server_in_thread
from tests.support.processes import HANGS_AFTER

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *ROOT.glob("docs/**/*.md"),
]
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(sh|python service)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TEAM_FILE = re.compile(
    r"^```(?:toml team|markdown prompt) (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
PLAN = re.compile(r"^```toml plan\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETTINGS = re.compile(r"^```toml settings\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
COMMAND = re.compile(r"^make ([a-z-]+)", re.MULTILINE)

#: What is told on standard error when an evaluation begins, or goes on.
BEGUN = re.compile(r"Evaluation ([0-9a-f-]{36})\n")
#: Those that go on until somebody stops them, or for a while; other tests see to them.
LASTING = ("serve", "demo", "watch", "uci")
#: Those that play many games, unless they only say what that would cost.
PLAYING = (["eval", "run"], ["eval", "ladder"])


def blocks():
    for page in PAGES:
        if page.name == "move-generation.md":
            continue  # its code is cut out of functions
        for number, code in enumerate(CODE.findall(page.read_text())):
            yield pytest.param(code, id=f"{page.relative_to(ROOT)}-{number}")


@pytest.mark.parametrize("code", list(blocks()))
def test_the_code_on_a_page_runs(code):
    exec(compile(code, "page", "exec"), {"__name__": "page"})


def test_what_the_readme_says_is_printed_is_printed(capsys):
    readme = (ROOT / "README.md").read_text()
    for code in CODE.findall(readme):
        exec(compile(code, "README.md", "exec"), {"__name__": "page"})
        promised = re.findall(r"^\s*print\(.*\)\s+# (.*)$", code, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == promised
        assert promised


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target, heading in LINK.findall(page.read_text()):
        if "://" not in target:
            there = page.parent / target if target else page
            assert there.exists(), target
            assert not heading or heading in anchors(there), f"{target}#{heading}"


def anchors(page):
    """Return what the headings of a page are called in links."""
    headings = HEADING.findall(page.read_text())
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def commands_of(page):
    """Return the arguments of each `.venv/bin/kibitz` on a page."""
    found = re.findall(r"^\.venv/bin/kibitz (.*)$", page.read_text(), re.MULTILINE)
    return [shlex.split(arguments) for arguments in found]


@pytest.mark.usefixtures("without_coverage")
def test_the_commands_of_the_readme_run(tmp_path, monkeypatch):
    """In this process: each of them has others by which a process of its own is tested."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path))
    commands = commands_of(ROOT / "README.md")
    assert commands
    for arguments in commands:
        if arguments[0] in LASTING or (arguments[:2] in PLAYING and "--dry-run" not in arguments):
            continue
        run = kibitz(*arguments)
        assert (run.returncode, run.stderr) == (0, ""), arguments
        assert run.stdout


@pytest.mark.usefixtures("without_coverage")
def test_the_first_evaluation_can_be_followed(tmp_path, monkeypatch):
    """With less to do than there, and an evaluation that is killed instead of interrupted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path / "data"))
    known = ""
    commands = commands_of(ROOT / "docs/tutorial/first-evaluation.md")
    assert len(commands) > 6
    for arguments in commands:
        words = [each.replace("ID", known).replace("2000", "100") for each in arguments]
        if "--margin" in words:
            words[words.index("--margin") + 1] = "600"
        if words[-2:] == ["--analysis", "0"]:
            known = id_of_killed(words)
            continue
        run = kibitz(*words)
        begun = BEGUN.fullmatch(run.stderr)
        assert (run.returncode, run.stderr if begun is None else "") == (0, ""), words
        assert run.stdout
        known = known if begun is None else begun[1]
    assert (tmp_path / "games.csv").exists()
    assert "classical at 1000 nodes" in run.stdout


def id_of_killed(words):
    """Begin an evaluation, kill the process, and return the id."""
    process = subprocess.Popen([KIBITZ, *words], stderr=subprocess.PIPE, text=True)
    with process:
        begun = BEGUN.fullmatch(process.stderr.readline())
        process.kill()
    assert process.returncode == -signal.SIGKILL
    return begun[1]


def test_every_make_task_a_page_names_exists():
    tasks = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        assert set(COMMAND.findall(page.read_text())) <= tasks


# --- what an operator writes ---


def write_teams(page, folder):
    """Write the teams and prompts of a page, and return the names of the teams."""
    files = dict(TEAM_FILE.findall(page.read_text()))
    for name, text in files.items():
        (folder / name).write_text(text)
    return [name.removesuffix(".toml") for name in files if name.endswith(".toml")]


@pytest.mark.parametrize("name", ["first-llm-match.md", "write-a-specialist.md"])
def test_the_teams_of_a_page_can_be_used(name, tmp_path):
    names = write_teams(ROOT / "docs/how-to" / name, tmp_path)
    assert names
    teams = load_teams(tmp_path)
    for each in names:
        assert teams[each].definition.members
        assert teams[each].control().definition.selector.max_tokens


def test_the_settings_of_a_page_can_be_used(tmp_path, monkeypatch):
    blocks = [block for page in PAGES for block in SETTINGS.findall(page.read_text())]
    assert blocks
    file = tmp_path / "kibitz.toml"
    monkeypatch.setenv(CONFIG_VARIABLE, str(file))
    for block in blocks:
        file.write_text(block)
        settings = load_settings()
        assert settings.model_fields_set
        for name, provider in settings.providers.items():
            assert provider.provider(name).base_url


def test_the_plans_of_a_page_can_be_read():
    blocks = {page.name: PLAN.findall(page.read_text()) for page in PAGES}
    plans = [parse_plan(block.encode(), name) for name in blocks for block in blocks[name]]
    assert {"plans.md", "evaluate-an-agent.md"} <= {name for name in blocks if blocks[name]}
    assert {plan.kind for plan in plans} >= {"ladder", "duel", "positions"}


# --- what needs a service ---


class Service:
    """`kibitz serve`, with a file of its own, on a port that it finds, and keeps."""

    def __init__(self, folder, **variables):
        self.port = 0
        self._complaints = folder / "stderr"
        self._environment = os.environ | {
            "KIBITZ_DATA_FOLDER": str(folder),
            "KIBITZ_LOG_LEVEL": "warning",
            **variables,
        }
        self._process = None

    def start(self):
        with self._complaints.open("ab") as complaints:
            self._process = subprocess.Popen(
                [KIBITZ, "serve", "--port", str(self.port)],
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
            )
        found = re.fullmatch(r"Kibitz serves http://.*:(\d+)\n", self._process.stdout.readline())
        assert found, self._complaints.read_text()
        self.port = int(found[1])

    def end(self, number):
        """End it by a signal, and return the exit code."""
        self._process.send_signal(number)
        code = self._process.wait(HANGS_AFTER)
        self._process.stdout.close()
        return code

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def service(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    service = Service(tmp_path)
    service.start()
    yield service
    assert service.end(signal.SIGTERM) == 0


@pytest.fixture
def service_with_models(tmp_path, monkeypatch):
    """A service whose OpenAI is a server of ours: it needs no key, and plays legal moves."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "teams"
    folder.mkdir()
    for page in PAGES:
        write_teams(page, folder)
    with model_server_in_thread(AnswersSchema()) as server:
        providers = json.dumps({"openai": {"base_url": server.base_url}})
        service = Service(tmp_path, KIBITZ_PROVIDERS=providers, KIBITZ_TEAMS_FOLDER=str(folder))
        service.start()
        yield service
        assert service.end(signal.SIGTERM) == 0


class Reader:
    """Somebody who follows a page, and puts what the service answers in place of ID and TOKEN."""

    def __init__(self, service, patience=HANGS_AFTER):
        """Streams that have not ended after so many seconds are left."""
        self._service = service
        self._patience = patience
        self._match = self._token = ""
        #: What the service answered to each command.
        self.answers = []

    def follow(self, page):
        blocks = BLOCK.findall(page.read_text())
        for kind, block in blocks:
            if kind == "python service":  # it starts the match that the commands are about
                self._run(block)
        for kind, block in blocks:
            for line in block.replace("\\\n", " ").splitlines() if kind == "sh" else ():
                self._perform(shlex.split(line, comments=True))

    def _run(self, code):
        address = "http://127.0.0.1:8000"
        assert address in code
        exec(compile(code.replace(address, self._service.url), "page", "exec"), {})
        matches = httpx.get(f"{self._service.url}/api/matches").json()["matches"]
        self._match = matches[0]["id"]

    def _perform(self, words):
        if words[:1] == ["curl"]:
            end = words.index("|") if "|" in words else len(words)
            self._call([self._put_in(each) for each in words[1:end]])
            following = words[end + 1 :]
            if following and shutil.which(following[0]):
                self._pass_on(following)
        elif words[:2] == ["kill", "-9"]:
            assert self._service.end(signal.SIGKILL) == -signal.SIGKILL
            self._service.start()

    def _put_in(self, text):
        text = text.replace('"time_ms": 1000', '"time_ms": 10')  # which is for people to follow
        place = self._service.url.removeprefix("http://")
        text = text.replace("localhost:8000", place).replace("TOKEN", self._token)
        return text.replace("/ID", f"/{self._match}")

    def _pass_on(self, command):
        """Hand the last answer to what comes after a pipe."""
        run = subprocess.run(
            command, input=self.answers[-1], capture_output=True, text=True, check=False
        )
        assert (run.returncode, run.stderr) == (0, ""), run
        assert run.stdout.strip()

    def _call(self, arguments):
        is_stream = "-N" in arguments
        patience = str(self._patience if is_stream else HANGS_AFTER)
        quietly = ["--silent", "--noproxy", "*", "--write-out", "\n%{http_code}"]
        command = ["curl", *quietly, "--max-time", patience, *arguments]
        deadline = time.monotonic() + HANGS_AFTER
        while time.monotonic() < deadline:
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            answer, _, status = run.stdout.rpartition("\n")
            is_early = status == "000" and run.returncode == 28  # nothing has come yet
            # Else the opponent is still thinking.
            if not is_early and "/problems/not-your-turn" not in answer:
                break
        assert run.returncode == 0 or (is_stream and run.returncode == 28), run
        # On all pages this is the move that cannot be played.
        assert status in (("422",) if '{"move": "Ke3"}' in arguments else ("200", "201")), run
        if status == "201":
            match = json.loads(answer)
            self._match = match["id"]
            self._token = next((seat["token"] for seat in match["seats"].values()), "")
        self.answers.append(answer)


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")


@needs_curl
@pytest.mark.parametrize("name", ["tutorial/first-match.md", "how-to/watch-matches.md"])
def test_a_page_can_be_followed_on_a_real_service(name, service):
    reader = Reader(service, patience=1)
    reader.follow(ROOT / "docs" / name)
    assert len(reader.answers) > 3


@needs_curl
@pytest.mark.parametrize(
    "name", ["first-llm-match.md", "write-a-specialist.md", "read-a-ledger.md"]
)
def test_a_page_about_teams_can_be_followed(name, service_with_models, capsys):
    reader = Reader(service_with_models)
    reader.follow(ROOT / "docs/how-to" / name)
    assert len(reader.answers) >= 2
    matches = httpx.get(f"{service_with_models.url}/api/matches").json()["matches"]
    assert {match["status"] for match in matches} == {"ended"}
    printed = capsys.readouterr().out
    assert name != "read-a-ledger.md" or re.search(r"^selector +\d+ tokens +\$0\.0", printed, re.M)


@needs_curl
def test_what_the_readme_shows_is_a_match_from_its_start_to_its_end(service_with_models):
    reader = Reader(service_with_models)
    reader.follow(ROOT / "README.md")
    start, watched, pgn, seats, move, state, team, thinking, ledger = reader.answers
    assert json.loads(start)["status"] == "created"
    assert "event: snapshot" in watched
    assert re.search(r'"status":"ended".*\n\n$', watched)
    assert re.search(r"(1-0|0-1|1/2-1/2)\n$", pgn)
    assert json.loads(seats)["seats"]["white"]["token"]
    moved = json.loads(move)  # the opponent may have answered already
    plies = httpx.get(f"{service_with_models.url}/api/matches/{moved['id']}/plies").json()["plies"]
    assert moved["ply_count"] >= 1
    assert plies[0]["san"] == "e4"
    assert json.loads(state)["status"] == "running"
    assert json.loads(team)["white"]["name"] == "team:default"
    assert "event: advice.delta" in thinking
    assert re.search(r'"by":"tactical".*"abstained":""', thinking)
    calls = json.loads(ledger)["calls"]
    assert {call["role"] for call in calls} == {"tactical", "positional", "selector"}
    assert all(call["outcome"] == "ok" and call["cost_usd"] for call in calls)


# --- the reference is complete ---


def section(page, heading):
    """Return what is under a heading, up to the next of its level."""
    level = heading.partition(" ")[0]
    text = (ROOT / page).read_text().partition(f"\n{heading}\n")[2]
    assert text, f"{page} has no {heading}"
    return re.split(rf"^{level} ", text, maxsplit=1, flags=re.MULTILINE)[0]


def test_every_setting_is_told_with_its_variable_and_default():
    page = (ROOT / "docs/reference/settings.md").read_text()
    for name, field in Settings.model_fields.items():
        (row,) = re.findall(rf"^\| `{name}` \|.*$", page, re.MULTILINE)
        _, _, variable, default, _, _ = row.split("|")
        assert variable.strip() == f"`KIBITZ_{name.upper()}`"
        if isinstance(field.default, bool | int | str):
            told = default.strip().strip("`").replace(",", "")
            assert told == str(field.default).lower(), name


def test_every_key_of_a_team_is_told_with_its_default():
    page = (ROOT / "docs/reference/teams.md").read_text()
    for table in (TeamDefinition, MemberDefinition):
        for name, field in table.model_fields.items():
            key = re.escape(field.alias or name)
            (row,) = re.findall(rf"^\| `\[*{key}\]*` \|.*$", page, re.MULTILINE)
            default = row.split("|")[2].strip().strip("`")
            if field.is_required():
                assert default.startswith("needed"), name
            elif isinstance(field.default, bool | int | float | str) and field.default != "":
                assert default == str(field.default).lower(), name


PLANS = "docs/reference/plans.md"
#: Which section tells of the keys of which body, besides those that it has from another.
PLAN_BODIES = {
    "## Every plan": (plan_module._PlanBody, Body),
    "## Games": (plan_module._GamesPlan, plan_module._PlanBody),
    "## `ladder`": (plan_module.LadderPlan, plan_module._GamesPlan),
    "## `duel`": (plan_module.DuelPlan, plan_module._GamesPlan),
    "## `pool`": (plan_module.PoolPlan, plan_module._GamesPlan),
    "## `positions`": (plan_module.PositionsPlan, plan_module._PlanBody),
    "### `sprt`": (plan_module.SprtBody, Body),
    "## Players": (PlayerBody, Body),
    "### Anchors": (plan_module.AnchorBody, PlayerBody),
    "## Openings": (plan_module.OpeningsBody, Body),
    "## Match": (plan_module.RulesBody, Body),
    "## Analysis": (plan_module.ReviewBody, Body),
    "## Budget": (BudgetBody, Body),
}


@pytest.mark.parametrize("heading", PLAN_BODIES)
def test_every_key_of_a_plan_is_told_with_its_default(heading):
    body, base = PLAN_BODIES[heading]
    rows = {}
    for names, default in re.findall(
        r"^\| (`.*?`) \| (.*?) \|", section(PLANS, heading), re.MULTILINE
    ):
        rows |= dict.fromkeys(re.findall(r"`(\w+)`", names), default.strip("`"))
    for name, field in body.model_fields.items():
        if name in base.model_fields or name == "kind":
            continue
        default = field.default
        if field.is_required():
            assert rows[name] == "needed", name
        elif default is None:
            assert rows[name] == "none" or rows[name].startswith("the calibrated one"), name
        elif isinstance(default, Body):
            assert rows[name] in ("{}", getattr(default, "source", "")), name
        else:
            assert rows[name] == re.sub(r"\.0\b", "", str(default).lower()), name


def test_every_kind_of_plan_has_a_section_and_every_command_of_eval_is_told():
    page = (ROOT / PLANS).read_text()
    bodies = get_args(plan_module.Plan)
    kinds = {get_args(each.model_fields["kind"].annotation)[0] for each in bodies}
    assert {f"## `{kind}`" for kind in kinds} <= set(PLAN_BODIES)
    assert all(f"| [`{kind}`](#{kind}) |" in page for kind in kinds)
    told = set(re.findall(r"`kibitz eval (\w+)", section(PLANS, "## Commands")))
    names = {each.name or each.callback.__name__ for each in evaluate.registered_commands}
    assert told == names


def test_every_route_and_field_of_the_api_is_told(service):
    page = (ROOT / "docs/reference/http-api.md").read_text()
    document = httpx.get(f"{service.url}/openapi.json").raise_for_status().json()
    routes = {
        f"{method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method in operations
    }
    assert set(re.findall(r"^\| `((?:GET|POST) .*?)` \|", page, re.MULTILINE)) == routes
    told = set(re.findall(r"[A-Za-z_-]+", " ".join(re.findall(r"`([^`\n]+)`", page))))
    fields = {
        name
        for schema in document["components"]["schemas"].values()
        for name in schema.get("properties", {})
    }
    parameters = {
        parameter["name"]
        for operations in document["paths"].values()
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
    }
    streams = {"Last-Event-ID", "last_event_id"}  # with the events
    assert (fields | parameters | {"If-None-Match"}) - {"if-none-match"} - streams <= told


def test_every_problem_is_told_with_its_status():
    told = {}
    for names, status in re.findall(
        r"^\| (`.*?`) \| (\d{3}) \|",
        section("docs/reference/http-api.md", "## Errors"),
        re.MULTILINE,
    ):
        told |= dict.fromkeys(re.findall(r"`([a-z-]+)`", names), status)
    source = "".join(path.read_text() for path in (ROOT / "app/http").glob("*.py"))
    kinds = {name: status for status, name in re.findall(r'Kind\(\s*(\d+),\s*"([a-z-]+)"', source)}
    bounded = re.findall(r'(?:Places|StartRate)\(\s*"([a-z-]+)"', source)
    assert told == kinds | {f"too-many-{what}": "429" for what in bounded}


def test_every_event_is_told_with_all_of_its_fields():
    for event in all_events():
        text = section("docs/reference/events.md", f"## `{event.type}`")
        example = json.loads(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0])
        assert example["type"] == event.type
        assert set(example) == set(json.loads(event.encode()))


def all_events():
    """Return one event of each type, as a match tells it."""
    settings = MatchSettings(PlayerSettings("human"), PlayerSettings("human"))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    match = Match.create("some-match", settings, at)
    match.start(at)
    match.advise(Advice("tactical", (Candidate(Move.from_uci("e2e4"), "it is good"),)), at)
    match.reject(1, "Ke2", None, at)
    match.play("e4", at, source="human")
    for decline in (match.decline_takeback, match.grant_takeback):
        match.ask_takeback(Color.WHITE, at)
        decline(Color.BLACK, at)
    match.offer_draw(Color.WHITE, at)
    match.decline_draw(Color.BLACK, at)
    match.pause(at)
    match.resume(at)
    match.resign(Color.WHITE, at)
    events = {event.type: event for event in match.new_events}
    assert set(events) == set(EventType)
    return events.values()
