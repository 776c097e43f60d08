"""The documentation tells the truth: its code runs, its links lead somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *ROOT.glob("docs/**/*.md"),
]
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)")
COMMAND = re.compile(r"^make ([a-z-]+)", re.MULTILINE)


def blocks():
    for page in PAGES:
        if page.name == "move-generation.md":
            continue  # its code is cut out of functions
        for number, code in enumerate(CODE.findall(page.read_text())):
            yield pytest.param(code, id=f"{page.relative_to(ROOT)}-{number}")


@pytest.mark.parametrize("code", list(blocks()))
def test_the_code_on_a_page_runs(code):
    exec(compile(code, "page", "exec"), {"__name__": "page"})


def test_what_the_readme_says_is_printed_is_printed(capsys):
    readme = (ROOT / "README.md").read_text()
    for code in CODE.findall(readme):
        exec(compile(code, "README.md", "exec"), {"__name__": "page"})
        promised = re.findall(r"^\s*print\(.*\)\s+# (.*)$", code, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == promised
        assert promised


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_commands_of_the_readme_run():
    readme = (ROOT / "README.md").read_text()
    commands = re.findall(r"^\.venv/bin/kibitz (.*)$", readme, re.MULTILINE)
    assert commands
    kibitz = Path(sys.executable).with_name("kibitz")
    for arguments in map(shlex.split, commands):
        run = subprocess.run([kibitz, *arguments], capture_output=True, text=True, check=False)
        assert (run.returncode, run.stderr) == (0, ""), arguments
        assert run.stdout


def test_every_make_task_a_page_names_exists():
    tasks = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        assert set(COMMAND.findall(page.read_text())) <= tasks
