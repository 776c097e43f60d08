"""Access: which models can be asked, and by whom: the operator's providers, or a recording."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agents.models.caller import ModelCaller
from agents.models.errors import ModelNotConfigured
from agents.models.model import Model
from agents.models.openai_chat import OpenAiChat, warm
from agents.models.pricing import Prices
from agents.models.providers import KNOWN_PROVIDERS, Provider
from agents.models.rate_limit import RateLimit
from agents.models.recorded import Recorder, Recording


class ModelAccess:
    """Makes the clients of providers when they are first needed, and keeps them until closed.

    `providers` are the operator's, besides the known ones or instead of those of the same name;
    keys are taken from the `environment`. With `record_file` all that is asked and answered is
    written down; with `replay_file` it is answered from there, and no provider is asked.
    """

    def __init__(
        self,
        providers: Mapping[str, Provider] | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        prices: Prices | None = None,
        rate_limit: RateLimit | None = None,
        record_file: Path | None = None,
        replay_file: Path | None = None,
    ) -> None:
        """Raises `RecordingBroken` or `InvalidPrices`."""
        self.prices = prices or Prices.load()
        self._providers = {**KNOWN_PROVIDERS, **(providers or {})}
        self._environment = environment or {}
        self._record_file = record_file
        if record_file is not None:
            Recorder.check(record_file)
        self._clients: dict[str, OpenAiChat] = {}
        self._models: dict[str, Model] = {}
        self._is_replay = replay_file is not None
        if replay_file is None:
            self.caller = ModelCaller(self._model, self.prices, rate_limit=rate_limit)
        else:
            self.caller = ModelCaller.replaying(Recording(replay_file), self.prices)

    def check(self, model: str) -> None:
        """Raise `ModelNotConfigured` if a model (`provider/model`) cannot be asked."""
        if not self._is_replay:
            self._provider(model)

    async def warm(self) -> None:
        """Get ready to ask, so that the first request need not wait for that."""
        if not self._is_replay:
            await warm()

    async def aclose(self) -> None:
        """Close every connection. Safe to call twice."""
        for client in self._clients.values():
            await client.aclose()

    def _provider(self, model: str) -> Provider:
        name = model.partition("/")[0]
        if name not in self._providers:
            known = ", ".join(self._providers)
            raise ModelNotConfigured(model, f"there is no such provider; known are {known}")
        try:
            return self._providers[name].configured(self._environment)
        except ModelNotConfigured as error:
            raise ModelNotConfigured(model, error.reason) from None

    def _model(self, name: str) -> Model:
        """Return the client of a provider."""
        if name not in self._models:
            provider = self._provider(f"{name}/")
            client = self._clients[name] = OpenAiChat(provider)
            self._models[name] = client
            if self._record_file is not None:
                self._models[name] = Recorder(client, self._record_file, provider.secrets)
        return self._models[name]
