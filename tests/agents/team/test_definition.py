"""Teams as data: what is shipped, what operators may write, and what is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agents.models.budget import Budget
from agents.team.definition import Fallback, Mode, read_definition
from agents.team.errors import InvalidTeam, TeamsUnreadable
from agents.team.library import load_teams

TEAM = """
title = "Mine"
[[specialists]]
name = "endgame"
prompt = "endgame.md"
model = "openrouter/some/model"
"""


def test_the_shipped_teams():
    teams = load_teams()
    assert list(teams) == ["default", "frugal", "pure", "sequential", "vote"]
    modes = {name: team.definition.mode for name, team in teams.items()}
    assert modes == {
        "default": Mode.CONCURRENT,
        "frugal": Mode.ESCALATING,
        "pure": Mode.CONCURRENT,
        "sequential": Mode.SEQUENTIAL,
        "vote": Mode.VOTE,
    }
    pure = teams["pure"].definition
    assert [pure.facts, pure.legal_moves, pure.plays_forced] == [False] * 3
    assert all(team.definition.facts for name, team in teams.items() if name != "pure")


@pytest.mark.parametrize("name", load_teams())
def test_every_control_has_the_tokens_of_its_team(name):
    team = load_teams()[name]
    definition, control = team.definition, team.control().definition
    calls = definition.samples if definition.mode is Mode.VOTE else len(definition.members)
    assert calls == 3
    assert control.mode is Mode.SOLO
    assert control.solo.max_tokens == 3 * definition.selector.max_tokens
    assert control.solo.timeout == 3 * definition.selector.timeout
    assert control.solo.model == definition.selector.model
    same = ("facts", "legal_moves", "history", "plays_forced", "candidates")
    assert [getattr(control, each) for each in same] == [getattr(definition, each) for each in same]
    assert control.members == (control.selector,)


@pytest.mark.parametrize(
    ("limits", "allowed"), [((300, 200), 500), ((300, None), None), ((None, None), None)]
)
def test_a_control_may_reason_as_much_as_all_members(limits, allowed):
    lines = [f"reasoning_limit = {limit}" if limit else "" for limit in limits]
    team = read_definition("mine", f"{TEAM}\n{lines[0]}\n[selector]\n{lines[1]}")
    assert team.control().selector.reasoning_limit == allowed


def test_what_is_not_said_has_its_usual_value():
    team = read_definition("mine", TEAM)
    assert (team.mode, team.fallback, team.retries) == (Mode.CONCURRENT, Fallback.RETRY, 4)
    assert team.specialists[0].model == "openrouter/some/model"
    assert (team.selector.name, team.selector.prompt) == ("selector", "selector.md")
    assert team.budget == Budget()
    assert (team.solo.name, team.solo.prompt) == ("solo", "solo.md")


def test_all_can_be_said():
    team = read_definition(
        "mine",
        f"""
        mode = "sequential"
        facts = false
        fallback = "candidate"
        {TEAM}
        temperature = 0.5
        effort = "high"
        max_tokens = 99
        timeout = 1.5
        patience = 3
        reasoning_limit = 400
        [selector]
        name = "chief"
        model = "vllm/x"
        [budget]
        usd = 0.25
        tokens = 1000
        calls = 9
        """,
    )
    assert team.mode is Mode.SEQUENTIAL
    assert team.fallback is Fallback.CANDIDATE
    assert team.selector.name == "chief"
    assert team.budget == Budget(Decimal("0.25"), 1000, 9)
    member = team.specialists[0]
    assert (member.temperature, member.effort, member.max_tokens) == (0.5, "high", 99)
    assert (member.call_timeout.total_seconds(), member.patience) == (1.5, 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("title = ", "it is not TOML"),
        ("title = 'x'", "a team of mode concurrent needs specialists"),
        ("mode = 'quick'\n" + TEAM, "mode: Input should be 'concurrent'"),
        ("facst = true\n" + TEAM, "facst: Extra inputs are not permitted"),
        (TEAM + "temprature = 1", "specialists.0.temprature: Extra inputs"),
        (TEAM + "temperature = 3", "specialists.0.temperature: Input should be less"),
        (TEAM.replace("openrouter/some/model", "gpt"), "specialists.0.model: a model is named"),
        (TEAM.replace("endgame.md", "../x.md"), "specialists.0.prompt: String should match"),
        (TEAM.replace('"endgame"', '"selector"'), "two members have the same name"),
        ("mode = 'vote'\n" + TEAM, "in mode vote nobody would ask the specialists"),
        (TEAM.replace('title = "Mine"', ""), "title: Field required"),
        (TEAM + "[budget]\nusd = -1", "budget.usd: Input should be greater"),
        (TEAM + "[budget]\nusd = true", "budget.usd: Input should be a valid number"),
        (TEAM + "[budget]\nusd = '2'", "budget.usd: Input should be a valid number"),
        (TEAM + "[budget]\ncalls = true", "budget.calls: Input should be a valid integer"),
        (TEAM + "max_tokens = '3000'", "specialists.0.max_tokens: Input should be a valid integer"),
        (TEAM + "timeout = '9'", "specialists.0.timeout: Input should be a valid number"),
        ("facts = 'no'\n" + TEAM, "facts: Input should be a valid boolean"),
        ("x = " + "1" * 5000, "it is not TOML"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(text, reason):
    with pytest.raises(InvalidTeam) as caught:
        read_definition("mine", text)
    assert str(caught.value).startswith(f"the team 'mine' is wrong: {reason}")
    assert "\n" not in str(caught.value).rstrip(".")


def test_a_folder_of_teams(tmp_path):
    (tmp_path / "ours.toml").write_text(TEAM)
    (tmp_path / "endgame.md").write_text("You know endings.\n")
    (tmp_path / "notes.txt").write_text("not a team")
    teams = load_teams(tmp_path)
    assert list(teams)[-1] == "ours"
    assert teams["ours"].texts["endgame.md"] == "You know endings."
    assert "selector of a team" in teams["ours"].texts["selector.md"]  # the shipped one
    assert "ours" not in load_teams()


def test_an_operators_prompt_wins_over_a_shipped_one(tmp_path):
    (tmp_path / "ours.toml").write_text(TEAM)
    (tmp_path / "endgame.md").write_text("You know endings.")
    (tmp_path / "selector.md").write_text("You choose.")
    before = load_teams()["default"].prompt("selector.md", "standard")
    team = load_teams(tmp_path)["ours"]
    assert team.texts["selector.md"] == "You choose."
    assert team.prompt("selector.md", "standard").digest != before.digest
    assert load_teams(tmp_path)["default"].prompt("selector.md", "standard") == before


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"ours.toml": TEAM}, "there is no prompt endgame.md in /"),
        ({"ours.TOML": TEAM}, "there is no prompt endgame.md in /"),
        ({"ours.toml": TEAM, "endgame.md": " \n"}, "its prompt endgame.md is empty"),
        ({"ours.toml": TEAM, "endgame.md": "x" * 100_001}, "more than 100000 characters"),
        ({"ours.toml": TEAM, "endgame.md": b"\xff"}, "its prompt endgame.md is not text"),
        ({"default.toml": TEAM}, "a shipped team has that name"),
        ({"so so.toml": TEAM}, "a name has up to 50 letters"),
        ({"ours.toml": b"\xff"}, "cannot be read as text"),
    ],
)
def test_what_is_wrong_with_a_folder(tmp_path, files, reason):
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidTeam, match=reason):
        load_teams(tmp_path)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(
        TeamsUnreadable, match=r"the folder of teams .*nowhere.* cannot be read: No"
    ):
        load_teams(tmp_path / "nowhere")


def test_the_digest_of_a_prompt_is_of_all_that_requests_are_made_of():
    team = load_teams()["default"]
    digests = {
        team.prompt(file, variant).digest
        for file in ("tactical.md", "positional.md")
        for variant in ("standard", "chess960", "kings-cooking")
    }
    assert len(digests) == 6
    assert all(len(digest) == 64 for digest in digests)
