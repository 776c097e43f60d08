"""Asking: one cheap call to a model, to see that it answers, and what that cost."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from agents.catalogue import Catalogue
from agents.errors import UnknownPlayer
from agents.models.access import ModelAccess
from agents.models.errors import (
    BrokenReply,
    ConnectionLost,
    ModelError,
    ModelNotConfigured,
    ProviderSilent,
    RateLimited,
    RequestRefused,
)
from agents.models.model import Message, ModelReply, ModelRequest, Role
from agents.models.openai_chat import OpenAiChat
from agents.models.providers import KNOWN_PROVIDERS, Provider
from app.doctor.findings import Finding, failure, fine, note, warning
from app.doctor.models import own_providers
from app.errors import AppError
from engine.errors import shown

if TYPE_CHECKING:
    from app.settings import Settings

SUBJECT = "Answer"
_QUESTION = (Message(Role.USER, "Answer with one word: ready"),)
#: Some think before they write, and are cut off then; that they answer is all we want to know.
_MOST_TOKENS = 32
_MODEL = re.compile(r"[^/:\s]+/\S{1,200}")
_KEY_REFUSED, _NO_MONEY, _NOT_FOUND = (401, 403), 402, 404


@dataclass(eq=False)
class AsksNoModel(AppError):
    """A player that was to ask its model, and has none."""

    player: str

    def __str__(self) -> str:
        return f"{shown(self.player)} asks no model: name a team, or a model as provider/model"


def models_to_ask(name: str, settings: Settings, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the models that a player or a model's own name stands for; empty is the default one.

    Raises `UnknownPlayer` or `AsksNoModel`.
    """
    if not name:
        return (settings.model,)
    if _MODEL.fullmatch(name):
        return (name,)
    if name not in catalogue.names:
        raise UnknownPlayer(name, catalogue.names)
    models = catalogue.models_of(name)
    if not models:
        raise AsksNoModel(name)
    return models


async def ask_model(
    model: str, settings: Settings, catalogue: Catalogue, patience: timedelta
) -> Sequence[Finding]:
    """Ask a model once, and say what came of it."""
    if settings.replay_file is not None:
        return [note(SUBJECT, f"{model} is not asked, since replay_file is set")]
    try:
        reply = await _reply(_provider(model, settings), model, patience)
    except ModelError as error:
        return [_complaint(model, error)]
    usage, cost = reply.usage, catalogue.prices.cost(model, reply.usage)
    seconds = reply.latency.total_seconds()
    price = "nobody knows what it cost" if cost is None else f"it cost {cost.normalize():f} USD"
    tokens = f"{'about ' if usage.is_estimated else ''}{usage.tokens} tokens"
    figures = {
        "model": model,
        "answered_by": reply.model,
        "seconds": round(seconds, 3),
        "tokens": usage.tokens,
        "usd": None if cost is None else f"{cost:f}",
    }
    return [fine(SUBJECT, f"{model} answered in {seconds:.1f} s: {tokens}, {price}", **figures)]


def _provider(model: str, settings: Settings) -> Provider:
    """Return who has the model, with the key; raises `ModelNotConfigured`."""
    own = own_providers(settings)
    ModelAccess(own, os.environ).check(model)
    return {**KNOWN_PROVIDERS, **own}[model.partition("/")[0]].configured(os.environ)


async def _reply(provider: Provider, model: str, patience: timedelta) -> ModelReply:
    chat = OpenAiChat(provider)
    try:
        request = ModelRequest(model, _QUESTION, _MOST_TOKENS, timeout=patience)
        return await chat.ask(request, lambda _words: None)
    finally:
        await chat.aclose()


def _complaint(model: str, error: ModelError) -> Finding:
    provider = model.partition("/")[0]
    table = f"[providers.{provider}] in the settings"
    case = str(error)
    match error:
        case RateLimited():
            return warning(SUBJECT, case, "wait; the key itself is accepted", model=model)
        case ModelNotConfigured():
            advice = f"export the key, or mend {table}"
        case RequestRefused(status=status) if status in _KEY_REFUSED:
            advice = f"put the right key into the variable, or name another one in {table}"
        case RequestRefused(status=status) if status == _NO_MONEY:
            advice = f"pay {provider}, or ask another one"
        case RequestRefused(status=status) if status == _NOT_FOUND:
            advice = f"ask a model that {provider} has, or mend base_url of {table}"
        case ConnectionLost() | ProviderSilent():
            advice = f"see that it runs and can be reached, and that base_url of {table} is right"
        case BrokenReply():
            advice = f"see that base_url of {table} ends as its server has it, often with /v1"
        case _:
            advice = f"see what {provider} says of itself, or ask another one"
    return failure(SUBJECT, case, advice, model=model)
