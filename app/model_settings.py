"""Settings of models: providers, and what their tokens cost, as tables of the settings file."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from agents.models.errors import ModelNotConfigured
from agents.models.model import ReplyForm
from agents.models.pricing import Price
from agents.models.providers import KNOWN_PROVIDERS, Provider


def _model_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,49}/\S{1,200}", name):
        raise PydanticCustomError(
            "no_model_name", "a model is named `provider/model`, such as openai/gpt-5-mini"
        )
    return name


ProviderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$")]
#: As `provider/model`; a model's own name may have slashes, too.
ModelName = Annotated[str, AfterValidator(_model_name)]
_Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
_Dollars = Annotated[Decimal, Field(ge=0, le=1_000_000)]


def _base_url(url: str) -> str:
    try:
        Provider("some", url)
    except ModelNotConfigured as error:
        raise PydanticCustomError("no_base_url", "{reason}", {"reason": error.reason}) from None
    return url


class ProviderSettings(BaseModel):
    """Whoever serves models over the protocol of OpenAI, as one table `[providers.NAME]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: Up to and including `/v1`; of a known provider it need not be said.
    base_url: Annotated[str, AfterValidator(_base_url)] | None = None
    #: The variable of the environment that holds the key. (A key itself does not belong here.)
    api_key_env: _Variable | None = None
    #: How many requests it gets per minute, from all processes together.
    requests_per_minute: int | None = Field(default=None, ge=1, le=1_000_000)
    #: How replies are asked for first; what a server refuses is found out.
    form: ReplyForm | None = None
    #: In seconds: how long a connection may take.
    connect_timeout: float | None = Field(default=None, gt=0, le=600)

    def provider(self, name: str) -> Provider:
        """Return the provider; raises `ModelNotConfigured`."""
        known = KNOWN_PROVIDERS.get(name)
        base_url = self.base_url or (known.base_url if known else None)
        if base_url is None:
            raise ModelNotConfigured(f"{name}/*", "its base_url is not set")
        # Another address is another server: the key of the known one is not for it.
        known = known if known is not None and base_url == known.base_url else None
        usual = known or Provider(name, base_url)
        timeout = self.connect_timeout
        return Provider(
            name,
            base_url,
            form=self.form or usual.form,
            limit_name=usual.limit_name,
            include_usage=usual.include_usage,
            connect_timeout=usual.connect_timeout
            if timeout is None
            else timedelta(seconds=timeout),
            key_variable=self.api_key_env or usual.key_variable,
            header_variables=usual.header_variables,
        )


class PriceSettings(BaseModel):
    """What a model costs in USD per million tokens, as one table `[prices."provider/model"]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: _Dollars
    output: _Dollars
    cached_input: _Dollars | None = None

    def price(self) -> Price:
        """Return the price."""
        return Price(self.input, self.output, self.cached_input)
