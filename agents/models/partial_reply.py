"""PartialReply: a reply while it arrives, chunk by chunk. No I/O."""

from __future__ import annotations

import json
from datetime import timedelta

from agents.models.answers import ErrorAnswer
from agents.models.legible import legible
from agents.models.model import ModelReply, ReplyForm, Usage
from agents.models.usages import estimated, read_usage

#: Where a reply is cut off: more than any model writes.
MAX_CHARACTERS = 200_000
_MAX_REFUSAL = 2000
_MAX_NAME = 200
#: How models' servers call thoughts that are no part of the reply.
_HIDDEN = ("reasoning_content", "reasoning")


class MalformedChunk(Exception):
    """A chunk that is not what the protocol says; its text says why."""


class PartialReply:
    """What has arrived of one reply."""

    def __init__(self, prompt_characters: int) -> None:
        self._prompt = prompt_characters
        self._pieces: list[str] = []
        self._length = 0
        self._hidden = 0
        self._refusal = ""
        self._finish_reason = ""
        self._model = ""
        self._usage: object = None
        #: Whether anything of a reply has come.
        self.has_begun = False
        #: Whether there was a choice in it: all but the usage.
        self.has_choices = False
        #: Whether the end was announced.
        self.is_done = False
        #: Whether it was longer than any reply may be.
        self.is_cut_off = False

    @property
    def is_whole(self) -> bool:
        """Whether all was said, although the usage may still follow."""
        return self.is_done or bool(self._finish_reason)

    def take(self, text: str) -> str:
        """Take the data of one event in, and return the words that were said in it.

        Raises `MalformedChunk`, or `ErrorAnswer` if it tells of an error.
        """
        if text.startswith("[DONE]"):
            self.is_done = True
            return ""
        try:
            chunk = json.loads(text)
        except (ValueError, RecursionError):
            raise MalformedChunk("a chunk is not JSON") from None
        return self.take_chunk(chunk)

    def take_chunk(self, chunk: object) -> str:
        """Take one chunk in, or a whole completion."""
        if not isinstance(chunk, dict):
            raise MalformedChunk("a chunk is not an object")
        if chunk.get("error"):
            raise ErrorAnswer.in_stream(chunk)
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._usage = usage
        if isinstance(chunk.get("model"), str):
            self._model = legible(chunk["model"][:_MAX_NAME])
        choices = chunk.get("choices")
        if choices is None and isinstance(usage, dict):
            choices = []
        if not isinstance(choices, list):
            raise MalformedChunk("a chunk has no choices")
        self.has_begun = True
        self.has_choices = self.has_choices or bool(choices)
        return "".join([self._choose(choice) for choice in choices])

    def _choose(self, choice: object) -> str:
        if not isinstance(choice, dict):
            raise MalformedChunk("a choice is not an object")
        if choice.get("index") not in (0, None):
            return ""  # nobody asked for a second one
        reason = choice.get("finish_reason")
        if reason == "error":
            raise MalformedChunk("the reply ended with an error")
        said = choice.get("delta")
        if said is None:
            said = choice.get("message", {})
        if said is None:
            said = {}
        if not isinstance(said, dict):
            raise MalformedChunk("a delta is not an object")
        for name in _HIDDEN:
            if isinstance(said.get(name), str):
                self._hidden += len(said[name])
                break  # some send the same thoughts under both names
        if isinstance(said.get("refusal"), str):
            self._refusal = (self._refusal + legible(said["refusal"]))[:_MAX_REFUSAL]
        words = self._say(legible(self._content(said.get("content"))))
        if isinstance(reason, str) and reason:
            self._finish_reason = legible(reason[:_MAX_NAME])
        return words

    def _content(self, content: object) -> str:
        if content is None or isinstance(content, str):
            return content or ""
        if not isinstance(content, list):
            raise MalformedChunk("the content is not a text")
        # In parts, some of which may be thoughts.
        words = []
        for part in content:
            text = part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str) and part.get("type") in ("text", None):
                words.append(text)
            else:
                self._hidden += len(str(part))
        return "".join(words)

    def _say(self, words: str) -> str:
        room = MAX_CHARACTERS - self._length
        if len(words) > room:
            self.is_cut_off = True
            words = words[:room]
        if words:
            self._pieces.append(words)
            self._length += len(words)
        return words

    @property
    def usage(self) -> Usage:
        """What it took, as far as anybody knows."""
        written = self._length + self._hidden + len(self._refusal)
        return read_usage(self._usage, self._prompt, written)

    @property
    def usage_so_far(self) -> Usage:
        """What a reply took that will never be whole."""
        if self._usage is not None:
            return self.usage
        written = estimated(self._length + self._hidden + len(self._refusal))
        prompt = max(estimated(self._prompt), 1)
        return Usage(prompt_tokens=prompt, completion_tokens=written, is_estimated=True)

    def reply(self, latency: timedelta, form: ReplyForm) -> ModelReply:
        """Return the reply, as whole as it will ever be."""
        reason = self._finish_reason or "stop"
        refusal = self._refusal
        if reason == "content_filter" and not refusal:
            refusal = "the provider's content filter stopped the reply"
        return ModelReply(
            text="".join(self._pieces),
            usage=self.usage,
            latency=latency,
            finish_reason="length" if self.is_cut_off else reason,
            refusal=refusal,
            model=self._model,
            form=form,
        )
