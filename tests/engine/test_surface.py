"""The public surface: names that others build on."""

import subprocess
import sys
from pathlib import Path

import engine

PROMISED = {
    "Game",
    "Move",
    "Outcome",
    "Position",
    "Termination",
    "perft",
    "read_games",
}


def test_the_promised_names_are_there():
    assert set(engine.__all__) >= PROMISED
    assert all(hasattr(engine, name) for name in engine.__all__)


def test_every_error_is_a_rules_error_and_exported():
    errors = {
        name
        for name, value in vars(engine.errors).items()
        if isinstance(value, type) and issubclass(value, engine.RulesError)
    }
    assert errors <= set(engine.__all__)


def test_the_engine_needs_the_standard_library_only():
    script = (
        "import sys; before = set(sys.modules); import engine; "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "foreign = new - set(sys.stdlib_module_names) - {'engine'}; "
        "sys.exit(', '.join(sorted(foreign)) or 0)"
    )
    run = subprocess.run(
        [sys.executable, "-S", "-c", script],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
