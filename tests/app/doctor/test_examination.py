"""Checks side by side: none keeps another from what it has to say."""

from __future__ import annotations

import asyncio
import errno
import threading
from datetime import timedelta

import pytest

from agents.uci.errors import UciNotFound
from app.doctor.examination import Check, examine, in_thread
from app.doctor.findings import Sign, failure, fine
from app.errors import AppError
from engine import InvalidFen
from tests.support.processes import HANGS_AFTER, run

SECRET = "what-nobody-may-see"


def check(look, seconds=HANGS_AFTER):
    return Check("It", look, "mend it", timedelta(seconds=seconds))


def raising(error):
    async def look():
        raise error

    return look


def examined(*checks):
    done = []
    return run(examine(checks, done.append)), done


async def is_well():
    return [fine("It", "well")]


async def hangs():
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("error", "case"),
    [
        (AppError("it is gone"), "it is gone"),
        (UciNotFound("E", "/e"), "E was not found at '/e'"),
        (InvalidFen("x", "y"), str(InvalidFen("x", "y"))),
        (PermissionError(errno.EACCES, "Permission denied"), "Permission denied"),
        (OSError("nobody knows"), "OSError"),
        (TimeoutError(errno.ETIMEDOUT, "Connection timed out"), "Connection timed out"),
        (TimeoutError(), "it took too long"),
    ],
)
def test_what_goes_wrong_is_found(error, case):
    (first, last), done = examined(check(raising(error)), check(is_well))
    assert first == failure("It", case, "mend it")
    assert last == fine("It", "well")
    assert len(done) == 2


def test_a_defect_of_ours_is_told_without_its_words():
    (finding, last), _ = examined(check(raising(ZeroDivisionError(SECRET))), check(is_well))
    assert finding.sign is Sign.FAIL
    assert finding.case == "the check itself is broken: ZeroDivisionError"
    assert SECRET not in repr(finding)
    assert last.sign is Sign.OK


def test_what_hangs_ends_and_the_others_have_their_say():
    findings, done = examined(check(hangs, 0.01), check(is_well))
    assert [each.sign for each in findings] == [Sign.FAIL, Sign.OK]
    assert findings[0].case == "there is no answer after 0.01 s"
    assert len(done) == 2


def test_they_are_made_side_by_side_and_told_in_order():
    async def first():
        await met.wait()
        return [fine("It", "first"), fine("It", "and more")]

    async def second():
        met.set()
        return [fine("It", "second")]

    met = asyncio.Event()
    findings, done = examined(one := check(first), other := check(second))
    assert [each.case for each in findings] == ["first", "and more", "second"]
    assert done == [other, one]


def test_a_thread_that_hangs_keeps_nobody_waiting():
    go_on = threading.Event()
    ended = threading.Event()

    def hang():
        go_on.wait(HANGS_AFTER)
        ended.set()

    (finding,), _ = examined(check(lambda: in_thread(hang), 0.01))
    assert finding.sign is Sign.FAIL
    go_on.set()
    assert ended.wait(HANGS_AFTER)  # with nobody to tell, since the loop is closed


def test_a_thread_tells_what_it_found():
    async def main():
        assert await in_thread(lambda: 3) == 3
        with pytest.raises(ValueError, match="no"):
            await in_thread(lambda: int("no"))

    run(main())


def test_a_thread_that_ends_too_late_is_not_heard():
    async def main():
        go_on = threading.Event()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await in_thread(lambda: go_on.wait(HANGS_AFTER))
        go_on.set()
        for thread in threading.enumerate():
            if thread.name == "doctor":
                thread.join(HANGS_AFTER)
        await asyncio.sleep(0)

    run(main())
