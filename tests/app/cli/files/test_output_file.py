"""Files that are written whole or not at all, whatever is at their name, or beside it."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.files.output_file import CannotWriteFile, OutputFile
from tests.support.processes import HANGS_AFTER

#: Writes a few lines to what is named.
_WRITE = """
import sys
from pathlib import Path
from app.cli.files.output_file import open_output
with open_output(Path(sys.argv[1]), force=False) as file:
    print("before", flush=True)
    file.write("one\\ntwo\\n")
print("after")
"""


def write(path, text="text", **options):
    with OutputFile(path, **options) as file:
        file.write(text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def shell(command, folder):
    run = subprocess.run(
        ["bash", "-c", command, sys.executable, _WRITE],
        capture_output=True, text=True, timeout=HANGS_AFTER, check=True, cwd=folder,
    )  # fmt: skip
    assert run.stderr == ""
    return run.stdout


def test_the_longest_name_that_there_is_can_be_written(tmp_path):
    path = tmp_path / ("a" * 255)
    write(path)
    assert path.read_text() == "text"


def test_what_another_one_left_behind_is_in_nobodys_way(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.unlink", lambda *_, **__: None)  # as if it were killed
        with OutputFile(tmp_path / "out"):
            pass
    left = names(tmp_path)
    assert len(left) == 1
    write(tmp_path / "out")
    assert names(tmp_path) == [*left, "out"]


def test_if_nothing_is_written_all_stays_as_it_was(tmp_path):
    path = tmp_path / "out"
    with OutputFile(path):
        pass
    assert names(tmp_path) == []
    path.write_text("precious")
    with OutputFile(path, force=True):
        pass
    assert path.read_text() == "precious"
    write(path, "", force=True)
    assert path.read_text() == ""


def test_what_is_replaced_can_be_read_by_nobody_else_than_before(tmp_path):
    path = tmp_path / "out"
    before = os.umask(0o027)
    try:
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    finally:
        os.umask(before)
    path.chmod(0o600)
    write(path, "other", force=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "other"


def test_a_folder_that_one_may_not_look_into_is_written_into(tmp_path, monkeypatch):
    opening = os.open

    def refusing(path, flags, *more, **options):
        if Path(path).is_dir():
            raise PermissionError(13, "not to be looked into")
        return opening(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", refusing)  # root may look into any
    write(tmp_path / "out")
    assert (tmp_path / "out").read_text() == "text"


def test_a_link_is_followed_and_a_folder_made(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "out")
    with pytest.raises(CannotWriteFile, match="No such file or directory"):
        write(tmp_path / "link")
    write(tmp_path / "link", makes_folder=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "deep" / "out").read_text() == "text"


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ('"$0" -c "$1" /dev/stdout | cat', "before\none\ntwo\nafter\n"),
        ('"$0" -c "$1" /dev/stdout > out; cat out', "before\none\ntwo\nafter\n"),
        ('"$0" -c "$1" - > out; cat out', "before\none\ntwo\nafter\n"),
        ('{ "$0" -c "$1" >(cat >&3) > out; } 3>&1 | cat', "one\ntwo\n"),
    ],
)
def test_standard_output_and_pipes_are_written_to_by_their_names(tmp_path, line, printed):
    assert shell(line, tmp_path) == printed
