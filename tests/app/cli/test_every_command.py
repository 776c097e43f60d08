"""What holds for all commands alike, also for those that are yet to come: help, examples, mistakes.

A command that is added to the tree is tested here without a word.
"""

import errno
import functools
import io
import itertools
import os
import re
import signal
import subprocess
import sys

import pytest
from rich.text import Text
from typer.exceptions import TyperException

from app.cli import main
from app.cli.complaints import complain
from tests.support.command_line import KIBITZ, kibitz
from tests.support.command_tree import arguments_of, commands, examples, groups, parse
from tests.support.processes import HANGS_AFTER
from tests.support.terminal import on_terminal

COMMANDS, GROUPS = commands(), groups()
EVERYTHING = {**GROUPS, **COMMANDS}
LETTERS = re.compile(r"[^\w\[\]<>%$=:,.'-]+")
#: Nothing is broken into lines.
WIDE = "2000"


def words(text):
    """Return a text without what frames it, and breaks its lines."""
    return " ".join(LETTERS.sub(" ", text).split())


@functools.cache
def help_of(name, option="--help", columns="80"):
    run = kibitz(*name.split(), option, COLUMNS=columns)
    assert (run.returncode, run.stderr) == (0, ""), run
    return run.stdout


def parameters():
    for name, command in EVERYTHING.items():
        for parameter in command.params:
            yield pytest.param(name, parameter, id=f"{name} {parameter.opts[0]}")


# --- help ---


@pytest.mark.parametrize("name", EVERYTHING)
def test_help_says_all_that_is_written(name):
    command, shown = EVERYTHING[name], words(help_of(name, columns=WIDE))
    # Square brackets are what Rich might swallow.
    for paragraph in (command.help or "").split("\n\n"):
        assert words(paragraph) in shown
    for parameter in command.params:
        assert words(parameter.help) in shown
    for example in examples(command) if command.epilog else ():
        assert words(example) in shown


@pytest.mark.parametrize("name", EVERYTHING)
def test_help_fits_a_narrow_window(name):
    assert max(map(len, help_of(name, "-h", "40").splitlines())) <= 40


@pytest.mark.parametrize("name", EVERYTHING)
def test_what_a_command_is_for_is_one_sentence_and_one_line(name):
    summary = (EVERYTHING[name].help or "").split("\n\n")[0]
    assert summary[0].isupper()
    assert summary.endswith(".")
    # Of 80 columns the name takes 9, and the frame as many.
    assert len(summary) <= 64, summary


@pytest.mark.parametrize(("name", "parameter"), list(parameters()))
def test_every_argument_and_option_is_explained(name, parameter):
    assert parameter.help, name
    assert parameter.help.endswith("."), parameter.help
    assert parameter.help == Text.from_markup(parameter.help).plain


def test_commands_are_shown_in_panels():
    shown = help_of("")
    titles = re.findall(r"─ ([\w ]+) ─", shown)
    assert titles == [
        "Options",
        "Play and watch",
        "Look closer",
        "Measure strength",
        "Serve and keep",
    ]


@pytest.mark.parametrize("name", GROUPS)
def test_the_examples_of_a_group_are_of_its_commands(name):
    asked = [parse(words) for each in examples(GROUPS[name]) for words in arguments_of(each)]
    assert len(asked) > 1
    assert {context.command for context in asked} <= {
        command for path, command in COMMANDS.items() if path.startswith(name)
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_command_can_be_used(name):
    asked = [parse(words) for each in examples(COMMANDS[name]) for words in arguments_of(each)]
    assert COMMANDS[name] in [context.command for context in asked]


@pytest.mark.parametrize("asked", [(), ("analyse",), ("eval", "run"), ("eval",)])
def test_help_can_be_asked_for_by_name(asked):
    assert kibitz("help", *asked).stdout == help_of(" ".join(asked))


def test_who_says_nothing_gets_help():
    run = kibitz()
    assert (run.returncode, run.stdout.strip(), run.stderr) == (2, help_of("").strip(), "")


# --- mistakes ---


def refused(*arguments):
    """Return the sentence with which arguments are refused."""
    run = kibitz(*arguments)
    assert (run.returncode, run.stdout) == (2, ""), run
    sentence, *hint = run.stderr.splitlines()
    assert not hint or re.fullmatch(r"Try 'kibitz[a-z0-9 ]* --help' for help\.", *hint)
    assert sentence.startswith("kibitz: ")
    return sentence


MISUSES = [
    (("--hepl",), "No such option: --hepl (Possible options: --help)"),
    (("evall",), "No such command 'evall'. Did you mean 'eval'?"),
    (("eval", "rnu"), "No such command 'rnu'. Did you mean 'run'?"),
    (("help", "play", "foo"), "'play' has no commands of its own, such as 'foo'"),
    (
        ("eval", "list", "--status", "foo"),
        "--status: 'foo' is not one of 'created', 'running', 'paused', 'finished', 'cancelled'",
    ),
    (
        ("export", "--status", "foo"),
        "Invalid value for '--status': 'foo' is not one of 'created', 'running', 'paused', 'ended',"
        " 'aborted'.",
    ),
    (
        ("watch", "--server", "ftp://x"),
        "'ftp://x' is no address of a service: it should begin with http:// or https://",
    ),
    (("help", "analize"), "No such command 'analize'. Did you mean 'analyse'?"),
    (("perft",), "Missing argument 'depth'."),
    (("perft", "3", "4"), "Got unexpected extra argument(s) (4)"),
    (("sprt",), "Missing option '--results'."),
    (("sprt", "--results"), "Option '--results' requires an argument."),
    (
        ("sprt", "--results", "1,2,3", "--bounds", "1"),
        "--bounds takes two numbers, as 0,50, not '1'",
    ),
    (("eval",), ""),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISUSES)
def test_a_misuse_gets_one_sentence_and_a_hint(arguments, sentence):
    if sentence:
        assert refused(*arguments) == f"kibitz: {sentence}"
    else:
        run = kibitz(*arguments)
        assert (run.returncode, run.stdout.strip()) == (2, help_of(*arguments).strip())


def refused_early(name, *arguments):
    """Return what is said of arguments before a command is run."""
    with pytest.raises(TyperException) as error:
        parse([*name.split(), *arguments])
    assert error.value.exit_code == 2
    return error.value.format_message()


@pytest.mark.parametrize("name", EVERYTHING)
def test_an_option_that_there_is_not_gets_a_suggestion(name):
    assert "--help" in refused_early(name, "--hepl").partition("(Possible options: ")[2]


def wrong_values(parameter):
    """Return what is none of an option's values: no number, too large, no choice."""
    kind = parameter.type_descriptor
    if kind.annotation in (int, float):
        yield "x"
    if kind.annotation is int:
        yield from ("1.5", "", "1" * 5000)
    if kind.annotation is float and (parameter.min, parameter.max) != (None, None):
        yield from ("inf", "nan", "1e300")  # others are refused by what they are for
    if parameter.min is not None:
        yield str(parameter.min - 1)
    if parameter.max is not None:
        yield str(parameter.max + 1)
    if kind.is_choice:
        yield "nonsense"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_value_that_cannot_be_gets_a_sentence(name):
    for parameter in COMMANDS[name].params:
        option = parameter.opts[0]
        is_option = parameter.param_type_name == "option"
        for value in wrong_values(parameter):
            given = (f"{option}={value}",) if is_option else ("--", value)
            assert f"'{option}'" in refused_early(name, *given), (option, value)
        if is_option and not parameter.is_flag:
            assert f"'{option}'" in refused_early(name, option)


def test_nothing_that_is_quoted_means_anything_to_a_terminal(capsys):
    for escape in ("\x1b[31mred", "\x07", "\x9b2J", "\u202e"):
        for arguments in ((escape,), ("perft", escape), ("perft", f"--{escape}"), ("sprt", escape)):
            printed = "".join(refused(*arguments))
            assert printed.isprintable()
        complain(f"{escape} cannot be read")
        assert capsys.readouterr().err.rstrip("\n").isprintable()


# --- where the output goes ---


class Broken(io.RawIOBase):
    """What cannot be written to."""

    def __init__(self, reason):
        self.reason = reason

    def writable(self):
        return True

    def write(self, _data):
        raise OSError(self.reason, os.strerror(self.reason))


@pytest.mark.parametrize("name", EVERYTHING)
def test_a_full_disk_gets_a_sentence(name, monkeypatch, capsys):
    full = Broken(errno.ENOSPC)
    monkeypatch.setattr(sys, "argv", ["kibitz", *name.split(), "--help"])
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(full), "utf-8"))
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    expected = f"kibitz: the output cannot be written: {os.strerror(errno.ENOSPC)}\n"
    assert capsys.readouterr().err == expected
    full.reason = None
    full.write = len  # what is left over finds room


def shell(command):
    """Run a line of the shell in which `kibitz` is ours."""
    return subprocess.run(
        ["bash", "-c", command],
        env=os.environ | {"PATH": f"{KIBITZ.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * HANGS_AFTER,
    )


@pytest.mark.parametrize(
    ("line", "code", "errors"),
    [
        ("kibitz perft 1 > /dev/full", 1, "No space left on device"),
        ("kibitz --help > /dev/full", 1, "No space left on device"),
        ("kibitz perft 2 --divide | true; exit ${PIPESTATUS[0]}", None, ""),
        ("kibitz eval --help | head -1 > /dev/null", 0, ""),
        ("kibitz perft 1 <&- ", 0, ""),
        ("kibitz perft 1 >&- ", 0, ""),
        ("kibitz perft x 2>&- ", 2, ""),
        ("kibitz suite show kibitz >&-", 0, ""),
        ("kibitz analyse '4k3/8/8/8/8/8/8/4K3 w - -' --nodes 9 <&- >&- 2>&-", 0, ""),
        ("kibitz accuracy - <&-", 2, "standard input is closed"),
    ],
)
def test_streams_that_are_closed_or_full_are_survived(line, code, errors):
    run = shell(line)
    assert "Traceback" not in run.stderr
    assert run.returncode == code if code is not None else run.returncode in (0, 1)
    assert errors in run.stderr if errors else run.stderr == ""


@pytest.mark.parametrize(
    ("environment", "escapes"), [({"TERM": "dumb"}, []), ({"NO_COLOR": "1"}, ["0", "1", "2"])]
)
def test_a_terminal_without_colours_gets_none(environment, escapes):
    with on_terminal("accuracy", "--help", environment=environment) as terminal:
        assert terminal.see_end() == 0
        assert "kibitz accuracy game.pgn" in terminal.text
    # Bold and dim are no colours.
    found = re.findall(rb"\x1b\[([0-9;]*)m", terminal.written)
    told = {each.decode() for each in itertools.chain(*(each.split(b";") for each in found))}
    assert told <= set(escapes)
    assert escapes or b"\x1b" not in terminal.written


# --- Ctrl-C ---

#: Presses Ctrl-C as soon as something is imported.
_PRESS = """
import os, signal, sys
awaited = sys.argv[1]
class Pressing:
    def find_spec(self, name, path=None, target=None):
        if name == awaited:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Pressing())
from app.cli import main
sys.argv[1:] = ["players"]
main()
"""


@pytest.mark.parametrize(
    ("command", "stdin", "needed"),
    [
        ("players", "", set()),
        ("uci --player random", "uci\nisready\nquit\n", set()),
        ("match random random --max-plies 2", "", {"numpy"}),
        ("play --black random", "e4\nquit\n", {"sqlalchemy"}),
    ],
)
def test_nobody_waits_for_what_is_not_needed(tmp_path, command, stdin, needed):
    """Each of them takes a tenth of a second and more to import."""
    code = (
        "import sys, app.cli\n"
        "try: app.cli.main()\n"
        "except SystemExit: pass\n"
        "heavy = {'sqlalchemy', 'numpy', 'fastapi', 'matplotlib', 'openai', 'app.services'}\n"
        "print(*heavy & {*sys.modules}, file=sys.stderr)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *command.split()],
        input=stdin,
        cwd=tmp_path,
        env=os.environ | {"KIBITZ_DATA_FOLDER": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=2 * HANGS_AFTER,
    )
    assert {*run.stderr.splitlines()[-1].split()} == needed, run.stderr


@pytest.mark.parametrize("module", ["typer", "app.cli.commands", "app.catalogue"])
def test_ctrl_c_while_it_starts_is_no_traceback(module):
    run = subprocess.run(
        [sys.executable, "-c", _PRESS, module],
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * HANGS_AFTER,
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


@pytest.mark.parametrize(
    ("arguments", "sign"),
    [(("perft", "6", "--divide"), "a2a3: "), (("analyse", "games.pgn"), "game 1 of 1")],
)
def test_ctrl_c_ends_what_takes_long(arguments, sign, tmp_path):
    (tmp_path / "games.pgn").write_text("1. e4 e5 2. Nf3 Nc6 *\n")
    more = () if arguments[0] == "perft" else ("--seconds", "600")
    with on_terminal(*arguments, *more, cwd=tmp_path) as terminal:
        terminal.see(sign)
        terminal.press("ctrl-c")
        assert terminal.see_end() == 130
        assert b"Traceback" not in terminal.written


def test_sigterm_ends_what_takes_long(tmp_path):
    (tmp_path / "games.pgn").write_text("1. e4 e5 2. Nf3 Nc6 *\n")
    with on_terminal("analyse", "games.pgn", "--seconds", "600", cwd=tmp_path) as terminal:
        terminal.see("game 1 of 1")
        terminal.process.kill(signal.SIGTERM)
        assert terminal.see_end() == 143
        assert b"Traceback" not in terminal.written
