"""What the doctor says of the machine."""

from __future__ import annotations

import io
import os
import shutil
import sys
from types import SimpleNamespace

import pytest

from app.doctor import machine
from app.doctor.findings import Sign
from app.doctor.machine import (
    look_at_browser,
    look_at_data_folder,
    look_at_python,
    look_at_terminal,
    nearest,
)
from tests.support.folders import as_somebody_else


def test_python():
    (finding,) = look_at_python()
    assert finding.sign is Sign.OK
    assert finding.case.startswith("{}.{}.{} (".format(*sys.version_info))
    (finding,) = look_at_python((3, 10))
    assert finding.sign is Sign.FAIL
    assert finding.advice == "install Python 3.11 or newer, and Kibitz with it"


# --- the data folder and its disk ---


def test_a_folder_that_is_there(tmp_path):
    folder, disk = look_at_data_folder(tmp_path)
    assert (folder.sign, folder.case) == (Sign.OK, f"{tmp_path} can be written")
    assert disk.figures["free_bytes"] > 0


def test_a_folder_that_can_be_made(tmp_path):
    folder, disk = look_at_data_folder(tmp_path / "a" / "b")
    assert (folder.sign, folder.figures) == (Sign.OK, {"exists": False})
    assert folder.case == f"{tmp_path / 'a' / 'b'} can be made, once something is kept"
    assert disk.case.endswith(f" free at {tmp_path}")
    assert not any(tmp_path.iterdir())


def test_a_folder_that_is_a_file(tmp_path):
    file = tmp_path / "file"
    file.touch()
    for path in (file, file / "within"):
        folder, _ = look_at_data_folder(path)
        assert (folder.sign, folder.case) == (Sign.FAIL, f"{file} is no folder")


def test_a_folder_of_somebody_else(tmp_path):
    path = tmp_path / "locked"
    path.mkdir(mode=0o500)
    with as_somebody_else():
        for each in (path, path / "within"):
            folder, _ = look_at_data_folder(each)
            assert folder.sign is Sign.FAIL
            assert folder.case.endswith(" cannot be written")
            assert folder.advice.startswith("let yourself write there: chmod u+rwx ")


def test_a_folder_in_a_home_that_nobody_knows():
    folder, _ = look_at_data_folder(machine.Path("~/.local/share/kibitz"))
    assert folder.sign is Sign.FAIL
    assert folder.advice == "set HOME, or data_folder in kibitz.toml to a whole path"


@pytest.mark.parametrize(
    ("free", "sign", "case"),
    [
        (0, Sign.FAIL, "0 MB free at "),
        (99_999_999, Sign.FAIL, "100 MB free at "),
        (100_000_000, Sign.WARN, "100 MB free at "),
        (999_999_999, Sign.WARN, "1,000 MB free at "),
        (1_000_000_000, Sign.OK, "1.0 GB free at "),
    ],
)
def test_the_room_on_a_disk(tmp_path, monkeypatch, free, sign, case):
    usage = SimpleNamespace(total=10, used=0, free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    _, disk = look_at_data_folder(tmp_path)
    assert (disk.sign, disk.case, bool(disk.advice)) == (sign, f"{case}{tmp_path}", sign != "ok")


def test_a_disk_without_room_for_a_file(tmp_path, monkeypatch):
    blocks = {"f_bavail": 10**9, "f_bfree": 10**9, "f_blocks": 10**9, "f_frsize": 4096}
    usage = SimpleNamespace(f_files=10, f_favail=0, **blocks)
    monkeypatch.setattr(os, "statvfs", lambda _: usage)
    _, disk = look_at_data_folder(tmp_path)
    assert (disk.sign, disk.case) == (Sign.FAIL, f"{tmp_path} has no room for another file")


def test_the_nearest_that_exists(tmp_path):
    assert nearest(tmp_path / "a" / ".." / "b") == tmp_path
    assert nearest(machine.Path("/nothing/here")) == machine.Path("/")


# --- the terminal ---


class Screen(io.TextIOWrapper):
    def isatty(self):
        return True


def seen(monkeypatch, encoding="utf-8", **environment):
    usual = {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    for name in ("NO_COLOR", "COLORTERM", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (usual | environment).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Screen(io.BytesIO(), encoding=encoding))
    (finding,) = look_at_terminal()
    assert finding.sign is Sign.NOTE
    return finding


def test_a_terminal(monkeypatch):
    finding = seen(monkeypatch)
    assert finding.case == "100 x 40, 256 colours, utf-8, TERM=xterm-256color"
    assert finding.advice == ""


@pytest.mark.parametrize(
    ("environment", "case", "advice"),
    [
        ({"COLORTERM": "truecolor"}, "all colours", ""),
        ({"NO_COLOR": "1"}, "no colours, as NO_COLOR asks", ""),
        ({"TERM": "dumb"}, "no colours, utf-8", ""),
        ({"encoding": "ascii"}, "ascii", "export LC_ALL=C.UTF-8"),
        ({"COLUMNS": "40"}, "40 x 40", "make it 60 x 24 or larger"),
        ({"LINES": "10"}, "100 x 10", "make it 60 x 24 or larger"),
    ],
)
def test_what_a_terminal_lacks(monkeypatch, environment, case, advice):
    finding = seen(monkeypatch, **environment)
    assert case in finding.case
    assert advice in finding.advice


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_no_terminal(monkeypatch, stream):
    monkeypatch.setattr(sys, "stdout", stream)
    (finding,) = look_at_terminal()
    assert finding.sign is Sign.NOTE
    assert finding.case == "the output is no terminal, so it has no colours and no board"


# --- the browser ---


def test_a_browser_that_is_named(tmp_path):
    (finding,) = look_at_browser({"KIBITZ_CHROMIUM": sys.executable})
    assert (finding.sign, finding.case.split(",")[0]) == (Sign.NOTE, sys.executable)
    (finding,) = look_at_browser({"KIBITZ_CHROMIUM": str(tmp_path)})
    assert finding.sign is Sign.WARN
    assert finding.advice == "unset KIBITZ_CHROMIUM, or let it name one"


def test_a_browser_that_is_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_PLACES", "")
    monkeypatch.setattr(machine, "_APPLICATIONS", (tmp_path / "Chromium",))
    (finding,) = look_at_browser({"PATH": str(tmp_path)})
    assert (finding.sign, finding.advice) == (Sign.NOTE, "make chromium")
    assert finding.case == "no Chromium is installed; only the tests of the page need it"
    shutil.copy("/bin/true", tmp_path / "Chromium")
    (finding,) = look_at_browser({"PATH": ""})
    assert finding.case.startswith(f"{tmp_path / 'Chromium'}, driven by Playwright ")
    shutil.copy("/bin/true", tmp_path / "google-chrome")
    (finding,) = look_at_browser({"PATH": str(tmp_path)})
    assert finding.case.startswith(f"{tmp_path / 'google-chrome'}, driven by Playwright ")


def test_without_playwright(monkeypatch):
    def missing(_):
        raise machine.PackageNotFoundError

    monkeypatch.setattr(machine, "version", missing)
    (finding,) = look_at_browser({})
    assert (finding.sign, finding.advice) == (Sign.NOTE, "make setup")
