"""Who may do what: tokens, scopes, and what an open service refuses to browsers."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from hashlib import sha256

import httpx
import pytest
from fastapi import APIRouter
from pydantic import SecretStr

from app.errors import AppError
from app.http.dependencies import AnyClient, ReadScope, WriteScope
from app.http.security import Access, OpenToAll, check_binding, is_loopback
from app.settings import ApiToken, Scope, Settings
from tests.app.http.conftest import Parts, application, check_problem, served
from tests.support.servers import Served

READER, WRITER, BARE = "reader-secret-1", "writer-secret-2", "bare+secret/3=="
TOKENS = f"read:{READER},write:{WRITER},{BARE}"


def routes() -> APIRouter:
    router = APIRouter()

    @router.get("/read")
    async def read(client: ReadScope) -> str:
        return client.name

    @router.post("/write")
    async def write(client: WriteScope) -> str:
        return client.name

    @router.post("/any")
    async def any_client(client: AnyClient) -> str:
        return client.name

    return router


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    """A client of a service with tokens."""
    parts = Parts(Settings(api_tokens=TOKENS))
    with served(parts, routes()) as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def open_server() -> Iterator[Served]:
    """A service without."""
    with served(Parts(Settings(allowed_hosts="Chess.example, 192.0.2.7")), routes()) as server:
        yield server


@pytest.fixture(scope="module")
def open_client(open_server: Served) -> Iterator[httpx.Client]:
    with open_server.client() as client:
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


# --- tokens and scopes ---


@pytest.mark.parametrize(
    ("token", "read", "write"), [(READER, 200, 403), (WRITER, 200, 200), (BARE, 200, 200)]
)
def test_scopes(client, token, read, write):
    assert client.get("/read", headers=bearer(token)).status_code == read
    assert client.post("/write", headers=bearer(token)).status_code == write


def test_a_scope_that_is_too_small_is_named(client):
    response = client.post("/write", headers=bearer(READER))
    assert check_problem(response, 403, "insufficient-scope")["detail"] == "the token may only read"
    assert 'error="insufficient_scope", scope="write"' in response.headers["www-authenticate"]


#: What is sent as `Authorization`, and whether a token is in it.
NO_TOKEN = {
    "nothing": ([], False),
    "an empty one": ([""], False),
    "another scheme": ([f"Basic {WRITER}"], False),
    "no scheme": ([WRITER], False),
    "no token": (["Bearer"], False),
    "two": ([f"Bearer {WRITER}", f"Bearer {WRITER}"], False),
    "an unknown one": (["Bearer other-secret"], True),
    "half of one": ([f"Bearer {WRITER[:-1]}"], True),
    "more than one": ([f"Bearer {WRITER}x"], True),
    "two in one": ([f"Bearer {WRITER} {WRITER}"], True),
    "its entry": ([f"Bearer write:{WRITER}"], True),
    "its digest": ([f"Bearer {sha256(WRITER.encode()).hexdigest()}"], True),
    "not ASCII": ([b"Bearer \xff\xfe".decode("latin-1")], True),
}


@pytest.mark.parametrize(("values", "has_token"), NO_TOKEN.values(), ids=NO_TOKEN)
@pytest.mark.parametrize(("method", "path"), [("GET", "/read"), ("POST", "/write")])
def test_a_token_that_is_missing_or_wrong(client, method, path, values, has_token):
    headers = [("Authorization", value.encode("latin-1")) for value in values]
    response = client.request(method, path, headers=headers)
    check_problem(response, 401, "unauthenticated")
    challenge = response.headers["www-authenticate"]
    assert challenge.startswith('Bearer realm="kibitz"')
    assert ('error="invalid_token"' in challenge) == has_token


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer "])
def test_schemes_in_any_case(client, scheme):
    response = client.get("/read", headers={"Authorization": f"{scheme} {READER}"})
    assert response.status_code == 200


def test_who_has_no_token_can_come_with_another_secret(client):
    response = client.post("/any", headers=bearer("the-secret-of-a-seat"))
    assert response.json() == "address:127.0.0.1"


def test_without_tokens_everybody_may_do_everything(open_client):
    assert open_client.get("/read").json() == "address:127.0.0.1"
    assert open_client.post("/write").json() == "address:127.0.0.1"
    assert open_client.post("/write", headers=bearer("whatever")).status_code == 200


#: Open to everybody, always: nothing is told there that is not told in the README.
PUBLIC = {"/healthz", "/readyz"}


def test_every_route_needs_a_token(client):
    document = client.get("/openapi.json").json()
    asked = 0
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if path in PUBLIC or path == "/any":
                continue
            response = client.request(method, path, json={})
            check_problem(response, 401, "unauthenticated")
            assert operation["security"] == [{"token": []}]
            asked += 1
    assert asked >= 6


def test_positions_and_players_can_be_read(client):
    assert client.post("/api/positions/moves", json={}, headers=bearer(READER)).status_code == 200
    assert client.get("/api/players", headers=bearer(READER)).status_code == 200
    assert client.get("/metrics", headers=bearer(READER)).status_code == 200
    assert client.get("/docs").status_code == 200


def test_an_open_service_does_not_ask_for_tokens_in_its_document(open_client):
    document = open_client.get("/openapi.json").json()
    assert "securitySchemes" not in document["components"]
    assert '"security"' not in str(document)


# --- who is who ---


def connection(peer: tuple[str, int] | None, *headers: tuple[bytes, bytes]) -> dict:
    return {"type": "http", "client": peer, "headers": list(headers)}


PEERS = {
    "IPv4": (("192.0.2.1", 5), "address:192.0.2.1"),
    "IPv4 in IPv6": (("::ffff:192.0.2.1", 5), "address:192.0.2.1"),
    "IPv6": (("2001:db8:1:2:3::4", 5), "address:2001:db8:1:2::/64"),
    "a neighbour": (("2001:db8:1:2:ffff::1", 5), "address:2001:db8:1:2::/64"),
    "with a zone": (("fe80::1%eth0", 5), "address:fe80::/64"),
    "a socket": (None, "local"),
    "an odd one": (("testclient", 5), "local"),
}


@pytest.mark.parametrize(("peer", "name"), PEERS.values(), ids=PEERS)
def test_clients_are_known_by_their_addresses(peer, name):
    assert Access(()).client(connection(peer)).name == name


def test_clients_are_known_by_their_tokens():
    access = Access(
        [ApiToken(Scope.READ, SecretStr(READER)), ApiToken(Scope.WRITE, SecretStr(BARE))]
    )
    names = set()
    for token in (READER, BARE):
        for peer in (("192.0.2.1", 5), None):
            asked = access.client(connection(peer, (b"authorization", f"Bearer {token}".encode())))
            names.add(asked.name)
            assert token not in repr(asked)
            assert sha256(token.encode()).hexdigest()[:12] not in asked.name
    assert len(names) == 2
    assert all(name.startswith("token:") and len(name) == 18 for name in names)


# --- secrets ---


def test_no_secret_is_told_or_logged(client, caplog):
    with caplog.at_level(logging.DEBUG):
        answers = [
            client.get("/read", headers=bearer(READER)),
            client.post("/write", headers=bearer(READER)),
            client.post("/write", headers=bearer(f"{WRITER}x")),
            client.get("/nope", headers=bearer(WRITER)),
            client.post("/api/positions/moves", content=b"{", headers=bearer(WRITER)),
        ]
    told = "".join(f"{answer.headers}{answer.text}" for answer in answers)
    logged = "".join(str(vars(each)) for each in caplog.records if each.name.startswith("app."))
    assert logged
    for secret in (READER, WRITER, BARE):
        assert secret not in told
        assert secret not in logged


def test_the_application_keeps_no_secret():
    app = application(Parts(Settings(api_tokens=TOKENS)))
    for secret in (READER, WRITER, BARE):
        assert secret not in str(vars(app.state.gates.access))
        assert secret not in repr(app.state.services)
        assert secret not in str(app.state.services.settings.model_dump())


# --- where it may listen ---

LOOPBACK = ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.8.9.1", "::1", "[::1]",
            "::ffff:127.0.0.1"]  # fmt: skip
ELSEWHERE = ["0.0.0.0", "::", "[::]", "", "192.168.1.5", "10.0.0.1", "example.org", "127.1",
             "localhost.example.org", "127.0.0.1.example.org", "2001:db8::1"]  # fmt: skip


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_is_open(host):
    assert is_loopback(host)
    check_binding(Settings(), host)


@pytest.mark.parametrize("host", ELSEWHERE)
def test_elsewhere_needs_tokens_or_an_explicit_wish(host):
    assert not is_loopback(host)
    with pytest.raises(OpenToAll) as caught:
        check_binding(Settings(), host)
    assert isinstance(caught.value, AppError)
    assert "KIBITZ_API_TOKENS" in str(caught.value)
    assert "KIBITZ_ALLOW_OPEN=true" in str(caught.value)
    assert str(caught.value).isprintable()
    check_binding(Settings(api_tokens=TOKENS), host)
    check_binding(Settings(allow_open=True), host)


# --- browsers ---

OURS = ["localhost", "localhost:8000", "127.0.0.1:1", "127.9.9.9", "[::1]", "[::1]:80", "LocalHost",
        "chess.example", "chess.example:443", "192.0.2.7:8000"]  # fmt: skip
FOREIGN = ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
           "192.0.2.8", "0.0.0.0", "[::]", "", "chess.example.evil", "a@localhost"]  # fmt: skip


@pytest.mark.parametrize("host", OURS)
def test_names_that_are_ours(open_client, host):
    assert open_client.get("/read", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize("path", ["/read", "/healthz", "/openapi.json"])
def test_names_that_point_to_us_without_being_ours(open_client, host, path):
    check_problem(open_client.get(path, headers={"Host": host}), 403, "wrong-host")


@pytest.mark.parametrize(
    "hosts",
    [b"", b"Host: localhost\r\nHost: evil.example\r\n", b"Host: evil\r\nHost: localhost\r\n"],
)
def test_exactly_one_name_is_needed(open_server, hosts):
    answer = open_server.exchange(b"GET /read HTTP/1.1\r\n" + hosts + b"Connection: close\r\n\r\n")
    assert b"/problems/wrong-host" in answer


def test_a_blank_token(client):
    host = client.base_url
    answer = Served(host.host, host.port).exchange(
        b"GET /read HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer  \r\nConnection: close\r\n\r\n"
    )
    assert b"/problems/unauthenticated" in answer


def test_with_tokens_any_name_will_do(client):
    headers = bearer(READER) | {"Host": "evil.example"}
    assert client.get("/read", headers=headers).status_code == 200


#: Besides being bound to a loopback address or not: whether the name is looked at.
@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({"allow_open": True, "host": "0.0.0.0"}, 200),
        ({"allow_open": True, "host": "127.0.0.1"}, 403),
        ({"allow_open": True, "host": "0.0.0.0", "allowed_hosts": "a.example"}, 403),
        ({"host": "127.0.0.1"}, 403),
    ],
)
def test_who_opens_it_to_a_network_need_not_name_its_hosts(settings, status):
    with served(Parts(Settings(**settings)), routes()) as server, server.client() as client:
        response = client.get("/read", headers={"Host": "chess.lan"})
        assert response.status_code == status
        cross = {"Host": "chess.lan", "Origin": "http://evil.example"}
        assert client.post("/write", headers=cross).status_code == 403


#: What browsers send of where a request comes from, and whether it may write.
SITES = {
    "no browser": ({}, True),
    "our page": ({"Origin": "http://HOST", "Sec-Fetch-Site": "same-origin"}, True),
    "typed": ({"Sec-Fetch-Site": "none"}, True),
    "a named host": ({"Origin": "https://chess.example", "Sec-Fetch-Site": "same-site"}, True),
    "with a port": ({"Origin": "https://chess.example:8443"}, True),
    "another site": ({"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, False),
    "an old browser": ({"Origin": "https://evil.example"}, False),
    "no origin told": ({"Sec-Fetch-Site": "cross-site"}, False),
    "a sandbox": ({"Origin": "null"}, False),
    "another port": ({"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"}, False),
    "a lookalike": ({"Origin": "http://HOST.evil.example"}, False),
    "our name as a user": ({"Origin": "http://HOST@evil.example"}, False),
    "garbage": ({"Origin": "http://[::1"}, False),
}


@pytest.mark.parametrize(("headers", "may_write"), SITES.values(), ids=SITES)
def test_pages_of_other_sites_may_not_write(open_client, headers, may_write):
    host = open_client.base_url.netloc.decode()
    headers = {name: value.replace("HOST", host) for name, value in headers.items()}
    response = open_client.post("/write", headers=headers)
    if may_write:
        assert response.status_code == 200
    else:
        check_problem(response, 403, "cross-site")
    # Reading is harmless: without CORS a browser does not show another site the answer.
    reading = open_client.get("/read", headers=headers)
    assert reading.status_code == 200
    assert "access-control-allow-origin" not in reading.headers
