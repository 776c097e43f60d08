"""Standard input and output, as a GUI has them at the other end."""

import asyncio
import errno
import io
import os
from datetime import timedelta
from pathlib import Path

import pytest

from app.uci.pipes import Input, LineFile, Log, Output
from tests.support.processes import HANGS_AFTER, steps_of_the_loop

pytestmark = pytest.mark.asyncio

FULL = Path("/dev/full")


async def lines_of(stream):
    return [line async for line in Input(stream, Log())]


@pytest.mark.parametrize("blocks", [True, False])
async def test_lines_come_from_a_pipe_as_they_are_written(blocks):
    reading, writing = os.pipe()
    os.set_blocking(reading, blocks)
    with os.fdopen(reading, "rb") as stream:
        lines = aiter(Input(stream, Log()))
        os.write(writing, b"uci\nis")
        assert await anext(lines) == "uci"
        os.write(writing, b"ready\n")
        assert await anext(lines) == "isready"
        os.write(writing, b"quit")
        os.close(writing)
        assert [line async for line in lines] == ["quit"]


async def test_lines_come_from_a_file_and_from_memory(tmp_path):
    file = tmp_path / "commands"
    file.write_bytes(b"uci\n\xff\nquit")
    with file.open("rb") as stream:
        assert await lines_of(stream) == ["uci", "\N{REPLACEMENT CHARACTER}", "quit"]
    assert await lines_of(io.BytesIO(b"")) == []


async def test_whoever_writes_faster_than_we_read_has_to_wait():
    served = 0

    class Endless(io.RawIOBase):
        def read(self, size=-1):
            nonlocal served
            served += 1
            return b"isready\n" * (size // 8)

    input_ = Input(Endless(), Log())
    lines = aiter(input_)
    assert await anext(lines) == "isready"
    for _ in range(100):
        await asyncio.sleep(0)
    assert served <= 10
    input_.end()
    await lines.aclose()


async def test_what_cannot_be_read_is_an_end():
    class Broken(io.RawIOBase):
        def read(self, size=-1):
            raise OSError(errno.EIO, "the terminal is gone")

    assert await lines_of(Broken()) == []


async def test_input_ends_when_told_so():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream:
        input_ = Input(stream, Log())
        lines = aiter(input_)
        os.write(writing, b"uci\n")
        assert await anext(lines) == "uci"
        input_.end()
        assert [line async for line in lines] == []
        os.close(writing)


async def test_each_line_is_written_at_once():
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with os.fdopen(writing, "wb") as stream:
        output = Output(stream, Log(), lambda: None)
        output.tell("uciok")
        assert os.read(reading, 100) == b"uciok\n"
        output.tell("info string \udcff ♘")
        assert os.read(reading, 100) == "info string ? ♘\n".encode()
    os.close(reading)


@pytest.mark.parametrize("blocks", [True, False])
async def test_who_does_not_read_is_not_waited_for_nor_listened_to(blocks):
    reading, writing = os.pipe()
    os.set_blocking(writing, blocks)
    lines = ["info string " + "x" * 390] * 5000  # more than a pipe holds, and more than is kept
    with os.fdopen(writing, "wb") as stream, os.fdopen(reading, "rb") as gui:
        output = Output(stream, Log(), lambda: None)
        for line in lines:
            output.tell(line)
        listening = asyncio.ensure_future(anext(output.paced(Input(io.BytesIO(b"uci\n"), Log()))))
        await steps_of_the_loop(100)
        assert not listening.done()
        size = sum(len(line) + 1 for line in lines)
        told = await asyncio.to_thread(gui.read, size)
        assert told.decode().splitlines() == lines
        assert await listening == "uci"
        await output.finish(timedelta(seconds=HANGS_AFTER))


async def test_who_neither_reads_nor_writes_any_more_is_gone():
    (reading, writing), (said, saying) = os.pipe(), os.pipe()
    with os.fdopen(writing, "wb") as stream, os.fdopen(said, "rb") as gui:
        output = Output(stream, Log(), lambda: None)
        output.tell("x" * 2_000_000)
        os.write(saying, b"uci\n" * 10_000)
        os.close(saying)
        assert [line async for line in output.paced(Input(gui, Log()))] == []
        await output.finish(timedelta(0))
    os.close(reading)


async def test_in_the_end_who_does_not_read_is_given_up():
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as stream:
        output = Output(stream, Log(), lambda: None)
        output.tell("x" * 100_000)
        await output.finish(timedelta(0))
    os.close(reading)


async def test_nobody_reads_any_more():
    reading, writing = os.pipe()
    os.close(reading)
    broken = []
    with os.fdopen(writing, "wb") as stream:
        output = Output(stream, Log(), lambda: broken.append(1))
        output.tell("uciok")
        output.tell("readyok")
    assert broken == [1]
    assert output.error is None


async def test_what_cannot_be_written_is_kept_for_whoever_asks():
    with os.fdopen(os.open(FULL, os.O_WRONLY), "wb", buffering=0) as stream:
        output = Output(stream, Log(), lambda: None)
        output.tell("uciok")
    assert output.error.errno == errno.ENOSPC


async def test_the_log_has_both_sides_and_no_escape_sequences():
    said = []
    log = Log(said.append)
    assert [line async for line in Input(io.BytesIO(b"uci\r\n\x1b[2J\n" + b"x" * 300_000), log)]
    Output(io.BytesIO(), log, lambda: None).tell("uciok")
    assert [line.split(" ", 2)[2] for line in said] == [
        "> uci",
        "> \\x1b[2J",
        "> (a line that is too long)",
        "< uciok",
    ]


async def test_lines_are_added_to_a_file(tmp_path):
    for line in ("one", "two \udcff"):
        file = LineFile(tmp_path / "log")
        file.add(line)
        file.close()
        file.close()
    assert (tmp_path / "log").read_text() == "one\ntwo ?\n"


async def test_a_full_disk_is_told_once(capsys):
    file = LineFile(FULL)
    file.add("one")
    file.add("two")
    assert capsys.readouterr().err == (
        "kibitz: /dev/full is not written on: No space left on device\n"
    )
