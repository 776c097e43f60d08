"""What a service answers, in words for whoever asked; and whom the token is shown."""

import asyncio
import contextlib
import json
import os
import ssl

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli.remote import service as remote_service
from app.cli.remote.connection_faults import why
from app.cli.remote.service import (
    NotThere,
    RemoteService,
    ServiceFailed,
    ServiceRefused,
    Token,
    UnusableToken,
)
from tests.support.processes import HANGS_AFTER
from tests.support.servers import serving

SECRET = "a-secret-token"
TOKEN = Token(SECRET, "KIBITZ_TOKEN")


class Answers:
    """Answers every request alike, and notes what it was asked."""

    def __init__(self, status=200, body=b"{}", **headers):
        self.status = status
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.headers = headers
        self.asked = []

    async def __call__(self, scope, receive, send):
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.asked.append((scope["path"], headers))
        named = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": named})
        await send({"type": "http.response.body", "body": self.body})


async def asked(address, token=None, path="api/matches"):
    async with RemoteService.open(address, token) as service:
        return await service.get(path, limit=3)


def ask(answers, token=None, below=""):
    with serving(answers, lifespan="off") as served:
        return asyncio.run(asyncio.wait_for(asked(served.url + below, token), HANGS_AFTER))


def problem(status, detail="a reason", kind="about:blank"):
    return Answers(status, {"type": kind, "title": "A title", "detail": detail, "status": status})


def test_what_is_asked_for_is_below_the_address():
    answers = Answers(body={"a": 1})
    assert ask(answers, below="/chess") == {"a": 1}
    path, headers = answers.asked[0]
    assert path == "/chess/api/matches"
    assert "authorization" not in headers


@pytest.mark.parametrize(
    ("answers", "token", "error", "said"),
    [
        (problem(404, "there is no such match"), None, NotThere, "there is no such match"),
        (problem(401), None, ServiceRefused, "wants a token: set KIBITZ_TOKEN, or name a"),
        (problem(401), TOKEN, ServiceRefused, "does not know the token of KIBITZ_TOKEN"),
        (problem(403, "not\x1b[2J you"), TOKEN, ServiceRefused, "refuses: not you"),
        (problem(422, "what?"), None, ServiceRefused, "refuses: what?"),
        (problem(429, "too many"), None, ServiceFailed, "refuses: too many"),
        (problem(503, "no database"), None, ServiceFailed, "refuses: no database"),
        (Answers(401, b"<html>"), None, ServiceRefused, "wants a token"),
        (Answers(404, b"<html>"), None, ServiceFailed, "is no service of Kibitz"),
        (Answers(404, {"error": "no"}), None, ServiceFailed, "is no service of Kibitz"),
        (Answers(502, b"<html>"), None, ServiceFailed, "answers 502"),
        (Answers(200, b"<html>"), None, ServiceFailed, "is no service of Kibitz"),
        (Answers(200, b"[]"), None, ServiceFailed, "is no service of Kibitz"),
        (Answers(200, b"[" * 200_000), None, ServiceFailed, "is no service of Kibitz"),
        (Answers(200, b'"' + b"x" * 17_000_000), None, ServiceFailed, "is no service of Kibitz"),
        (Answers(200, b"x" * 99, **{"content-encoding": "gzip"}), None, ServiceFailed, "cannot be"),
        (Answers(302, location="/again"), None, ServiceFailed, "from one address to the next"),
        (Answers(302, location="ftp://x/"), None, ServiceFailed, "cannot be reached"),
        (Answers(302, location="http://[/"), None, ServiceFailed, "cannot be reached"),
    ],
)
def test_what_a_service_refuses_is_said_in_a_sentence(answers, token, error, said):
    with pytest.raises(error) as raised:
        ask(answers, token)
    assert said in str(raised.value)
    assert str(raised.value).isprintable()
    assert SECRET not in str(raised.value)


def test_no_service_is_reached():
    with serving(Answers(), lifespan="off") as served:
        closed = served.url
    with pytest.raises(ServiceFailed, match="nobody listens there"):
        asyncio.run(asked(closed))


def test_an_answer_that_does_not_come_to_an_end(monkeypatch):
    class Drips(Answers):
        async def __call__(self, scope, receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": []})
            with contextlib.suppress(OSError):
                while True:
                    more = {"type": "http.response.body", "body": b" ", "more_body": True}
                    await send(more)
                    if (await receive())["type"] == "http.disconnect":
                        return

    monkeypatch.setattr(remote_service, "_PATIENCE", 0.2)
    with pytest.raises(ServiceFailed, match="does not answer in time"):
        ask(Drips())


def test_a_service_that_speaks_no_tls():
    with serving(Answers(), lifespan="off") as served:
        address = served.url.replace("http:", "https:")
        with pytest.raises(ServiceFailed, match="it does not speak TLS"):
            asyncio.run(asked(address))


def unknown_host():
    error = httpx.ConnectError("x")
    import socket

    error.__cause__ = ExceptionGroup("all", [socket.gaierror(-2, "unknown")])
    return error


def untrusted():
    certificate = ssl.SSLCertVerificationError(1, "failed")
    certificate.verify_message = "self-signed\x1b[2J certificate"
    error = httpx.ConnectError("x")
    error.__context__ = certificate
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (unknown_host(), "no host of that name is known"),
        (untrusted(), "its certificate is not to be trusted (self-signed certificate)"),
        (httpx.ConnectTimeout("x"), "it does not answer in time"),
        (OSError(101, "Network is unreachable"), "Network is unreachable"),
        (httpx.ReadError(""), "ReadError"),
        (httpx.ReadError("bro\x1b[2Jken"), "broken"),
    ],
)
def test_why_a_connection_fails(error, said):
    assert why(error) == said


# --- the token ---


def test_the_token_is_shown_to_the_service():
    answers = Answers()
    ask(answers, TOKEN)
    assert answers.asked[0][1]["authorization"] == f"Bearer {SECRET}"


def test_a_redirect_takes_the_token_to_the_same_host_only():
    class Redirects(Answers):
        async def __call__(self, scope, receive, send):
            if scope["path"] != "/api/matches":
                self.status, self.headers = 200, {}
            await super().__call__(scope, receive, send)

    elsewhere = Answers()
    with serving(elsewhere, lifespan="off") as other:
        ask(Answers(307, location=f"{other.url}/elsewhere"), TOKEN)
    path, headers = elsewhere.asked[0]
    assert path == "/elsewhere"
    assert SECRET not in str(headers)
    here = Redirects(307, location="/here")
    ask(here, TOKEN)
    assert [headers["authorization"] for _, headers in here.asked] == [f"Bearer {SECRET}"] * 2


@pytest.mark.parametrize(
    ("service", "address", "is_shown"),
    [
        ("", "http://example.org", True),
        ("http://example.org", "http://example.org", True),
        ("http://example.org:80/chess", "http://EXAMPLE.org", True),
        ("https://example.org", "http://example.org", False),
        ("http://example.org:8000", "http://example.org", False),
        ("http://example.org", "http://example.org.evil.net", False),
    ],
)
def test_a_token_is_for_the_service_that_is_named_beside_it(service, address, is_shown):
    token = Token.find(None, service, {"KIBITZ_TOKEN": SECRET})
    assert token.is_for(address) is is_shown


def test_a_service_that_the_token_is_not_for_does_not_get_it():
    answers = problem(401)
    with pytest.raises(ServiceRefused, match=r"is for http://example\.org: name a --token-file"):
        ask(answers, Token(SECRET, "KIBITZ_TOKEN", "http://example.org"))
    assert SECRET not in str(answers.asked)


def test_a_token_is_never_printed():
    assert SECRET not in repr(TOKEN)


def test_a_token_is_found(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    assert Token.find(None, environment={}) is None
    assert Token.find(None, environment={"KIBITZ_TOKEN": " "}) is None
    assert Token.find(None, environment={"KIBITZ_TOKEN": f"{SECRET}\n"}) == TOKEN
    assert Token.find(file, environment={"KIBITZ_TOKEN": "another-one"}) == Token(SECRET, str(file))


def test_a_token_may_come_through_a_pipe():
    reader, writer = os.pipe()
    os.write(writer, SECRET.encode())
    os.close(writer)
    try:
        from pathlib import Path

        assert Token.find(Path(f"/dev/fd/{reader}")).secret == SECRET
    finally:
        os.close(reader)


@pytest.mark.parametrize("content", [b"", b"short", b"two words!", b"\xff" * 20, b"x" * 5000])
def test_a_file_without_a_token_is_refused(tmp_path, content):
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(UnusableToken, match="there is no token in"):
        Token.find(file, environment={})


@pytest.mark.parametrize("name", ["missing", ".", "a\0b"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name):
    with pytest.raises(UnusableToken, match="cannot be read"):
        Token.find(tmp_path / name)


@given(st.text(min_size=1))
@settings(deadline=None)
def test_whatever_the_variable_holds_is_taken_or_refused(secret):
    try:
        token = Token.find(None, environment={"KIBITZ_TOKEN": secret})
    except UnusableToken as error:
        said = str(error)
    else:
        said = ""
        assert token is None or token.secret.isascii()
    assert not said or said.startswith("there is no token in KIBITZ_TOKEN")
