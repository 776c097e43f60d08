"""The application as a whole: its document, its page of it, and how soon it is there."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys

#: Each takes long to import, and none is needed to answer the first request.
HEAVY = ("pyrate_limiter", "prometheus_client", "structlog", "sqlalchemy", "alembic", "numpy",
         "rich", "typer", "httpx", "uvicorn", "psycopg")  # fmt: skip


def operations(client):
    document = client.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_every_operation_is_described(client):
    ids = []
    for path, _, operation in operations(client):
        assert operation["summary"], path
        assert operation["description"], path
        assert operation["tags"], path
        assert "application/problem+json" in operation["responses"]["default"]["content"]
        ids.append(operation["operationId"])
        for answer in operation["responses"].values():
            assert answer["description"]
    assert len(set(ids)) == len(ids)
    assert "positions_play" in ids


def test_every_tag_is_described(client):
    document = client.get("/openapi.json").json()
    described = {tag["name"] for tag in document["tags"] if tag["description"]}
    for path, _, operation in operations(client):
        assert set(operation["tags"]) <= described, path
    assert (document["info"]["title"], document["openapi"][:2]) == ("Kibitz", "3.")


def test_every_reference_leads_somewhere(client):
    document = client.get("/openapi.json").json()
    names = set(re.findall(r"#/components/schemas/(\w+)", client.get("/openapi.json").text))
    assert names == set(document["components"]["schemas"])


def test_the_document_is_the_same_every_time(client):
    assert client.get("/openapi.json").text == client.get("/openapi.json").text


def test_every_field_of_a_body_is_bounded(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    bodies = [name for name in schemas if name.endswith("Body")]
    assert len(bodies) == 4
    for name in bodies:
        assert schemas[name]["additionalProperties"] is False
        for field in schemas[name]["properties"].values():
            kinds = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
            for kind in kinds:
                _check_bounded(kind)


def _check_bounded(kind: dict) -> None:
    if kind["type"] == "array":
        assert "maxItems" in kind
        _check_bounded(kind["items"])
    else:
        assert {"maxLength", "maximum", "enum"} & kind.keys(), kind


def test_the_page_may_run_its_own_script_and_nothing_else(client):
    response = client.get("/docs")
    script = re.search(r"<script>(.*?)</script>", response.text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = response.headers["content-security-policy"]
    assert f"script-src https://cdn.jsdelivr.net 'sha256-{digest}';" in policy
    assert "/openapi.json" in script
    for address in re.findall(r'(?:src|href)="([^"]+)"', response.text):
        assert address.startswith(("https://cdn.jsdelivr.net/", "data:"))


def test_nothing_heavy_is_imported_to_begin_with():
    code = f"import sys, app.http.application; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
