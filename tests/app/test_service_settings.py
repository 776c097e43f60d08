"""Settings of the service: where it listens, who may do what, and how much of it."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import InvalidSettings, Scope, Settings, load_settings

SECRETS = ("first-secret-1", "second-secret-2", "third-secret-3", "hunter2")


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path) -> Iterator[Path]:
    """The folder where Kibitz is started, without a file, and an environment that says nothing."""
    for name in list(os.environ):
        if name.upper().startswith("KIBITZ_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_has_to_be_set(folder):
    settings = load_settings(data_folder=folder / "data")
    assert (settings.host, settings.port, settings.log_level) == ("127.0.0.1", 8000, "info")
    assert (settings.api_tokens, settings.allow_open, settings.allowed_hosts) == ((), False, ())
    assert settings.max_body_bytes == 256_000
    assert (settings.max_streams, settings.max_streams_per_client) == (5_000, 2_000)
    assert (settings.max_matches_per_client, settings.starts_per_minute) == (1_000, 600)
    assert settings.concurrent_matches == 100
    assert settings.database_url == f"sqlite:///{folder}/data/kibitz.db"


def test_what_is_given_wins_over_the_environment_and_that_over_the_file(folder, monkeypatch):
    (folder / "kibitz.toml").write_text('port = 1\nhost = "::1"\nlog_level = "debug"')
    monkeypatch.setenv("KIBITZ_PORT", "2")
    monkeypatch.setenv("KIBITZ_HOST", "localhost")
    settings = load_settings(port=3)
    assert (settings.port, settings.host, settings.log_level) == (3, "localhost", "debug")


def test_all_of_it_in_the_environment(monkeypatch):
    values = {
        "HOST": "0.0.0.0", "PORT": "0", "ALLOW_OPEN": "true", "MAX_BODY_BYTES": "1000",
        "MAX_STREAMS": "1", "MAX_STREAMS_PER_CLIENT": "2", "MAX_MATCHES_PER_CLIENT": "3",
        "STARTS_PER_MINUTE": "4", "CONCURRENT_MATCHES": "5", "LOG_LEVEL": "WARNING",
        "ALLOWED_HOSTS": " Chess.example,b-c.d ,[2001:DB8::1]",
        "DATABASE": "postgresql://kibitz:hunter2@db.example/kibitz",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(f"KIBITZ_{name}", value)
    settings = load_settings()
    assert (settings.host, settings.port, settings.allow_open) == ("0.0.0.0", 0, True)
    assert (settings.max_body_bytes, settings.max_streams) == (1000, 1)
    assert (settings.max_streams_per_client, settings.max_matches_per_client) == (2, 3)
    assert (settings.starts_per_minute, settings.concurrent_matches) == (4, 5)
    assert settings.log_level == "warning"
    assert settings.allowed_hosts == ("chess.example", "b-c.d", "2001:db8::1")
    assert settings.database_url == values["DATABASE"]


def test_lists_in_the_file(folder):
    (folder / "kibitz.toml").write_text(
        'allowed_hosts = ["a.example"]\napi_tokens = ["read:first-secret-1", "second-secret-2"]'
    )
    settings = load_settings()
    assert settings.allowed_hosts == ("a.example",)
    assert [token.scope for token in settings.api_tokens] == [Scope.READ, Scope.WRITE]


def test_tokens(monkeypatch):
    tokens = "read:first-secret-1, write:second-secret-2,third-secret-3"
    monkeypatch.setenv("KIBITZ_API_TOKENS", tokens)
    found = [(token.scope, token.secret.get_secret_value()) for token in load_settings().api_tokens]
    assert found == [
        (Scope.READ, "first-secret-1"),
        (Scope.WRITE, "second-secret-2"),
        (Scope.WRITE, "third-secret-3"),
    ]


def test_secrets_are_never_shown():
    settings = Settings(
        api_tokens="read:first-secret-1,write:second-secret-2,third-secret-3",
        database="postgresql://kibitz:hunter2@db.example/kibitz",
    )
    shown = f"{settings!r}{settings}{settings.model_dump()}{settings.model_dump_json()}"
    shown += f"{settings.api_tokens}{settings.model_copy(update={'port': 1})!r}"
    for secret in SECRETS:
        assert secret not in shown
    assert pickle.loads(pickle.dumps(settings)) == settings


#: What the environment says, and what the sentence must name.
MISTAKES = {
    "a short token": ("API_TOKENS", "hunter2", "api_tokens.0 is wrong: a token has 8 to 200"),
    "another scope": ("API_TOKENS", "admin:first-secret-1", "before the colon of a token is"),
    "no secret": ("API_TOKENS", "read:", "api_tokens.0 is wrong: a token has"),
    "a space inside": ("API_TOKENS", "first-secret-1 x", "api_tokens.0 is wrong: a token has"),
    "a colon inside": ("API_TOKENS", "read:first:secret-1", "before the colon"),
    "no ASCII": ("API_TOKENS", "fürst-secret-1", "api_tokens.0 is wrong: a token has"),
    "an empty entry": ("API_TOKENS", "first-secret-1,", "api_tokens.1 is wrong: a token has"),
    "only commas": ("API_TOKENS", ",", "api_tokens.0 is wrong: a token has"),
    "twice": ("API_TOKENS", "first-secret-1,read:first-secret-1", "the same token is there twice"),
    "a long token": ("API_TOKENS", "x" * 201, "api_tokens.0 is wrong: a token has"),
    "no provider": ("MODEL", "gpt-5", "setting model is wrong: a model is named `provider/model`"),
    "no port": ("PORT", "65536", "setting port is wrong"),
    "a word for a port": ("PORT", "http", "setting port is wrong"),
    "a host with a port": ("HOST", "localhost:80", "it should be a name or an address"),
    "a URL for a host": ("HOST", "http://localhost", "it should be a name or an address"),
    "a host with a line break": ("HOST", "localhost\n", "it should be a name or an address"),
    "a port in the hosts": ("ALLOWED_HOSTS", "a.example,b:80", "setting allowed_hosts.1 is wrong"),
    "any host": ("ALLOWED_HOSTS", "*", "setting allowed_hosts.0 is wrong"),
    "no wish": ("ALLOW_OPEN", "perhaps", "setting allow_open is wrong"),
    "a tiny body": ("MAX_BODY_BYTES", "10", "setting max_body_bytes is wrong"),
    "no streams": ("MAX_STREAMS", "0", "setting max_streams is wrong"),
    "no streams of one": ("MAX_STREAMS_PER_CLIENT", "0", "max_streams_per_client is wrong"),
    "no matches of one": ("MAX_MATCHES_PER_CLIENT", "0", "max_matches_per_client is wrong"),
    "no starts": ("STARTS_PER_MINUTE", "0", "setting starts_per_minute is wrong"),
    "no matches": ("CONCURRENT_MATCHES", "-1", "setting concurrent_matches is wrong"),
    "no level": ("LOG_LEVEL", "loud", "setting log_level is wrong"),
}


@pytest.mark.parametrize(("name", "value", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_gets_one_sentence_without_any_secret(monkeypatch, name, value, sentence):
    monkeypatch.setenv(f"KIBITZ_{name}", value)
    with pytest.raises(InvalidSettings) as caught:
        load_settings()
    told = str(caught.value)
    assert sentence in told
    assert told.isprintable()
    if name == "API_TOKENS" and value != ",":
        context = caught.value.__context__
        assert value not in f"{told}{context!r}{context}"


#: What the file says, where types are told apart.
IN_THE_FILE = {
    "true for a port": ("port = true", "it should be a whole number"),
    "a number for a token": ("api_tokens = [12345678]", "a token should be text"),
    "a table for tokens": ("api_tokens = { read = 'x' }", "it should be text with commas"),
    "a number for hosts": ("allowed_hosts = 5", "it should be text with commas"),
    "a number for a host": ("allowed_hosts = [5]", "allowed_hosts.0 is wrong"),
    "a number for a database": ("database = 5", "setting database is wrong"),
    "a number for a level": ("log_level = 5", "setting log_level is wrong"),
}


def test_who_records_cannot_replay(folder):
    (folder / "kibitz.toml").write_text('record_file = "a"\nreplay_file = "b"')
    with pytest.raises(InvalidSettings) as caught:
        load_settings()
    sentence = "the settings are wrong: record_file and replay_file cannot both be set"
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("text", "sentence"), IN_THE_FILE.values(), ids=IN_THE_FILE)
def test_a_mistake_in_the_file(folder, text, sentence):
    (folder / "kibitz.toml").write_text(text)
    with pytest.raises(InvalidSettings, match=sentence):
        load_settings()


def test_an_empty_variable_is_as_good_as_not_set(monkeypatch):
    for name in ("API_TOKENS", "ALLOWED_HOSTS", "DATABASE", "PORT", "HOST", "ALLOW_OPEN"):
        monkeypatch.setenv(f"KIBITZ_{name}", "")
    settings = load_settings()
    assert (settings.api_tokens, settings.allowed_hosts, settings.database) == ((), (), None)
    assert (settings.host, settings.port, settings.allow_open) == ("127.0.0.1", 8000, False)
