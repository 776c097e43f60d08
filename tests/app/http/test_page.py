"""The web page as it is served: what it may do, how it is kept, and that all of it is there."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import httpx
import pytest

import app
from app.http.page import PAGES
from app.settings import Settings
from engine.drawing import piece_outlines
from engine.errors import Illegality
from tests.app.http.conftest import Parts, check_problem, served

WEB = Path(app.__file__).parent / "web"
IMPORT = re.compile(r'^(?:import|export)\s(?:[^"]*\sfrom\s)?"([^"]+)";', re.MULTILINE)
#: Text that becomes markup or code; the policy forbids it, and so do we.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|"
    r'setAttribute\("style"|DOMParser'
)
ADDRESSES = [re.sub(r"\{\w+\}", "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10", each) for each in PAGES]


def base_of(client: httpx.Client) -> str:
    found = re.search(r'src="(/assets/[0-9a-f]{16})/main\.js"', client.get("/").text)
    assert found
    return found[1]


def modules_of(client: httpx.Client, address: str) -> set[str]:
    found = re.findall(r'rel="modulepreload" href="([^"]+)"', client.get(address).text)
    assert len(found) == len(set(found))
    return set(found)


def without_modules(shell: str) -> str:
    return re.sub(r' *<link rel="modulepreload"[^>]*>\n', "", shell)


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_address_shows_the_page(client: httpx.Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert without_modules(response.text) == without_modules(client.get("/").text)
    head = client.head(address)
    assert (head.status_code, head.content) == (200, b"")


def test_the_policy_allows_nothing_inline_and_nobody_else(client: httpx.Client) -> None:
    headers = client.get("/").headers
    policy = dict(
        each.strip().partition(" ")[::2] for each in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert {policy[each] for each in ("script-src", "style-src", "connect-src")} == {"'self'"}
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in headers["content-security-policy"]
    assert "http" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_the_shell_has_no_script_or_style_of_its_own(client: httpx.Client) -> None:
    shell = client.get("/").text
    assert all(each == "" for each in re.findall(r"<script[^>]*>(.*?)</script>", shell, re.DOTALL))
    assert "<style" not in shell
    assert not re.search(r"\son\w+=|\sstyle=|https?://", shell)
    assert "{" not in shell  # everything was filled in


def test_the_shell_is_asked_for_again_and_its_files_are_kept(client: httpx.Client) -> None:
    assert client.get("/").headers["cache-control"] == "no-cache"
    response = client.get(f"{base_of(client)}/main.js")
    assert response.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in response.headers["cache-control"]
    assert response.headers["x-content-type-options"] == "nosniff"


def test_files_are_compressed_for_who_can_read_that(client: httpx.Client) -> None:
    address = f"{base_of(client)}/styles/base.css"
    plain = client.get(address, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    packed = client.get(address, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content == (WEB / "styles/base.css").read_bytes()
    assert int(packed.headers["content-length"]) == len(gzip.compress(plain.content, mtime=0))
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("path", ["nothing.js", "../page.py", "index.html", "", "styles"])
def test_there_is_nothing_else(client: httpx.Client, path: str) -> None:
    check_problem(client.get(f"{base_of(client)}/{path}"), 404, "not-found")


def test_an_old_version_is_gone(client: httpx.Client) -> None:
    check_problem(client.get(f"/assets/{'0' * 16}/main.js"), 404, "not-found")


@pytest.mark.parametrize(("address", "view"), [*zip(ADDRESSES, PAGES.values(), strict=True)])
def test_all_that_a_view_imports_is_there_and_fetched_early(
    client: httpx.Client, address: str, view: str
) -> None:
    modules, base = modules_of(client, address), base_of(client)
    asked = {f"{base}/main.js", f"{base}/{view}"}
    for module in modules:
        response = client.get(module)
        assert response.status_code == 200
        for imported in IMPORT.findall(response.text):
            assert imported.startswith("."), f"{module} imports {imported} from elsewhere"
            asked.add(str(httpx.URL(module).join(imported)))
    assert asked == modules  # neither late nor for nothing


def test_no_module_is_dead(client: httpx.Client) -> None:
    used = set().union(*(modules_of(client, address) for address in ADDRESSES))
    names = {each.split("/", 3)[3] for each in used}
    files = {each.relative_to(WEB).as_posix() for each in WEB.rglob("*.js")}
    assert files - names == {"core/early_theme.js"}  # which is no module


def test_every_stylesheet_is_linked(client: httpx.Client) -> None:
    linked = re.findall(r'rel="stylesheet" href="/assets/\w+/([^"]+)"', client.get("/").text)
    assert linked == sorted(str(each.relative_to(WEB)) for each in WEB.rglob("*.css"))


@pytest.mark.parametrize("path", sorted(WEB.rglob("*.js")), ids=lambda each: each.name)
def test_no_text_becomes_markup_and_nothing_comes_from_elsewhere(path: Path) -> None:
    text = path.read_text()
    assert not FORBIDDEN.search(text)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "console." not in text


def test_the_page_knows_the_addresses_that_the_service_does() -> None:
    routes = r'^route\("([^"]+)", "[\w-]+", \(\) => import\("\./([^"]+)"\)\);$'
    routed = re.findall(routes, (WEB / "main.js").read_text(), re.MULTILINE)
    assert dict(routed) == PAGES


def test_pieces_and_reasons_are_those_of_the_rules(client: httpx.Client) -> None:
    outlines = client.get(f"{base_of(client)}/board/outlines.js").text
    for kind in piece_outlines().values():
        assert kind["outline"] in outlines
    reasons = client.get(f"{base_of(client)}/match/illegality.js").text
    for each in Illegality:
        assert f'"{each.name.lower()}": "{each.value}"' in reasons


def test_a_service_with_tokens_shows_its_page_to_all() -> None:
    settings = Settings(api_tokens="read:" + "r" * 20)
    with served(Parts(settings=settings)) as server, server.client() as client:
        assert client.get("/api/players").status_code == 401
        assert client.get("/").status_code == 200
        assert client.get(f"{base_of(client)}/main.js").status_code == 200


def test_it_is_no_part_of_the_api(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert not set(paths) & {*PAGES, "/assets/{version}/{path}"}


@pytest.mark.parametrize("path", ["/nowhere", "/matches/"])
def test_whoever_browses_to_nowhere_gets_the_page(client: httpx.Client, path: str) -> None:
    response = client.get(path, headers={"Accept": "text/html,*/*;q=0.8"})
    assert response.status_code == 404
    assert response.headers["content-type"].startswith("text/html")
    assert response.headers["content-security-policy"]
    check_problem(client.get(path), 404, "not-found")


@pytest.mark.parametrize("path", ["/api/nowhere", "/assets/nowhere"])
def test_what_is_no_page_stays_a_problem(client: httpx.Client, path: str) -> None:
    check_problem(client.get(path, headers={"Accept": "text/html"}), 404, "not-found")
