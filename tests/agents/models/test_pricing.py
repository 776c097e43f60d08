"""What tokens cost: exactly, the operator's word before the table's, and never 0 by ignorance."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.errors import InvalidPrices
from agents.models.model import Usage
from agents.models.pricing import Price, Prices

PRICES = Prices.load()
D = Decimal
tokens = st.integers(0, 10**12)
amounts = st.decimals(0, 10**6, places=9, allow_nan=False, allow_infinity=False)


def table(text: str, path: Path) -> Prices:
    file = path / "own.toml"
    file.write_text(text, encoding="utf-8")
    return Prices.load(file)


@pytest.mark.parametrize(
    ("model", "cost", "worst"),
    [
        ("openai/gpt-5", "10.6875", "11.25"),
        ("openai/gpt-5-mini", "2.1375", "2.25"),
        ("openai/gpt-5-nano", "0.4275", "0.45"),
        ("openai/gpt-4.1", "9.25", "10"),
        ("openai/gpt-4.1-mini", "1.85", "2"),
        ("openai/gpt-4.1-nano", "0.4625", "0.5"),
        ("openai/gpt-4o", "11.875", "12.5"),
        ("openai/gpt-4o-mini", "0.7125", "0.75"),
        ("openai/o3", "9.25", "10"),
        ("openai/o4-mini", "5.0875", "5.5"),
        ("ollama/gemma3:270m", "0", "0"),
        ("vllm/meta/llama", "0", "0"),
        ("llamacpp/any", "0", "0"),
    ],
)
def test_a_call_costs_what_the_list_says(model, cost, worst):
    """A million tokens in, half of them cached, and a million out."""
    usage = Usage(prompt_tokens=10**6, cached_tokens=500_000, completion_tokens=10**6)
    assert PRICES.cost(model, usage) == D(cost)
    assert PRICES.worst(model, 10**6, 10**6) == D(worst)


@pytest.mark.parametrize(
    "model",
    ["openai/gpt-5-2025-08-07", "openai/", "openai", "", "openrouter/openai/gpt-5", "gpt-5"],
)
def test_an_unknown_model_costs_nobody_knows_what(model):
    assert PRICES.of(model) is None
    assert PRICES.cost(model, Usage()) is None
    assert PRICES.cost(model, Usage(prompt_tokens=5)) is None
    assert PRICES.worst(model, 1, 1) is None


def test_the_table_has_a_date_and_a_source():
    assert isinstance(PRICES.as_of, date)
    assert PRICES.as_of < date(2026, 11, 1)
    assert PRICES.source


def test_the_provider_knows_best_what_it_charged():
    assert PRICES.cost("openai/gpt-5", Usage(1000, cost_usd=D("0.5"))) == D("0.5")
    assert PRICES.cost("openai/gpt-5", Usage(1000, cost_usd=D(0))) == 0
    assert PRICES.cost("nobody/knows", Usage(1000, cost_usd=D("0.5"))) == D("0.5")


@pytest.mark.parametrize("said", [D("NaN"), D("Infinity"), D(-1)])
def test_but_not_if_it_talks_nonsense(said):
    assert PRICES.cost("openai/gpt-5", Usage(1_000_000, cost_usd=said)) == D("1.25")


@given(tokens, tokens, tokens, amounts, amounts, st.none() | amounts)
def test_no_digit_is_lost(prompt, cached, completion, price_in, price_out, price_cached):
    prices = Prices(date(2026, 1, 1), "", {"a/b": Price(price_in, price_out, price_cached)})
    cached = min(cached, prompt)
    usage = Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion)
    cheap = price_in if price_cached is None else price_cached
    exact = (
        Fraction(price_in) * (prompt - cached)
        + Fraction(cheap) * cached
        + Fraction(price_out) * completion
    ) / 10**6
    cost, worst = prices.cost("a/b", usage), prices.worst("a/b", prompt, completion)
    assert Fraction(cost) == exact
    assert worst >= cost


def test_more_cached_than_read_is_taken_for_all():
    assert PRICES.cost("openai/gpt-5", Usage(prompt_tokens=8, cached_tokens=9)) == D("0.000001")


def test_what_the_operator_says_counts():
    own = {
        "openai/gpt-5": {"input": 1, "output": "2.5"},
        "openai/*": {"input": 0.1, "cached_input": D("0.01"), "output": 7},
        "ollama/*": Price(D(3), D(4)),
        "new/model": {"input": 1, "output": 1},
    }
    prices = Prices.load(extra=own)
    assert prices.of("openai/gpt-5") == Price(D(1), D("2.5"))
    assert prices.of("openai/gpt-4o") == Price(D("0.1"), D(7), D("0.01"))
    assert prices.of("ollama/x") == Price(D(3), D(4))
    assert prices.of("vllm/x") == Price(D(0), D(0))
    assert prices.of("new/model") == Price(D(1), D(1))
    assert prices.of("new/other") is None
    assert PRICES.of("openai/gpt-5") == Price(D("1.25"), D(10), D("0.125"))


def test_a_file_of_ones_own_takes_the_place_of_the_table(tmp_path):
    digits = "0.12345678901234567890"  # more than a float has
    text = f'as_of = 2026-01-02\n[prices]\n"a/b" = {{input = {digits}, output = 0}}'
    prices = table(text, tmp_path)
    assert prices.as_of == date(2026, 1, 2)
    assert prices.of("a/b") == Price(D(digits), D(0))
    assert prices.of("openai/gpt-5") is None


HEAD = "as_of = 2026-01-02\n[prices]\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("as_of = ", "is no TOML"),
        ("[prices]", "`as_of` has to be a date"),
        ("as_of = 2026-01-02T00:00:00\n[prices]", "`as_of` has to be a date"),
        ("as_of = 2026-01-02", "no table `prices`"),
        ("as_of = 2026-01-02\nsource = 3\n[prices]", "`source` has to be text"),
        ("as_of = 2026-01-02\nprice = 3\n[prices]", "nobody knows what 'price' is"),
        (HEAD + '"a/b" = 3', "no prices for"),
        (HEAD + '"a/b" = {input = 1}', "no price for `output`"),
        (HEAD + '"a/b" = {output = 1}', "no price for `input`"),
        (HEAD + '"a/b" = {input = 1, output = 1, cached = 1}', "a price for 'cached'"),
        (HEAD + '"a/b" = {input = -1, output = 1}', "`input` of 'a/b' is no number from 0 up"),
        (HEAD + '"a/b" = {input = 1, output = nan}', "`output` of 'a/b' is no number"),
        (HEAD + '"a/b" = {input = 1, output = inf}', "`output` of 'a/b' is no number"),
        (HEAD + '"a/b" = {input = 1, output = true}', "`output` of 'a/b' is no number"),
        (HEAD + '"a/b" = {input = 1, output = "much"}', "`output` of 'a/b' is no number"),
        (HEAD + '"a/b" = {input = 1, output = []}', "`output` of 'a/b' is no number"),
        (HEAD + '"a/b" = {input = 1, output = 1e7}', "not one in USD per million tokens"),
        (HEAD + '"a/b" = {input = 1e-30, output = 1}', "not one in USD per million tokens"),
        (HEAD + '"a" = {input = 1, output = 1}', "neither `provider/model` nor"),
        (HEAD + '"*/b" = {input = 1, output = 1}', "neither `provider/model` nor"),
        (HEAD + '"a/b*" = {input = 1, output = 1}', "neither `provider/model` nor"),
    ],
)
def test_a_wrong_table_is_refused_in_one_sentence(tmp_path, text, reason):
    with pytest.raises(InvalidPrices) as error:
        table(text, tmp_path)
    assert reason in str(error.value)
    assert str(error.value).count("\n") == 0
    assert "own.toml" in str(error.value)
    assert error.value.is_lasting


@pytest.mark.parametrize(
    "own",
    [{"a/b": {"input": float("nan"), "output": 1}}, {"a/b": Price(D(-1), D(1))}, {"a/b": None}],
)
def test_wrong_prices_of_the_operator_are_refused(own):
    with pytest.raises(InvalidPrices, match="the settings"):
        Prices.load(extra=own)


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(InvalidPrices, match="No such file"):
        Prices.load(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidPrices, match="not text"):
        Prices.load(tmp_path / "bytes.toml")
