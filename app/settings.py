"""Settings: what the operator decides, in a TOML file and in the environment.

The file is `kibitz.toml` where the program is started, or what KIBITZ_CONFIG names. Variables named
KIBITZ_..., such as KIBITZ_ENGINE_PROCESSES, win over it. One that is
empty counts as not set. A misspelt name in the file is an error.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    model_validator,
)
from pydantic import ValidationError as PydanticError
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from agents.models.providers import DEFAULT_MODEL
from agents.uci.limits import MAX_DEPTH, MAX_NODES, MAX_TIME, Limit
from agents.uci.program import UciProgram
from app.errors import AppError
from app.model_settings import ModelName, PriceSettings, ProviderName, ProviderSettings

CONFIG_VARIABLE = "KIBITZ_CONFIG"
CONFIG_FILE = Path("kibitz.toml")

EngineName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$")]


def _no_bool(value: object) -> object:
    if isinstance(value, bool):  # which Python counts among the numbers
        raise PydanticCustomError("no_number", "it should be a whole number")
    return value


def _option_value(value: object) -> object:
    if not isinstance(value, bool | int | str):
        message = "it should be true, false, a whole number or text"
        raise PydanticCustomError("no_option_value", message)
    return value


def _command_part(part: str) -> str:
    if not part or "\0" in part:
        raise PydanticCustomError("no_part", "it should not be empty, and have no NUL in it")
    return part


def _command(value: object) -> object:
    """Return a program alone, or a list as TOML has it, as the parts of a command."""
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        raise PydanticCustomError("no_command", "it should be a program, or a list that starts so")
    return tuple(
        _expand(part) if isinstance(part, str) and not number else part
        for number, part in enumerate(parts)
    )


def _folder(value: object) -> object:
    if isinstance(value, str) and "\0" in value:
        raise PydanticCustomError("no_folder", "it should have no NUL in it")
    return _expand(value) if isinstance(value, str) else value


def _parts(value: object) -> object:
    """Return a text with commas, or a list as TOML has it, as parts without the spaces around."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple):
        raise PydanticCustomError("no_parts", "it should be text with commas, or a list of texts")
    return tuple(part.strip() if isinstance(part, str) else part for part in value)


def _token(value: object) -> object:
    """Read one token. What is wrong is said without it, since it may be a secret."""
    if isinstance(value, ApiToken):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("no_token", "a token should be text")
    scope, colon, secret = value.rpartition(":")
    if colon and scope not in tuple(Scope):
        raise PydanticCustomError("no_scope", "before the colon of a token is `read` or `write`")
    if not _TOKEN.fullmatch(secret):
        raise PydanticCustomError(
            "no_token", "a token has 8 to 200 letters, digits or any of ._~+/=-, and no others"
        )
    return ApiToken(Scope(scope or Scope.WRITE), SecretStr(secret))


def _tokens(tokens: tuple[ApiToken, ...]) -> tuple[ApiToken, ...]:
    if len({token.secret.get_secret_value() for token in tokens}) < len(tokens):
        raise PydanticCustomError("same_token", "the same token is there twice")
    return tokens


def _host_name(name: str) -> str:
    address = name.removeprefix("[").removesuffix("]")
    try:
        return str(ip_address(address))
    except ValueError:
        if not _HOST_NAME.fullmatch(name):
            message = "it should be a name or an address, without a port"
            raise PydanticCustomError("no_host", message) from None
    return name.lower()


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _expand(text: str) -> str:
    return os.path.expanduser(text)  # noqa: PTH111 - a Path would make `engine` of `./engine`


#: What `Authorization: Bearer` can carry.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{8,200}")
_HOST_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")


class Scope(StrEnum):
    """What a token lets do. Who may write may read, too."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token that clients show, and what it lets them do. It is never printed."""

    scope: Scope
    secret: SecretStr


_WholeNumber = Annotated[int, BeforeValidator(_no_bool)]
_Command = Annotated[
    tuple[Annotated[str, AfterValidator(_command_part)], ...],
    Field(min_length=1),
    BeforeValidator(_command),
]
#: By name. The engine itself says which there are, and what they take.
_Options = dict[str, Annotated[bool | int | str, BeforeValidator(_option_value)]]


class InvalidSettings(AppError):
    """Settings that cannot be used; the message is one sentence for the operator."""


class EngineSettings(BaseModel):
    """A UCI engine that can be seated as `uci:NAME`, as one table `[engines.NAME]`."""

    # Strict: `depth = true` is a mistake and not a depth of 1.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    #: The program, or the program and its arguments. There is no shell, but `~` is a home.
    command: _Command
    #: What people call it; the name, if not given.
    title: str = ""
    options: _Options = {}
    environment: dict[str, str] = {}
    depth: int | None = Field(None, ge=1, le=MAX_DEPTH)
    nodes: int | None = Field(None, ge=1, le=MAX_NODES)
    #: In milliseconds.
    move_time: int | None = Field(None, ge=1, le=MAX_TIME // timedelta(milliseconds=1))

    def program(self, name: str) -> UciProgram:
        """Return the program to start."""
        time = None if self.move_time is None else timedelta(milliseconds=self.move_time)
        limit = Limit(depth=self.depth, nodes=self.nodes, time=time)
        return UciProgram(
            self.title or name,
            self.command,
            self.options,
            self.environment,
            limit if limit.is_set else None,
        )


class Settings(BaseSettings):
    """All settings; made by `load_settings`."""

    model_config = SettingsConfigDict(
        env_prefix="KIBITZ_",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    engines: dict[EngineName, EngineSettings] = {}
    #: Of Stockfish, for the levels and for analysis: `{ Hash = 64, SyzygyPath = "/srv/syzygy" }`.
    stockfish_options: _Options = {}
    #: How many processes of each UCI engine may run at a time.
    engine_processes: _WholeNumber = Field(
        default_factory=lambda: os.cpu_count() or 2, ge=1, le=1024
    )
    #: Where what should last is kept; `~` is a home.
    data_folder: Annotated[Path, BeforeValidator(_folder)] = Field(
        default_factory=lambda: platformdirs.user_data_path("kibitz")
    )
    #: Where matches are kept: `postgresql://USER:PASSWORD@HOST/NAME`, or `sqlite:///FILE`; without
    #: it, a file in the data folder. It may hold a password, so it is never printed.
    database: SecretStr | None = None

    #: The address to listen on. Any but a loopback one needs tokens.
    host: Annotated[str, AfterValidator(_host_name)] = "127.0.0.1"
    #: 0 is any that is free.
    port: _WholeNumber = Field(default=8000, ge=0, le=65535)
    #: Who may do what: `read:SECRET`, `write:SECRET` or `SECRET`, which may write; with commas
    #: between them. Without any, everyone who can reach the service may do everything.
    api_tokens: Annotated[
        tuple[Annotated[ApiToken, BeforeValidator(_token)], ...],
        NoDecode,
        BeforeValidator(_parts),
        AfterValidator(_tokens),
    ] = ()
    #: Whether to listen on any address though there are no tokens.
    allow_open: bool = False
    #: Names by which the service is reached, besides those of loopback, with commas between them.
    allowed_hosts: Annotated[
        tuple[Annotated[str, AfterValidator(_host_name)], ...], NoDecode, BeforeValidator(_parts)
    ] = ()

    #: The longest body of a request.
    max_body_bytes: _WholeNumber = Field(default=256_000, ge=1_000, le=100_000_000)
    #: How many streams of events may be open at a time, and how many of them by one client.
    max_streams: _WholeNumber = Field(default=5_000, ge=1, le=1_000_000)
    max_streams_per_client: _WholeNumber = Field(default=2_000, ge=1, le=1_000_000)
    #: How many matches of one client may be unfinished at a time.
    max_matches_per_client: _WholeNumber = Field(default=1_000, ge=1, le=1_000_000)
    #: How many matches a client may start at once, and again in every minute after.
    starts_per_minute: _WholeNumber = Field(default=600, ge=1, le=1_000_000)
    #: How many matches are played at a time; more wait for their turn.
    concurrent_matches: _WholeNumber = Field(default=100, ge=1, le=100_000)

    #: How many evaluations are conducted at a time, and how many of one client may be open.
    concurrent_evaluations: _WholeNumber = Field(default=4, ge=1, le=1_000)
    max_evaluations_per_client: _WholeNumber = Field(default=100, ge=1, le=1_000_000)

    #: The model of every team member that names no other, as `provider/model`.
    model: ModelName = DEFAULT_MODEL
    #: Where models are asked, besides the known providers or instead of them.
    providers: dict[ProviderName, ProviderSettings] = {}
    #: USD per million tokens, by `provider/model` or `provider/*`; they win over the known ones.
    prices: dict[ModelName, PriceSettings] = {}
    #: A folder with teams of your own, `NAME.toml`, and their prompts; `~` is a home.
    teams_folder: Annotated[Path, BeforeValidator(_folder)] | None = None
    #: A file to which all that models are asked and answer is written.
    record_file: Annotated[Path, BeforeValidator(_folder)] | None = None
    #: A file from which models' answers are taken; then no provider is asked, and nothing costs.
    replay_file: Annotated[Path, BeforeValidator(_folder)] | None = None

    log_level: Annotated[
        Literal["debug", "info", "warning", "error", "critical"], BeforeValidator(_lower)
    ] = "info"

    @model_validator(mode="after")
    def _check_recording(self) -> Self:
        if self.record_file is not None and self.replay_file is not None:
            raise ValueError("record_file and replay_file cannot both be set")
        return self

    @property
    def database_url(self) -> str:
        """Where matches are kept, password and all."""
        if self.database is not None:
            return self.database.get_secret_value()
        return f"sqlite:///{self.data_folder / 'kibitz.db'}"

    @property
    def ratings_file(self) -> Path:
        """Where `kibitz calibrate` writes, and where the levels read."""
        return self.data_folder / "ratings.json"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Say what wins over what: arguments, the environment, the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, config_file())


def config_file() -> Path:
    """Return where the settings are read from, if it is there."""
    return Path(os.environ.get(CONFIG_VARIABLE) or CONFIG_FILE)


def load_settings(**given: Any) -> Settings:  # noqa: ANN401 - what they may be is checked here
    """Read the settings, or raise `InvalidSettings`. What is given here wins over all else."""
    path = config_file()
    if os.environ.get(CONFIG_VARIABLE) and not path.is_file():
        raise InvalidSettings(f"{CONFIG_VARIABLE} names {path}, which is no file")
    try:
        return Settings(**given)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidSettings(f"{path} is not TOML: {error}") from None
    except UnicodeDecodeError:
        raise InvalidSettings(f"{path} is not text") from None
    except OSError as error:
        raise InvalidSettings(f"{path} cannot be read: {error.strerror}") from None
    except SettingsError as error:
        raise InvalidSettings(f"a variable of the environment is wrong: {error}") from None
    except PydanticError as error:
        raise InvalidSettings(_sentence(error)) from None
    except ValueError as error:  # a number of thousands of digits
        raise InvalidSettings(f"{path} is not TOML: {error}") from None


def _sentence(error: PydanticError) -> str:
    first: Any = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"] if part != "[key]")
    where = where if where.isprintable() else ascii(where)[1:-1]
    more = error.error_count() - 1
    others = f" (and {more} more)" if more else ""
    reason = first["msg"].removeprefix("Value error, ")
    if not where:
        return f"the settings are wrong: {reason}{others}"
    return f"the setting {where} is wrong: {reason}{others}"
