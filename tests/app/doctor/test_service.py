"""What the doctor says of the service, of others in its place, and of nobody."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest

from app.doctor.findings import Sign
from app.doctor.service import look_at_service
from app.http.security import OpenToAll
from app.readiness import Check
from app.settings import load_settings
from tests.app.http.conftest import Parts, application
from tests.support.processes import HANGS_AFTER, run
from tests.support.servers import serving

PATIENCE = timedelta(seconds=HANGS_AFTER)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)


def looked(port, patience=PATIENCE, **others):
    settings = load_settings(port=port, **others)
    (finding,) = run(look_at_service(settings, patience))
    return finding


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def test_nobody_listens():
    port = free_port()
    finding = looked(port)
    assert finding.sign is Sign.NOTE
    assert finding.case == f"it does not run; http://127.0.0.1:{port} is free for it"
    assert finding.advice == "kibitz serve"


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost"])
def test_the_service_is_ready(host):
    async def fine():
        pass

    with serving(application(Parts(checks=[Check("database", fine, PATIENCE)]))) as served:
        finding = looked(served.port, host=host, allow_open=True)
    assert finding.sign is Sign.OK
    assert finding.case.endswith(f":{served.port}, and is ready")
    assert finding.figures["running"] is True


def test_the_service_is_not_ready():
    async def broken():
        raise RuntimeError

    with serving(application(Parts(checks=[Check("database", broken, PATIENCE)]))) as served:
        finding = looked(served.port)
    assert finding.sign is Sign.WARN
    assert finding.case == f"it runs at {served.url}, and cannot use: database"


@asynccontextmanager
async def listening(answer):
    """Listen, and give an answer to whoever comes; None is none at all."""

    async def talk(reader, writer):
        async with closing_late(writer):
            await reader.read(1)
            if answer is None:
                await reader.read()  # until the other goes
            writer.write(answer or b"")
            await writer.drain()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def closing_late(writer):
    try:
        with suppress(ConnectionError):
            yield
    finally:
        writer.close()


def page(body, status="200 OK", length=None):
    length = len(body) if length is None else length
    head = f"HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n"
    return head.encode() + body


def answered(answer, patience=PATIENCE):
    async def main():
        async with listening(answer) as port:
            (finding,) = await look_at_service(load_settings(port=port), patience)
            return finding, port

    return asyncio.run(main())


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
        page(b"<html>It works!</html>"),
        page(b'"ready"'),
        page(b'{"status": "fine"}'),
        page(b"[" * 50_000),
        page(b'{"status": "ready", "more": "' + b"x" * 100_000 + b'"}'),
        page(b"{}", length=5),
        page(b'{"detail": "Not Found"}', "404 Not Found"),
    ],
)
def test_another_program_listens(answer):
    finding, port = answered(answer)
    assert finding.sign is Sign.WARN
    assert finding.case == f"another program listens at http://127.0.0.1:{port}"
    assert finding.advice.startswith("choose another port, as in `kibitz serve --port 8001`")


def test_a_program_that_says_nothing():
    finding, port = answered(None, timedelta(seconds=0.2))
    assert finding.sign is Sign.WARN
    assert finding.case == f"something listens at http://127.0.0.1:{port} and says nothing"


def test_the_service_will_not_say():
    problem = json.dumps({"type": "/problems/wrong-host", "status": 403}).encode()
    finding, port = answered(page(problem, "403 Forbidden"))
    assert finding.sign is Sign.NOTE
    assert (
        finding.case == f"it runs at http://127.0.0.1:{port}, and does not say whether it is ready"
    )


def test_a_port_that_is_taken_by_who_does_not_listen():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        finding = looked(port)
    assert finding.sign is Sign.FAIL
    assert finding.case == f"it cannot listen on 127.0.0.1, port {port}: Address already in use"


def test_an_address_of_another_machine():
    finding = looked(1, timedelta(seconds=0.2), host="192.0.2.1", allow_open=True)
    assert finding.sign is Sign.FAIL
    assert finding.case.startswith("it cannot listen on 192.0.2.1, port 1: ")


@pytest.mark.parametrize("host", ["::", "::1"])
def test_addresses_of_the_newer_kind(host):
    finding = looked(free_port(), host=host, allow_open=True)
    assert finding.figures["url"].startswith("http://[::1]:")


def test_a_service_that_would_be_open_to_all():
    with pytest.raises(OpenToAll):
        looked(1, host="0.0.0.0")


def test_a_port_that_nobody_knows():
    assert looked(0).sign is Sign.NOTE
