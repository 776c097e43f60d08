"""What findings show, and what they never show."""

from __future__ import annotations

import json

import pytest

from app.doctor.findings import Finding, Sign, failure, fine
from app.doctor.secrets import secrets_of
from app.settings import load_settings


def test_a_finding_has_no_secret_in_what_it_says():
    finding = failure(
        "Sec-ret-1", "it says sec-ret-12", "use sec-ret-1", said="sec-ret-1", all=["sec-ret-12", 3]
    )
    shown = finding.legible(["sec-ret-1", "sec-ret-12", "Sec-ret-1"])
    assert shown == failure("Sec-ret-1", "it says ***", "use ***", said="***", all=["***", 3])


def test_a_finding_obeys_nobody_but_us():
    finding = fine("uci:\x1b[31m", "one\ntwo\t\x07three \ud800", path="\x9b2J")
    shown = finding.legible([])
    assert (shown.subject, shown.case) == ("uci:�[31m", "one two �three �")
    assert shown.figures == {"path": "�2J"}
    json.dumps(shown.to_json()).encode()


def test_a_finding_as_plain_data():
    finding = Finding("Disk", Sign.FAIL, "it is full", "free some", {"free_bytes": 0})
    assert finding.to_json() == {
        "subject": "Disk",
        "sign": "fail",
        "case": "it is full",
        "advice": "free some",
        "figures": {"free_bytes": 0},
    }
    assert fine("Disk", "it is well").to_json()["advice"] is None


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"OPENAI_API_KEY": "sk-123456"}, {"sk-123456"}),
        ({"OPENAI_API_KEY": "  sk-123456\n"}, {"sk-123456"}),
        ({"some_password": "hunter22"}, {"hunter22"}),
        ({"MYSQL_PWD": "hunter22", "PWD": "/home/ann", "PGPASSWORD": "secret-1"},
         {"hunter22", "secret-1"}),
        ({"APIKEY2": "hunter22", "SERVICE_AUTH": "secret-1"}, {"hunter22", "secret-1"}),
        ({"GIT_AUTHOR_NAME": "Stockfish", "KEYBOARD": "qwertz-us"}, set()),
        (
            {"KIBITZ_API_TOKENS": "read:abcdefgh, write:ijklmnop"},
            {"read:abcdefgh, write:ijklmnop", "read:abcdefgh", "abcdefgh", "write:ijklmnop",
             "ijklmnop"},
        ),
        ({"KIBITZ_DATABASE": "postgresql://me:pass%40word@host/db"}, {"pass%40word", "pass@word"}),
        ({"HTTPS_PROXY": "http://me:pass-word@proxy:3128"}, {"pass-word"}),
        ({"KIBITZ_DATABASE": "postgresql://h/db?password=open%20sesame&x=y"},
         {"open%20sesame", "open sesame"}),
        ({"KIBITZ_DATABASE": "postgresql://[::1/what-ever"}, {"postgresql://[::1/what-ever"}),
        ({"OPENAI_API_KEY": "x", "PATH": "/usr/bin", "KIBITZ_DATABASE": "sqlite:////tmp/a.db"},
         set()),
    ],
)  # fmt: skip
def test_secrets_of_variables(environment, expected):
    assert secrets_of(environment) == expected


def test_secrets_of_settings(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    settings = load_settings(
        api_tokens="read:token-of-ours",
        database="postgresql://me:pass-of-settings@host/db",
        engines={"one": {"command": "one", "environment": {"LICENSE_KEY": "key-of-engine"}}},
        providers={"mine": {"base_url": "http://localhost:1/v1", "api_key_env": "MINE"}},
    )
    environment = {"MINE": "key-of-mine", "OPENAI_ORG_ID": "org-anisation"}
    assert secrets_of(environment, settings, "postgresql://a:pass-of-option@host/db") == {
        "token-of-ours",
        "pass-of-settings",
        "pass-of-option",
        "key-of-engine",
        "key-of-mine",
        "org-anisation",
    }
