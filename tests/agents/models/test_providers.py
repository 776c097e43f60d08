"""Providers: the known ones, their keys, and that nobody ever sees these."""

from __future__ import annotations

import copy
import json
import traceback
from dataclasses import asdict, replace

import pytest

from agents.models.errors import ModelNotConfigured
from agents.models.model import ReplyForm
from agents.models.providers import KNOWN_PROVIDERS, Provider, Secret

KEY = "sk-0123456789"


@pytest.mark.parametrize(
    ("name", "base_url", "variable"),
    [
        ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("ollama", "http://127.0.0.1:11434/v1", None),
        ("vllm", "http://127.0.0.1:8000/v1", None),
        ("llamacpp", "http://127.0.0.1:8080/v1", None),
    ],
)
def test_the_known_ones(name, base_url, variable):
    provider = KNOWN_PROVIDERS[name]
    assert (provider.name, provider.base_url, provider.key_variable) == (name, base_url, variable)
    assert provider.form is ReplyForm.JSON_SCHEMA
    assert provider.include_usage is (name == "openrouter")
    assert provider.is_on_loopback is (variable is None)
    configured = provider.configured({variable: f" {KEY}\n"} if variable else {})
    assert configured.api_key == (Secret(KEY) if variable else None)


def test_there_are_no_others():
    assert set(KNOWN_PROVIDERS) == {"openai", "openrouter", "ollama", "vllm", "llamacpp"}
    assert all(provider.api_key is None for provider in KNOWN_PROVIDERS.values())


@pytest.mark.parametrize("environment", [{}, {"OPENAI_API_KEY": ""}, {"OPENAI_API_KEY": " "}])
def test_a_key_that_is_missing(environment):
    with pytest.raises(ModelNotConfigured, match="OPENAI_API_KEY is not set"):
        KNOWN_PROVIDERS["openai"].configured(environment)


def test_a_key_that_is_there_already_is_kept():
    provider = replace(KNOWN_PROVIDERS["openai"], api_key=Secret("mine"))
    assert provider.configured({"OPENAI_API_KEY": KEY}).api_key == Secret("mine")


def test_only_openai_is_told_of_organisation_and_project():
    environment = {
        "OPENAI_API_KEY": KEY,
        "OPENROUTER_API_KEY": KEY,
        "OPENAI_ORG_ID": "org-1",
        "OPENAI_PROJECT_ID": "",
    }
    headers = {name: dict(p.configured(environment).headers) for name, p in KNOWN_PROVIDERS.items()}
    assert headers.pop("openai") == {"OpenAI-Organization": "org-1"}
    assert not any(headers.values())


def test_own_headers_go_before_those_of_the_environment():
    own = {"OpenAI-Organization": "mine"}
    provider = replace(KNOWN_PROVIDERS["openai"], headers=own)
    assert provider.configured({"OPENAI_API_KEY": KEY, "OPENAI_ORG_ID": "org"}).headers == own


def test_no_secret_is_shown():
    provider = Provider("test", "http://x/v1", Secret(KEY), {"Authorization": "Basic aGlkZGVu"})
    copied = copy.deepcopy(provider)
    assert copied == provider
    for shown in (repr(provider), str(provider), f"{provider.api_key}", f"{provider.api_key!r}"):
        assert KEY not in shown
        assert "aGlkZGVu" not in shown
    assert KEY not in str(asdict(provider)["api_key"])
    with pytest.raises(TypeError):
        json.dumps(provider.api_key)


def test_secrets():
    assert Secret(" a\n").reveal() == "a"
    assert Secret("a") == Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
    assert not Secret(" ")


def test_secrets_are_taken_out_of_texts():
    provider = Provider("test", "http://x/v1", Secret(KEY), {"X-A": f"{KEY}-long", "X-B": "on"})
    text = provider.without_secrets(f"{KEY}-long, {KEY} and on")
    assert text == "***, *** and on"
    assert Provider("test", "http://x/v1", Secret("")).without_secrets("abc") == "abc"


@pytest.mark.parametrize(
    "url",
    ["", "x", "api.openai.com/v1", "ftp://x/v1", "http://", "http:///v1", "http://[::1/v1",
     "http://x:99999/v1", "http://x:port/v1", "http://x/v1\nHost: y"],
)  # fmt: skip
def test_what_is_no_address(url):
    with pytest.raises(ModelNotConfigured, match="base URL is not an address"):
        Provider("test", url)


@pytest.mark.parametrize("url", ["http://user:hush@x/v1", "https://hush@x/v1"])
def test_no_password_in_an_address(url):
    with pytest.raises(ModelNotConfigured, match="do not belong") as caught:
        Provider("test", url)
    assert "hush" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("key", "headers"),
    [
        ("two\nlines", {}),
        ("ключ", {}),
        ("x", {"X-A": "a\r\nHost: y"}),
        ("x", {"X-A\n": "a"}),
        ("x", {"X-A": "é"}),
    ],
)
def test_what_http_does_not_take(key, headers):
    with pytest.raises(ModelNotConfigured, match="characters that HTTP does not take") as caught:
        Provider("test", "http://x/v1", Secret(key), headers)
    assert key not in str(caught.value) or key == "x"


@pytest.mark.parametrize(
    ("host", "is_on_loopback"),
    [
        ("localhost", True),
        ("LOCALHOST:80", True),
        ("models.localhost", True),
        ("127.0.0.1:8080", True),
        ("127.8.9.10", True),
        ("[::1]:80", True),
        ("[::ffff:127.0.0.1]", True),
        ("10.0.0.1", False),
        ("[2001:db8::1]", False),
        ("notlocalhost", False),
        ("127.0.0.1.example.org", False),
    ],
)
def test_loopback(host, is_on_loopback):
    assert Provider("test", f"http://{host}/v1").is_on_loopback is is_on_loopback
