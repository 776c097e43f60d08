"""`kibitz watch`, as a person and as a program use it, with real services."""

import asyncio
import io
import json
from datetime import timedelta
from types import SimpleNamespace

import pytest
from rich.console import Console

from agents.timekeeping import now
from app.cli.boards.live_board import Board, Lines
from app.cli.remote import watching
from app.cli.remote.matches import RemoteMatch, told_matches
from app.cli.remote.service import RemoteService
from app.cli.remote.watching import ServiceTime, Watching, Wish
from app.cli.watch import _chosen
from engine import Color
from tests.app.http.match_service import THINKER, command, done, look, play, running, start
from tests.support.command_line import KIBITZ, kibitz
from tests.support.model_server import ModelServer
from tests.support.processes import HANGS_AFTER
from tests.support.servers import serving
from tests.support.team_matches import Pauses, by_role, hurry, playing, served
from tests.support.terminal import on_terminal
from tests.web.page_service import page_process


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    with running(f"sqlite:///{folder / 'kibitz.db'}", folder) as served:
        yield served


@pytest.fixture(scope="module")
def client(service):
    with service.client() as client:
        yield client


@pytest.fixture(scope="module")
def mated(client):
    """A match that is over."""
    match = start(client, {"name": "human", "title": "Ada"}, time_control="300+3", tags=["over"])
    play(client, match, "f3 e5 g4 Qh4#")
    return match


@pytest.fixture
def live(client):
    """A match that is played; it is over at the end of the test."""
    match = start(client, time_control="300+3")
    yield match
    client.post(f"/api/matches/{match['id']}/abort", json={})


def watch(service, *arguments, **environment):
    return kibitz("watch", *arguments, "--server", service.url, **environment)


# --- a match that is over ---


def test_without_a_terminal_it_is_told_line_by_line(service, mated):
    run = watch(service, mated["id"])
    assert (run.returncode, run.stderr) == (0, "")
    moves = [line.split()[:2] for line in run.stdout.splitlines()[:4]]
    assert moves == [["1.", "f3"], ["1...", "e5"], ["2.", "g4"], ["2...", "Qh4#"]]
    assert run.stdout.endswith("\n0-1: Black wins by checkmate\n")


@pytest.mark.parametrize("form", ["{id}", "/matches/{id}", "/api/matches/{id}/events"])
def test_any_name_of_a_match_will_do(service, mated, form):
    text = form.format(id=mated["id"])
    run = watch(service, f"{service.url}{text}" if "/" in text else text, "--json")
    types = [json.loads(line)["type"] for line in run.stdout.splitlines()]
    assert types[0] == "match.created"
    assert types[-1] == "match.ended"


def test_a_beginning_that_is_unambiguous_names_a_match(service, client, mated):
    other = start(client, tags=["other"])
    command(client, other, "abort")
    common = next(length for length in range(36) if mated["id"][:length] != other["id"][:length])
    found = watch(service, mated["id"][:common].upper(), "--once")
    assert "Ada" in found.stdout
    run = watch(service, mated["id"][: common - 1], "--once")
    assert run.returncode == 2
    assert run.stderr.startswith("kibitz: several matches begin with ")
    assert mated["id"] in run.stderr


def test_events_are_printed_exactly_as_they_are_sent(service, client, mated):
    headers = {"Accept": "application/x-ndjson", "Last-Event-ID": "0"}
    sent = client.get(f"/api/matches/{mated['id']}/events", headers=headers).text
    run = watch(service, mated["id"], "--json")
    assert run.stdout == sent
    assert (run.returncode, run.stderr) == (0, "")


ONCE = """\
+----------------------------------- Kibitz -----------------------------------+
|   Ada                {0}     1. f3             e5                          |
| 1  R  N  B !K! Q  B  N  R      2. g4             Qh4#                        |
| 2  P  .  .  P  P  P  P  P                                                    |
| 3  .  .  P  .  .  .  .  .                                                    |
| 4 (q) P  .  .  .  .  .  .                                                    |
"""


def test_once_it_is_drawn_as_it_stands(service, mated):
    run = watch(service, mated["id"], "--once", "--flip", "--ascii", COLUMNS="80", LINES="24")
    assert (run.returncode, run.stderr) == (0, "")
    clock = run.stdout.splitlines()[1].split()[2]
    assert run.stdout.startswith(ONCE.format(clock))
    assert "0-1: Black wins by checkmate" in run.stdout
    assert run.stdout.isascii()


def test_a_match_that_is_played_can_be_drawn_once(service, client, live):
    play(client, live, "e4 e5")
    run = watch(service, live["id"], "--once")
    assert "1. e4             e5" in run.stdout
    assert "▶ human" in run.stdout
    run = watch(service, live["id"], "--once", "--json")
    assert json.loads(run.stdout.splitlines()[-1])["sequence"] == look(client, live)["sequence"]


@pytest.mark.parametrize(
    ("variant", "moves", "seen"),
    [("kings-cooking", "Nxc3", "White's court: "), ("chess960", "", "chess960")],
)
def test_other_variants_are_drawn_too(service, client, variant, moves, seen):
    match = start(client, variant=variant, seed=5)
    if moves:
        play(client, match, moves)
    command(client, match, "abort", reason="enough")
    run = watch(service, match["id"], "--once")
    assert seen in run.stdout
    assert "enough" in run.stdout
    assert watch(service, match["id"]).returncode == 0


# --- the list ---


def test_without_a_match_those_that_are_played_are_listed(service, client, live):
    paused = start(client, THINKER)
    command(client, paused, "pause")
    run = watch(service)
    command(client, paused, "abort")
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert any(
        live["id"] in line and "human - human" in line and "0 plies, running since" in line
        for line in lines
    )
    assert any(paused["id"] in line and "paused since" in line for line in lines)
    answer = json.loads(watch(service, "--json").stdout)
    assert live["id"] in [match["id"] for match in answer["matches"]]


def test_where_nothing_is_played_it_says_so(tmp_path):
    with running(f"sqlite:///{tmp_path / 'kibitz.db'}", tmp_path) as empty:
        run = watch(empty)
        assert run.stdout == f"No match is being played at {empty.url}.\n"
        assert run.returncode == 0
        assert kibitz("watch", f"{empty.url}/matches").stdout == run.stdout


def test_a_list_for_a_window_is_narrower():
    since = now() - timedelta(days=400)
    match = RemoteMatch("01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10", "a", "b", "running", 1, since, 3)
    (line,) = told_matches([match], short=True)
    assert line == f"1  01980a4e-6a8c-7d3e  a - b  1 ply, running since {since:%Y-%m-%d %H:%M}"


MATCHES = [
    RemoteMatch(f"{number}1980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10", "a", "b", "running", 1, now(), 3)
    for number in range(3)
]


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        ([""], MATCHES[0].id),
        (["2"], MATCHES[1].id),
        (["0", "4", "x", "9999999", " 3 "], MATCHES[2].id),
        (["2198"], MATCHES[2].id),
        (["q"], ""),
        ([EOFError], ""),
    ],
)
def test_one_of_the_list_is_chosen(answers, chosen, monkeypatch, capsys):
    def answer(_prompt):
        given = answers.pop(0)
        if given is EOFError:
            raise given
        return given

    monkeypatch.setattr("builtins.input", answer)
    assert _chosen(MATCHES) == chosen
    assert not answers
    capsys.readouterr()


def test_there_is_nothing_to_choose_from():
    assert _chosen([]) == ""


# --- what cannot be watched ---


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "an id is of hexadecimal digits"),
        (["01980a4e", "--once", "--replay"], "--once shows where a match stands"),
        (["01980a4e", "--json", "--replay"], "nothing to --replay"),
        (["01980a4e", "--speed", "2"], "--speed is for a --replay"),
        (["01980a4e", "--replay", "--speed", "nan"], "a --speed is from 0.01 to 1000"),
        (["01980a4e", "--replay", "--speed", "0"], "a --speed is from 0.01 to 1000"),
        (["01980a4e", "--give-up", "nan"], "--give-up is a number of seconds"),
        (["01980a4e", "--give-up", "-1"], "--give-up is a number of seconds"),
        (["01980a4e", "--token-file", "missing"], "the token file 'missing' cannot be read"),
        (["http://a:b@localhost/matches/1"], "does not belong into an address"),
    ],
)
def test_a_mistake_gets_one_sentence(arguments, said):
    run = kibitz("watch", *arguments)
    assert run.returncode == 2
    assert run.stderr.startswith("kibitz: ")
    assert said in run.stderr
    assert run.stderr.count("\n") == 1
    assert run.stdout == ""


def test_an_unknown_match_is_refused_with_those_that_are_near(service, mated):
    slip = mated["id"][:-1] + ("0" if mated["id"][-1] != "0" else "1")
    run = watch(service, slip)
    assert run.returncode == 2
    assert f"has no match {slip}; did you mean {mated['id']}" in run.stderr
    run = watch(service, "0123456789")
    assert "`kibitz watch` lists what is played" in run.stderr


def test_a_service_that_is_not_there_fails(service):
    with serving(lambda *_: None, lifespan="off") as served:
        address = served.url
    for arguments in ([], ["01980a4e"]):
        run = kibitz("watch", *arguments, "--server", address)
        assert run.returncode == 1
        assert run.stderr == f"kibitz: {address} cannot be reached: nobody listens there\n"


def test_the_service_is_found_by_the_settings(service, mated):
    port = {"KIBITZ_PORT": str(service.port)}
    assert kibitz("watch", mated["id"], **port).returncode == 0
    run = kibitz("watch", mated["id"], KIBITZ_SERVER=f"127.0.0.1:{service.port}/")
    assert run.returncode == 0
    run = kibitz("watch", mated["id"], KIBITZ_PORT="0")
    assert run.returncode == 2
    assert "say where it is by --server or KIBITZ_SERVER" in run.stderr


WHOLE = {
    "id": "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10",
    "white": {"name": "a\x1b[2J", "title": ""},
    "black": {"name": "b", "title": ""},
    "status": "running",
    "ply_count": 3,
    "sequence": 3,
    "created_at": "2026-01-01T00:00:00Z",
    "started_at": None,
}


class Nonsense:
    """Answers as a service does, but its events are what they are told to be."""

    def __init__(self, *events, matches=None):
        self.id = WHOLE["id"]
        self.matches = matches
        self.events = b"".join(
            b"id: %d\nevent: x\ndata: %s\n\n" % (number, event)
            for number, event in enumerate(events, 1)
        )

    async def __call__(self, scope, receive, send):
        kind = b"application/json"
        if scope["path"].endswith("/events"):
            body, kind = self.events, b"text/event-stream"
        elif scope["path"].endswith(self.id):
            body = json.dumps(WHOLE).encode()
        else:
            answer = [WHOLE] if self.matches is None else self.matches
            body = json.dumps({"matches": answer, "next_cursor": None}).encode()
        headers = [(b"content-type", kind)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (b'{"type":"match.created"}', "an event of the match makes no sense ('match.created')"),
        (b'{"type":"ply.played","fen":"\\u001b[2J"}', "makes no sense ('ply.played')"),
        (b"[]", "an event of the match makes no sense (''): TypeError: it is no object"),
        (b"nonsense", "an event of the stream is no JSON"),
    ],
)
def test_an_event_that_makes_no_sense_ends_it_in_a_sentence(event, said):
    with serving(app := Nonsense(event), lifespan="off") as served:
        for option in ("--ascii", "--once"):
            run = watch(served, app.id, option)
            assert run.returncode == 1
            assert said in run.stderr
            assert run.stderr.startswith("kibitz: ")
            assert "\x1b" not in run.stdout + run.stderr
            assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "matches", [7, [7], [{}], [WHOLE | {"id": "../../x"}], [WHOLE | {"ply_count": "many"}]]
)
def test_a_list_that_makes_no_sense_is_of_another_service(matches):
    with serving(Nonsense(matches=matches), lifespan="off") as served:
        run = watch(served)
        assert run.returncode == 1
        assert "is no service of Kibitz" in run.stderr


def test_names_in_a_list_command_nothing():
    with serving(Nonsense(), lifespan="off") as served:
        run = watch(served)
    assert "a - b" in run.stdout
    assert "\x1b" not in run.stdout


def test_whoever_gives_up_is_told_why():
    with serving(app := Nonsense(b'{"type":"match.resumed"}'), lifespan="off") as served:
        run = watch(served, app.id, "--give-up", "0")
    assert run.returncode == 1
    assert run.stderr.startswith("kibitz: the stream of the match broke off: it ended too early")


# --- tokens ---


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """A service that wants a token."""
    folder = tmp_path_factory.mktemp("closed")
    tokens = "read:reading-token,write:writing-token"
    with running(f"sqlite:///{folder / 'kibitz.db'}", folder, api_tokens=tokens) as served:
        yield served


def test_a_service_with_tokens_wants_one(closed, tmp_path):
    headers = {"Authorization": "Bearer writing-token"}
    with closed.client(headers=headers) as client:
        match = start(client)
        command(client, match, "abort")
    run = watch(closed, match["id"])
    assert run.returncode == 2
    assert "wants a token: set KIBITZ_TOKEN, or name a --token-file" in run.stderr
    run = watch(closed, match["id"], KIBITZ_TOKEN="another-token")
    assert run.returncode == 2
    assert "does not know the token of KIBITZ_TOKEN" in run.stderr
    assert "another-token" not in run.stderr
    assert watch(closed, match["id"], KIBITZ_TOKEN="reading-token").returncode == 0
    file = tmp_path / "token"
    file.write_text("reading-token\n")
    assert watch(closed, match["id"], "--token-file", str(file)).returncode == 0
    # It is not for any host whose address somebody pastes, unless it is named for it.
    url, own = f"{closed.url}/matches/{match['id']}", {"KIBITZ_TOKEN": "reading-token"}
    assert kibitz("watch", url, **own).returncode == 0
    elsewhere = {**own, "KIBITZ_SERVER": "http://example.org"}
    assert kibitz("watch", url, **elsewhere).returncode == 2
    assert kibitz("watch", url, "--token-file", str(file), **elsewhere).returncode == 0


# --- live ---


class Recorder(Lines):
    """Keeps what it is shown."""

    def __init__(self, heard=lambda _: None):
        super().__init__()
        self.scenes = []
        self.notes = []
        self._heard = heard

    async def show(self, scene, event):
        self.scenes.append(scene)
        self._heard(event)

    def note(self, words):
        self.notes.append(words)


async def followed(service, match_id, show, **wish):
    async with RemoteService.open(service.url) as remote:
        answer = await remote.get(f"api/matches/{match_id}")
        await Watching(remote, RemoteMatch.of(answer), Wish(**wish))._follow(show)


def test_what_happens_is_seen_when_it_happens(service, client, live):
    moves = iter(["e4", "e5", "Qh5", "Ke7", "Qxe5#"])

    def answer(event):
        """Move once the move before was seen."""
        if event["type"] == "turn.started" and (move := next(moves, None)):
            play(client, live, move)

    show = Recorder(answer)

    async def main():
        async with asyncio.timeout(HANGS_AFTER):
            # Whoever moves waits for the answer, and must not keep us from hearing of it.
            await followed(service, live["id"], show)

    asyncio.run(main())
    assert [ply.san for ply in show.scenes[-1].plies] == ["e4", "e5", "Qh5", "Ke7", "Qxe5#"]
    assert show.scenes[-1].ending == "1-0: White wins by checkmate"
    assert not any(show.notes)


def test_somebody_who_comes_too_many_is_told_so_and_waits(tmp_path):
    class Enough(Exception):
        """Nobody waits for so long here."""

    def note(words):
        if words:
            show.notes.append(words)
            raise Enough

    show = Recorder()
    show.note = note
    url = f"sqlite:///{tmp_path / 'kibitz.db'}"
    with running(url, tmp_path, max_streams_per_client=1) as crowded, crowded.client() as client:
        match = start(client)
        with client.stream("GET", f"/api/matches/{match['id']}/events"), pytest.raises(Enough):
            asyncio.run(asyncio.wait_for(followed(crowded, match["id"], show), HANGS_AFTER))
    assert "the service answers 429" in show.notes[0]


@pytest.mark.asyncio
async def test_words_are_heard_while_they_are_said(tmp_path, monkeypatch):
    hurry(monkeypatch)
    listening, opened = asyncio.Event(), asyncio.Event()
    tactical = Pauses('{"reasoning": "The knight is', ' loose.", "candidates": []}', opened)

    def listen(event):
        if event["type"] == "turn.started":
            listening.set()  # words that are said before are not said again
        if event["type"] == "advice.delta" and event["by"] == "tactical":
            opened.set()  # the rest is not said before the first words were seen

    show = Recorder(listen)
    async with (
        ModelServer(by_role(tactical=tactical)) as server,
        playing(server, tmp_path) as matches,
        served(matches) as client,
    ):
        body = {"white": "human", "black": "team:default", "max_plies": 2}
        match = (await client.post("/api/matches", json=body)).json()
        url = str(client.base_url).rstrip("/")
        async with asyncio.TaskGroup() as group:
            group.create_task(followed(SimpleNamespace(url=url), match["id"], show))
            token = {"X-Seat-Token": match["seats"]["white"]["token"]}
            path = f"/api/matches/{match['id']}/moves"
            await listening.wait()
            await client.post(path, json={"move": "e4"}, headers=token)
    words = [
        said.words
        for scene in show.scenes
        for said in scene.talk.said
        if said.by == "tactical" and said.is_speaking
    ]
    assert words[0].startswith("The knight")
    spoken = [said for said in show.scenes[-1].last_talk.said if said.by == "tactical"]
    assert [said.words for said in spoken] == ["The knight is loose."]


def test_a_replay_shows_the_clocks_as_they_stood(service, mated):
    show = Recorder()
    times = []

    async def main():
        async with RemoteService.open(service.url) as remote:
            answer = await remote.get(f"api/matches/{mated['id']}")
            watching = Watching(remote, RemoteMatch.of(answer), Wish(replay=timedelta(seconds=1)))
            show._heard = lambda _: times.append((watching._time(), watching._pace(1)))
            await watching._follow(show)
            assert watching._pace(1) == timedelta(0)

    asyncio.run(main())
    assert [time for time, _ in times] == [scene.at for scene in show.scenes]
    assert {pace for _, pace in times} == {timedelta(seconds=1)}
    assert all(
        scene.left(color, scene.at) > timedelta(seconds=200)
        for scene in show.scenes
        if scene.clocks
        for color in Color
    )


@pytest.mark.parametrize("is_paced", [False, True])
def test_a_board_needs_no_keyboard(service, mated, monkeypatch, is_paced):
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=80, height=24)
    monkeypatch.setattr(watching, "live_show", lambda wants_ascii, **more: Board(console, **more))
    wish = Wish(replay=timedelta(milliseconds=1) if is_paced else None, flipped=True)

    async def main():
        async with RemoteService.open(service.url) as remote:
            answer = await remote.get(f"api/matches/{mated['id']}")
            await Watching(remote, RemoteMatch.of(answer), wish).show()

    asyncio.run(asyncio.wait_for(main(), HANGS_AFTER))
    last = file.getvalue().rpartition("\x1b[?1049l")[2]
    assert "0-1: Black wins by checkmate" in last
    assert "h  g  f  e" in last


def test_what_time_it_is_there():
    time = ServiceTime()
    time.learn(now() + timedelta(seconds=1))
    assert abs(time() - now()) < timedelta(milliseconds=900)
    time.learn(now() + timedelta(hours=1))
    assert time() - now() > timedelta(minutes=59)
    time.stands_at = now()
    assert time() == time.stands_at


def test_on_a_terminal_json_commands_nothing(monkeypatch):
    line = json.dumps({"words": "\x9b2J \u202e é"}, ensure_ascii=False)
    shown = watching._harmless(line)
    assert shown.isascii()
    assert json.loads(shown) == json.loads(line)
    assert watching._harmless('{"é":1}') == '{"é":1}'


# --- on a terminal ---


def test_a_person_chooses_a_match_and_sees_it_to_its_end(service, client, live):
    size = {"columns": 80, "rows": 24, "environment": {"COLUMNS": "", "LINES": ""}}
    with on_terminal("watch", "--server", service.url, **size) as terminal:
        terminal.see("Which one?")
        assert live["id"][:18] in terminal.text
        terminal.enter("99")
        terminal.see("Type a number from 1 to ")
        terminal.enter(live["id"][:18])
        terminal.see("▶ human")
        play(client, live, "e4")
        terminal.see("1. e4")
        done(command(client, live, "draw", "white", action="offer"))
        terminal.see("White offers a draw.")
        terminal.type("f")
        terminal.see("h  g  f  e  d  c  b  a")
        terminal.resize(40, 20)
        terminal.see(lambda it: it.lines[0].endswith("─╮") and "White offers a draw." in it.text)
        terminal.resize(80, 24)
        done(command(client, live, "pause", reason="lunch"))
        terminal.see("Paused: lunch")
        done(command(client, live, "resume"))
        terminal.see(lambda it: "Paused" not in it.text)
        done(command(client, live, "draw", "black", action="accept"))
        assert terminal.see_end() == 0
    assert "1/2-1/2: draw by agreement" in terminal.text


@pytest.mark.parametrize(("key", "code"), [("ctrl-c", 130), ("q", 0)])
def test_whoever_leaves_has_the_terminal_as_it_was(service, live, key, code):
    shell = f"{KIBITZ} watch {live['id']} --server {service.url}; echo code $?; stty -a"
    with on_terminal("-c", shell, command="/bin/bash") as terminal:
        terminal.see("▶ human")
        if key == "q":
            terminal.type(key)
        else:
            terminal.press(key)
        assert terminal.see_end() == 0
        written = terminal.written.decode()
    assert f"code {code}" in written
    modes = written.partition("code")[2]
    assert " icanon" in modes
    assert " echo " in modes
    assert written.count("\x1b[?1049h") == written.count("\x1b[?1049l") == 1
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")


def test_advice_and_refusals_are_seen(service, client):
    match = start(client, "stubborn", "classical", time_control="300+3")
    with on_terminal("watch", match["id"], "--server", service.url, "--ascii") as terminal:
        terminal.see("1. e4")
        terminal.see_written("selector: ")
        command(client, match, "abort", reason="enough")
        assert terminal.see_end() == 0
        assert "enough" in terminal.text
        assert "tactical: " in terminal.text


def test_ctrl_z_gives_the_terminal_back_until_it_goes_on(service, live):
    # Only a shell with jobs can have it stopped: nobody could let an orphan go on.
    watched = f"{KIBITZ} watch {live['id']} --server {service.url}"
    shell = f"{watched}; stty -a; read -p 'Back? '; fg; echo code $?"
    with on_terminal("--norc", "-i", "-c", shell, command="/bin/bash") as terminal:
        terminal.see("▶ human")
        terminal.press("ctrl-z")
        terminal.see("Back?")
        stopped = terminal.written.decode()
        assert "Stopped" in stopped
        assert stopped.count("\x1b[?1049h") == stopped.count("\x1b[?1049l") == 1
        assert " icanon" in stopped
        assert " echo " in stopped
        terminal.enter()
        terminal.see(lambda it: it.written.count(b"\x1b[?1049h") == 2)
        terminal.see("▶ human")
        terminal.type("q")
        terminal.see("code 0")
        assert terminal.see_end() == 0


def test_a_service_that_dies_and_comes_back_is_watched_on(tmp_path):
    with page_process(tmp_path) as process:
        process.start()
        with process.served.client() as client:
            match = start(client)
            play(client, match, "e4")
        url = f"{process.url}/matches/{match['id']}"
        with on_terminal("watch", url) as terminal:
            terminal.see("1. e4")
            process.kill()
            terminal.see("The connection is lost, trying again in")
            process.start()
            terminal.see(lambda it: "connection" not in it.text)
            with process.served.client() as client:
                play(client, match, "e5 Nf3")
                terminal.see("2. Nf3")
                assert terminal.text.count("1. e4") == 1
                done(command(client, match, "resign", "black"))
            assert terminal.see_end() == 0
            assert "1-0: White wins: Black resigned" in terminal.text
        process.stop()
