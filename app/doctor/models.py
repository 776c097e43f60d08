"""Checks of models: whether those that are used can be asked, without asking them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.catalogue import Catalogue
from agents.models.access import ModelAccess
from agents.models.errors import ModelNotConfigured
from agents.models.pricing import Price
from agents.models.providers import KNOWN_PROVIDERS, Provider
from agents.models.recorded import Recording
from app.doctor.findings import Finding, failure, fine, note, warning
from app.doctor.machine import is_there, may

if TYPE_CHECKING:
    from app.settings import Settings

SUBJECT = "Model"
ADVICE = "mend [providers], [prices] or the files of recordings in the settings"
#: So many of those who ask a model are named.
_NAMED = 3


def look_at_models(settings: Settings, catalogue: Catalogue) -> Sequence[Finding]:
    """Say of each model that teams ask whether there is a key and a price; nothing is sent.

    Raises `ModelNotConfigured` for a provider that cannot be one, and `RecordingBroken`.
    """
    if settings.replay_file is not None:
        Recording(settings.replay_file)
        case = f"all answers come from {settings.replay_file}, so no provider is asked"
        return [note(SUBJECT, case, "unset replay_file to ask models")]
    found = [*_recording(settings.record_file)]
    access = ModelAccess(own_providers(settings), os.environ, prices=catalogue.prices)
    for model, askers in _asked(catalogue).items():
        found.append(_model(model, askers, settings, access))
    return [*found, *_unaffordable(catalogue, access)]


def own_providers(settings: Settings) -> dict[str, Provider]:
    """Return the providers of the settings; raises `ModelNotConfigured` if one cannot be one."""
    return {name: each.provider(name) for name, each in settings.providers.items()}


def key_variable_of(model: str, settings: Settings) -> str | None:
    """Return the variable that holds the key of a model, if it needs one."""
    provider = {**KNOWN_PROVIDERS, **own_providers(settings)}.get(model.partition("/")[0])
    return None if provider is None else provider.key_variable


def _asked(catalogue: Catalogue) -> dict[str, list[str]]:
    """Return every model that players ask, with their names."""
    asked: dict[str, list[str]] = {}
    for name in catalogue.names:
        for model in catalogue.models_of(name):
            asked.setdefault(model, []).append(name)
    return asked


def _model(model: str, askers: Sequence[str], settings: Settings, access: ModelAccess) -> Finding:
    variable = key_variable_of(model, settings)
    price = access.prices.of(model)
    asked_by = ", ".join(askers[:_NAMED])
    if len(askers) > _NAMED:
        asked_by += f" and {len(askers) - _NAMED} more"
    figures = {
        "model": model,
        "asked_by": list(askers),
        "key_variable": variable,
        "price": None
        if price is None
        else {"input": str(price.input), "output": str(price.output)},
    }
    try:
        access.check(model)
    except ModelNotConfigured as error:
        case = f"{asked_by} cannot ask {model}: {error.reason}"
        advice = (
            f"export {variable}=..., or set `model` to one that you can ask"
            if variable
            else f"mend [providers.{model.partition('/')[0]}] in the settings"
        )
        return warning(SUBJECT, case, advice, **figures)
    key = f"{variable} is set" if variable else "it needs no key"
    case = f"{model}, asked by {asked_by}: {key}"
    if price is None:
        advice = f'set its price if there is one: [prices."{model}"] with `input` and `output`'
        return note(SUBJECT, f"{case}; nobody knows what it costs", advice, **figures)
    return fine(SUBJECT, f"{case}; {_costs(price)}", **figures)


def _unaffordable(catalogue: Catalogue, access: ModelAccess) -> Sequence[Finding]:
    """Return what is to be said of players whose models can be asked, but who cannot be seated."""
    found = []
    for name in catalogue.names:
        lack = catalogue.lack_of(name)
        if lack and all(_can_be_asked(model, access) for model in catalogue.models_of(name)):
            advice = "set the price, as [prices] in the settings has it"
            found.append(warning(SUBJECT, f"{name} cannot be seated: {lack}", advice))
    return found


def _can_be_asked(model: str, access: ModelAccess) -> bool:
    try:
        access.check(model)
    except ModelNotConfigured:
        return False
    return True


def _recording(file: Path | None) -> Sequence[Finding]:
    """Return what is to be said of the file to which all is written, which is not made here."""
    if file is None:
        return []
    folder = file.absolute().parent
    if is_there(file):
        is_usable = file.is_file() and may(file, os.W_OK)
    else:
        is_usable = is_there(folder) and folder.is_dir() and may(folder, os.W_OK | os.X_OK)
    if is_usable:
        return [note(SUBJECT, f"all that models are asked and answer is written to {file}")]
    advice = "set record_file to a file that you can write, or unset it"
    return [failure(SUBJECT, f"the recording {file} cannot be written", advice)]


def _costs(price: Price) -> str:
    if not price.input and not price.output:
        return "it costs nothing"
    read, written = (f"{each.normalize():f}" for each in (price.input, price.output))
    return f"a million tokens cost {read} USD read, and {written} USD written"
