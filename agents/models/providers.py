"""Provider: where models are asked, and with which key. The known ones are data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from ipaddress import IPv6Address, ip_address
from types import MappingProxyType
from urllib.parse import urlsplit

from agents.models.errors import ModelNotConfigured
from agents.models.model import ReplyForm
from agents.models.secrecy import without

#: What is too short to be a secret, and too common to be taken out of a text: servers that need no
#: key are often given "x".
_SHORTEST_SECRET = 6

#: What is asked where nobody names a model.
DEFAULT_MODEL = "openai/gpt-5-mini"


class Secret:
    """A text that is not shown: neither printed, nor in a `repr`, nor in a message."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text.strip()  # a key that is read from a file often has a line end

    def reveal(self) -> str:
        """Return the text itself."""
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __str__(self) -> str:
        return "***"

    def __repr__(self) -> str:
        return "Secret(***)"


@dataclass(frozen=True)
class Provider:
    """Whoever serves models over the chat completions protocol of OpenAI.

    Raises `ModelNotConfigured` for what cannot be one.
    """

    name: str
    #: Up to and including `/v1`.
    base_url: str
    api_key: Secret | None = None
    #: Sent besides; perhaps with secrets in them.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    #: The rung of the ladder that is tried first where JSON is wanted.
    form: ReplyForm = ReplyForm.JSON_SCHEMA
    #: The parameter that limits the length of a reply; the other name is tried where it is refused.
    limit_name: str = "max_tokens"
    #: Whether to ask with `usage: {include: true}`, and be told the cost: a habit of OpenRouter.
    include_usage: bool = False
    connect_timeout: timedelta = timedelta(seconds=10)
    #: The variable of the environment that has the key; None: no key is needed.
    key_variable: str | None = None
    #: Headers whose values are variables of the environment, where these are set.
    header_variables: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            is_usable = parts.scheme in ("http", "https") and bool(parts.hostname)
            is_usable = is_usable and (parts.port or 1) > 0 and self.base_url.isprintable()
        except ValueError:
            is_usable = False
        if not is_usable:
            raise self._unusable("its base URL is not an address of http or https")
        if parts.username is not None or parts.password is not None:
            # It would be in logs and messages.
            raise self._unusable("a user and a password do not belong in its base URL")
        # The HTTP library refuses others with a message that holds them.
        values = [*self.headers, *self.headers.values()]
        if self.api_key is not None:
            values.append(self.api_key.reveal())
        if not all(value.isascii() and value.isprintable() for value in values):
            raise self._unusable("its key or a header has characters that HTTP does not take")

    def configured(self, environment: Mapping[str, str]) -> Provider:
        """Return it with the key and the headers that the environment has.

        Raises `ModelNotConfigured` if it needs a key and there is none.
        """
        headers = {
            header: environment[variable]
            for header, variable in self.header_variables.items()
            if environment.get(variable)
        }
        key = self.api_key
        if key is None and self.key_variable is not None:
            key = Secret(environment.get(self.key_variable, "")) or None
            if key is None:
                raise self._unusable(f"{self.key_variable} is not set")
        return replace(self, api_key=key, headers={**headers, **self.headers})

    @property
    def is_on_loopback(self) -> bool:
        """Whether it runs on this very machine, where no proxy is of use."""
        host = urlsplit(self.base_url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            address = ip_address(host)
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            return address.ipv4_mapped.is_loopback
        return address.is_loopback

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nothing that the provider says may be passed on with, the longest first."""
        values = {*self.headers.values(), self.api_key.reveal() if self.api_key else ""}
        secrets = [value for value in values if len(value) >= _SHORTEST_SECRET]
        return tuple(sorted(secrets, key=len, reverse=True))

    def without_secrets(self, text: str) -> str:
        """Return a text with every secret of the provider taken out."""
        return without(self.secrets, text)

    def _unusable(self, reason: str) -> ModelNotConfigured:
        return ModelNotConfigured(f"{self.name}/*", reason)


KNOWN_PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        provider.name: provider
        for provider in (
            Provider(
                "openai",
                "https://api.openai.com/v1",
                limit_name="max_completion_tokens",  # its reasoning models know no other
                key_variable="OPENAI_API_KEY",
                header_variables={
                    "OpenAI-Organization": "OPENAI_ORG_ID",
                    "OpenAI-Project": "OPENAI_PROJECT_ID",
                },
            ),
            Provider(
                "openrouter",
                "https://openrouter.ai/api/v1",
                include_usage=True,
                key_variable="OPENROUTER_API_KEY",
            ),
            Provider("ollama", "http://127.0.0.1:11434/v1"),
            # Its own default, which is kibitz's too: where both run on one machine, one of them
            # has to be moved (`vllm serve --port 8001`), and the base URL with it.
            Provider("vllm", "http://127.0.0.1:8000/v1"),
            Provider("llamacpp", "http://127.0.0.1:8080/v1"),
        )
    }
)
