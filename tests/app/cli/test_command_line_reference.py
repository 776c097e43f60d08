"""The reference of the command line names every command with all it takes, and nothing else."""

import re
from pathlib import Path

import pytest

from tests.support.command_tree import TREE, commands, groups

PAGE = (Path(__file__).parents[3] / "docs/reference/command-line.md").read_text()
COMMANDS = commands()
SECTION = re.compile(r"^### kibitz ([a-z ]+)\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(SECTION.findall(PAGE))
#: What is named in the first column of a table.
ROW = re.compile(r"^\| (`[^|]*`) \|", re.MULTILINE)


def named(section):
    return [each for row in ROW.findall(section) for each in re.findall(r"`([^`]+)`", row)]


def test_every_command_has_a_section():
    assert set(SECTIONS) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_section_names_all_that_a_command_takes_and_nothing_else(name):
    taken = [
        each
        for parameter in COMMANDS[name].params
        for each in (
            [*parameter.opts, *parameter.secondary_opts]
            if parameter.param_type_name == "option"
            else [parameter.display_name_raw.removesuffix("...")]
        )
    ]
    assert sorted(named(SECTIONS[name])) == sorted(taken)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_said_of_choices_is_all_of_them(name):
    for parameter in COMMANDS[name].params:
        choices = parameter.type_descriptor.choices or ()
        row = next(
            (
                line
                for line in SECTIONS[name].splitlines()
                if line.startswith("|") and f"`{parameter.opts[0]}`" in line
            ),
            "",
        )
        for choice in choices:
            assert f"`{getattr(choice, 'value', choice)}`" in row, (row, choice)


def test_every_command_is_in_the_summary_of_its_panel():
    summary = dict(re.findall(r"^- \[([\w ]+)\]\(#[\w-]+\): (.*)$", PAGE, re.MULTILINE))
    panels = {}
    for name, each in TREE.commands.items():
        if not each.hidden:
            panels.setdefault(each.rich_help_panel, set()).add(name)
    assert {title: set(re.findall(r"`(\w+)`", names)) for title, names in summary.items()} == panels


def test_the_codes_and_variables_of_the_page_are_of_commands_that_there_are():
    table = PAGE.partition("## Exit codes")[2].partition("## Variables")[0]
    words = {
        each for where in re.findall(r"\| ([^|]*) \|$", table, re.MULTILINE)
        for each in re.findall(r"`([a-z ]+)", where)
    }  # fmt: skip
    known = {*COMMANDS, *groups(), *(name.split()[-1] for name in COMMANDS)}
    assert {each.strip() for each in words} <= known
