"""Pricing: what tokens cost, by a table with a date."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation, localcontext
from importlib.resources import files
from pathlib import Path
from typing import Any

from agents.models.errors import InvalidPrices
from agents.models.model import Usage
from engine.errors import shown

#: More digits than any number of tokens times any price has, so nothing is ever rounded.
_DIGITS = 80
#: No price is above it: more means that somebody took it for the price of one token, or of all.
_LARGEST = Decimal(1_000_000)
_SMALLEST_STEP = -20
_FIELDS = frozenset({"input", "cached_input", "output"})
_SETTINGS = "the settings"


@dataclass(frozen=True)
class Price:
    """What a model costs, in USD per million tokens."""

    input: Decimal
    output: Decimal
    #: None: as much as any other input.
    cached_input: Decimal | None = None


@dataclass(frozen=True)
class Prices:
    """What models cost: by the operator's own prices, and else by a table."""

    #: The day for which the table holds.
    as_of: date
    #: Where its figures are from.
    source: str
    table: Mapping[str, Price]
    #: The operator's own.
    own: Mapping[str, Price] = field(default_factory=dict)

    @classmethod
    def load(
        cls, path: Path | None = None, extra: Mapping[str, Price | Mapping[str, Any]] | None = None
    ) -> Prices:
        """Read a file, or else the table of the project; `extra` are the operator's own prices.

        Raises `InvalidPrices`.
        """
        source = files(__package__) / "prices.toml" if path is None else path
        name = "prices.toml" if path is None else str(path)
        try:
            data = tomllib.loads(source.read_text(encoding="utf-8"), parse_float=Decimal)
        except OSError as error:
            raise InvalidPrices(name, error.strerror or "it cannot be read") from None
        except UnicodeDecodeError:
            raise InvalidPrices(name, "it is not text") from None
        except (tomllib.TOMLDecodeError, InvalidOperation, RecursionError) as error:
            reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "a wrong number"
            raise InvalidPrices(name, f"it is no TOML ({reason})") from None
        prices = _from_data(name, data)
        own = {model: _price(_SETTINGS, model, each) for model, each in (extra or {}).items()}
        return cls(prices.as_of, prices.source, prices.table, own)

    def of(self, model: str) -> Price | None:
        """Return the price of a model (`provider/model`), or None if nobody knows it.

        What the operator says counts before the table, and a model's own price before that of all
        models of its provider.
        """
        anything = f"{model.partition('/')[0]}/*"
        for prices in (self.own, self.table):
            price = prices.get(model) or prices.get(anything)
            if price is not None:
                return price
        return None

    def cost(self, model: str, usage: Usage) -> Decimal | None:
        """Return what a call cost, to the last digit; None if nobody knows.

        What the provider itself says counts before every table.
        """
        said = usage.cost_usd
        if said is not None and said.is_finite() and said >= 0:
            return said
        price = self.of(model)
        if price is None:
            return None
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        cached_price = price.input if price.cached_input is None else price.cached_input
        return _per_million(
            (usage.prompt_tokens - cached, price.input),
            (cached, cached_price),
            (usage.completion_tokens, price.output),
        )

    def worst(self, model: str, prompt_tokens: int, max_tokens: int) -> Decimal | None:
        """Return the most that a call can cost whose tokens are bounded; None if nobody knows."""
        price = self.of(model)
        if price is None:
            return None
        dearest = max(price.input, price.cached_input or price.input)
        return _per_million((prompt_tokens, dearest), (max_tokens, price.output))


def _per_million(*terms: tuple[int, Decimal]) -> Decimal:
    with localcontext(prec=_DIGITS):
        total = sum((tokens * price for tokens, price in terms), Decimal(0))
        return total.scaleb(-6)


def _from_data(name: str, data: Mapping[str, Any]) -> Prices:
    as_of = data.get("as_of")
    if not isinstance(as_of, date) or isinstance(as_of, datetime):
        raise InvalidPrices(name, "`as_of` has to be a date, such as 2026-03-21")
    source = data.get("source", "")
    if not isinstance(source, str):
        raise InvalidPrices(name, "`source` has to be text")
    table = data.get("prices")
    if not isinstance(table, dict):
        raise InvalidPrices(name, "it has no table `prices`")
    if unknown := sorted(data.keys() - {"as_of", "source", "prices"}):
        raise InvalidPrices(name, f"nobody knows what {shown(unknown[0])} is")
    return Prices(as_of, source, {model: _price(name, model, it) for model, it in table.items()})


def _price(name: str, model: str, data: object) -> Price:
    provider, _, rest = model.partition("/")
    if not provider or not rest or "*" in provider or ("*" in rest and rest != "*"):
        raise InvalidPrices(name, f"{shown(model)} is neither `provider/model` nor `provider/*`")
    if isinstance(data, Price):
        data = {
            "input": data.input,
            "output": data.output,
            **({} if data.cached_input is None else {"cached_input": data.cached_input}),
        }
    if not isinstance(data, Mapping):
        raise InvalidPrices(name, f"{shown(model)} has no prices for `input` and `output`")
    if unknown := sorted(str(key) for key in data.keys() - _FIELDS):
        raise InvalidPrices(name, f"{shown(model)} has a price for {shown(unknown[0])}")
    for wanted in ("input", "output"):
        if wanted not in data:
            raise InvalidPrices(name, f"{shown(model)} has no price for `{wanted}`")
    amounts = {str(key): _amount(name, model, str(key), each) for key, each in data.items()}
    return Price(**amounts)


def _amount(name: str, model: str, key: str, value: object) -> Decimal:
    wrong = InvalidPrices(name, f"the price `{key}` of {shown(model)} is no number from 0 up")
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise wrong
    try:
        amount = Decimal(str(value))  # a float means what it is written as
    except InvalidOperation:
        raise wrong from None
    if not amount.is_finite() or amount < 0:
        raise wrong
    exponent = amount.as_tuple().exponent
    if amount > _LARGEST or (isinstance(exponent, int) and exponent < _SMALLEST_STEP):
        reason = f"the price `{key}` of {shown(model)} is not one in USD per million tokens"
        raise InvalidPrices(name, reason)
    return amount
