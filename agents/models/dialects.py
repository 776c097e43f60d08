"""Dialect: how a model wants to be asked, which is found out by asking.

What is wanted is a strict JSON schema; what a server takes may be less: a ladder of three rungs
(see `ReplyForm`), two names for the limit of tokens, and parameters that it may not know at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents.models.answers import ErrorAnswer
from agents.models.model import ModelRequest, ReplyForm, ReplySchema
from agents.models.providers import Provider

_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
#: What may be left out, and the reply is still one to the same question.
_OPTIONAL = ("temperature", "reasoning_effort", "seed", "stream_options", "usage")
#: By what other words servers speak of them: Ollama has models that "do not support thinking".
_ALSO_CALLED = {"reasoning_effort": ("reasoning effort", "thinking", "think")}
#: How servers speak of the form that they do not take.
_OF_FORMS = ("response_format", "json_schema", "json_object", "schema", "structured", "grammar")
#: What a schema may do without: some servers take no schema that has it.
_LENGTH = "maxLength"
#: The statuses of a server that does not take a parameter.
_NOT_TAKEN = (400, 404, 422, 501)
_RUNGS = tuple(ReplyForm)
_IN_WORDS = {
    ReplyForm.JSON_OBJECT: (
        "Answer with one JSON object only, which follows this JSON schema: {schema}"
    ),
    ReplyForm.TEXT: (
        "If you can, answer with one JSON object that follows this JSON schema: {schema}"
    ),
}


@dataclass(frozen=True)
class Dialect:
    """What a model of a provider is known, or hoped, to take."""

    form: ReplyForm
    limit_name: str
    #: The name for the limit that was refused, if one was.
    refused_limit: str = ""
    #: Parameters that are left out, and `maxLength` if schemas are to have none.
    without: frozenset[str] = frozenset()

    @classmethod
    def hoped_for(cls, provider: Provider) -> Dialect:
        """Return what is tried first."""
        return cls(provider.form, provider.limit_name)

    def form_of(self, request: ModelRequest) -> ReplyForm:
        """Return the form in which a request asks for its reply."""
        return ReplyForm.TEXT if request.schema is None else self.form

    def body(self, request: ModelRequest, model: str, *, include_usage: bool) -> dict[str, Any]:
        """Return what is sent for a request."""
        form = self.form_of(request)
        body: dict[str, Any] = {
            "model": model,
            "messages": _messages(request, form),
            "stream": True,
            self.limit_name: request.max_tokens,
        }
        if request.schema is not None and form is not ReplyForm.TEXT:
            body["response_format"] = self._response_format(form, request.schema)
        options = {
            "temperature": request.temperature,
            "reasoning_effort": request.effort,
            "seed": request.seed,
            "stream_options": {"include_usage": True},
            "usage": {"include": True} if include_usage else None,
        }
        return body | {
            name: value
            for name, value in options.items()
            if value is not None and name not in self.without
        }

    def after(self, answer: ErrorAnswer, body: Mapping[str, Any]) -> tuple[Dialect | None, bool]:
        """Return what to try after a refusal, if there is anything, and if the refusal named it."""
        if answer.status not in _NOT_TAKEN or answer.is_final:
            return None, False
        if answer.names(self.limit_name):
            if self.refused_limit:
                return None, True  # without a limit nothing is asked: it bounds what is spent
            other = _LIMIT_NAMES[1 - _LIMIT_NAMES.index(self.limit_name)]
            return replace(self, limit_name=other, refused_limit=self.limit_name), True
        for name in _OPTIONAL:
            if name in body and any(map(answer.names, (name, *_ALSO_CALLED.get(name, ())))):
                return replace(self, without=self.without | {name}), True
        if "response_format" not in body:
            return None, False
        is_of_forms = any(map(answer.names, (*_OF_FORMS, _LENGTH)))
        if not is_of_forms and answer.status != 400:
            return None, False
        if _has_length(body["response_format"]):
            # The next rung would lose the legal moves, for all who ask this model.
            return replace(self, without=self.without | {_LENGTH}), is_of_forms
        lower = _RUNGS[_RUNGS.index(self.form) + 1]
        return replace(self, form=lower), is_of_forms

    def _response_format(self, form: ReplyForm, schema: ReplySchema) -> dict[str, Any]:
        if form is ReplyForm.JSON_OBJECT:
            return {"type": "json_object"}
        inner: object = dict(schema.schema)
        if _LENGTH in self.without:
            inner = _without_length(inner)
        described = {"name": schema.name, "strict": True, "schema": inner}
        return {"type": "json_schema", "json_schema": described}


def _messages(request: ModelRequest, form: ReplyForm) -> list[dict[str, str]]:
    messages = [{"role": m.role.value, "content": m.content} for m in request.messages]
    if request.schema is not None and form in _IN_WORDS and messages:
        schema = json.dumps(dict(request.schema.schema), ensure_ascii=False)
        words = _IN_WORDS[form].format(schema=schema)
        messages[-1]["content"] += f"\n\n{words}"
    return messages


def _has_length(schema: object) -> bool:
    """Return whether a text in a schema has a limit. No property of ours is called like that."""
    if isinstance(schema, Mapping):
        return _LENGTH in schema or any(map(_has_length, schema.values()))
    return isinstance(schema, list | tuple) and any(map(_has_length, schema))


def _without_length(schema: object) -> object:
    if isinstance(schema, Mapping):
        return {name: _without_length(part) for name, part in schema.items() if name != _LENGTH}
    return [_without_length(part) for part in schema] if isinstance(schema, list) else schema
