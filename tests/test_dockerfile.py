"""The Dockerfile fits the project: what it copies is there, and what it runs, runs."""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import tomllib
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import typer

from app.cli.commands import cli
from app.settings import Settings

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


def instructions():
    """Return the stages, each as pairs of an instruction and what follows it."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    stages = []
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line.strip():
            name, _, rest = line.partition(" ")
            if name == "FROM":
                stages.append([])
            stages[-1].append((name, rest.strip()))
    return stages


STAGES = instructions()
BUILD, LAST = STAGES


def all_of(stage, name):
    return [rest for each, rest in stage if each == name]


def one_of(stage, name):
    (found,) = all_of(stage, name)
    return found


def copied(stage):
    """Return what is copied from the project, each with where it goes."""
    found = {}
    for rest in all_of(stage, "COPY"):
        *sources, target = shlex.split(rest)
        if not sources[0].startswith("--from"):
            found |= dict.fromkeys(sources, target)
    return found


def variables(stage):
    return dict(
        pair.split("=", 1) for rest in all_of(stage, "ENV") for pair in shlex.split(rest)
    )  # fmt: skip


def test_the_last_stage_has_only_what_it_needs():
    assert copied(LAST) == {}
    (rest,) = all_of(LAST, "COPY")
    assert "--from=build" in rest
    assert one_of(BUILD, "FROM") == f"{one_of(LAST, 'FROM')} AS build"  # or the venv has no Python


def test_its_python_is_one_that_we_run_on():
    major, minor = re.search(r"python:(\d+)\.(\d+)-slim", one_of(LAST, "FROM")).groups()
    least = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["project"]["requires-python"]).groups()
    assert (int(major), int(minor)) >= tuple(map(int, least))


def test_what_is_copied_is_there_and_not_ignored():
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines[0] == "*"  # nothing gets in by accident
    let_in = {line.removeprefix("!") for line in lines if line.startswith("!")}
    for source in copied(BUILD):
        assert (ROOT / source).exists(), source
        assert source in let_in
    assert let_in == set(copied(BUILD))


def test_all_of_the_wheel_is_copied_before_it_is_built():
    needed = {*WHEEL["packages"], *WHEEL["force-include"], "pyproject.toml"}
    needed |= {PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]}
    assert needed <= set(copied(BUILD))
    for folder in (*WHEEL["packages"], *WHEEL["force-include"]):
        assert copied(BUILD)[folder] == folder
    *_, (name, rest) = BUILD
    assert (name, rest.endswith("--no-deps .")) == ("RUN", True)


def test_dependencies_are_pinned_by_hashes():
    assert any("--require-hashes -r requirements.txt" in rest for rest in all_of(BUILD, "RUN"))
    assert "--hash=sha256:" in (ROOT / "requirements.txt").read_text()


def test_the_wheel_has_migrations_and_data(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    for source, target in WHEEL["force-include"].items():
        for path in (ROOT / source).rglob("*.py"):
            assert f"{target}/{path.relative_to(ROOT / source)}" in packed
    for package in WHEEL["packages"]:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert str(path.relative_to(ROOT)) in packed


def test_it_runs_as_somebody_who_is_not_root_and_owns_the_data():
    number, group = one_of(LAST, "USER").split(":")
    assert (int(number), int(group)) > (0, 0)
    (run,) = all_of(LAST, "RUN")
    assert f"useradd --uid {number} --user-group" in run
    folder = one_of(LAST, "VOLUME")
    assert f"install -d -o kibitz -g kibitz {folder}" in run
    assert variables(LAST)["KIBITZ_DATA_FOLDER"] == folder
    names = [name for name, _ in LAST]
    assert names.index("RUN") < names.index("USER") < names.index("VOLUME") < names.index("CMD")


def test_stockfish_is_inside():
    (run,) = all_of(LAST, "RUN")
    assert "apt-get install -y --no-install-recommends stockfish" in run
    assert variables(LAST)["STOCKFISH_PATH"] == "/usr/games/stockfish"  # Debian's


def test_variables_are_settings():
    ours = [name for name in variables(LAST) if name.startswith("KIBITZ_")]
    assert {name.removeprefix("KIBITZ_").lower() for name in ours} <= set(Settings.model_fields)
    port = variables(LAST)["KIBITZ_PORT"]
    assert one_of(LAST, "EXPOSE") == port == str(Settings.model_fields["port"].default)


def test_the_command_is_one_of_ours_and_stops_in_order():
    assert json.loads(one_of(LAST, "ENTRYPOINT")) == ["kibitz"]
    arguments = json.loads(one_of(LAST, "CMD"))
    group = typer.main.get_command(cli)
    with group.make_context("kibitz", list(arguments)) as context:
        name, command, rest = group.resolve_command(context, arguments)
        values = command.make_context(name, rest, parent=context).params
    assert name == "serve"
    assert values["host"] == "0.0.0.0"
    assert values["database"] is None
    assert one_of(LAST, "STOPSIGNAL") == "SIGTERM"


def test_it_does_not_start_open_to_the_world(tmp_path):
    arguments = json.loads(one_of(LAST, "CMD"))
    environment = {name: each for name, each in os.environ.items() if "KIBITZ" not in name}
    environment |= {"KIBITZ_DATA_FOLDER": str(tmp_path), "KIBITZ_PORT": "0"}
    run = subprocess.run(
        [Path(sys.executable).with_name("kibitz"), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 2
    assert "KIBITZ_API_TOKENS" in run.stderr
    assert run.stderr.count("\n") == 1


def health(port, **more):
    options, _, command = one_of(LAST, "HEALTHCHECK").partition(" CMD ")
    assert "--interval=" in options
    program, *arguments = json.loads(command)
    assert program == "python"
    environment = os.environ | {"KIBITZ_PORT": str(port)} | more
    run = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, check=False, timeout=60
    )
    return run.returncode


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (404, 1), (204, 1)])
def test_health_is_what_the_service_says(status, code):
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.status, server.asked = status, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        assert health(port, http_proxy="http://127.0.0.1:9") == code
        assert server.asked == ["/healthz"]
        server.shutdown()
    assert health(port) == 1  # nobody is there any more
