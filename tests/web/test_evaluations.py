"""Evaluations in the page: started, watched as they are played, commanded, and reported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.app.http.evaluation_service import (
    DUEL,
    ENDLESS,
    Evaluation,
    begin,
    command,
    done,
    finished,
    look,
    playing,
    wait_until,
)
from tests.support.browser import Complaints, Visitor, check_accessibility

LOOKS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark, on a phone": {
        "viewport": {"width": 360, "height": 740},
        "color_scheme": "dark",
        "reduced_motion": "reduce",
    },
}
#: Which no evaluation has.
NOBODY = "01980a4e-6a8c-7d3e-9c56-3f1d2b7a9e10"


@pytest.fixture(scope="module")
def duel(client: httpx.Client) -> Evaluation:
    """A duel that was played, with a test and with its games analysed."""
    test = {"sprt": {"bounds": [0, 1000]}, "analysis": {"nodes": 50}}
    return finished(client, begin(client, DUEL, name="a duel", **test))


@pytest.fixture
def endless(client: httpx.Client) -> Iterator[Evaluation]:
    """An evaluation whose games are never over; in the end it is cancelled."""
    evaluation = begin(client, ENDLESS, name="an endless duel")
    wait_until(client, evaluation, playing(2))
    yield evaluation
    if look(client, evaluation)["status"] != "cancelled":
        done(command(client, evaluation, "cancel"))


def fits(page: Page) -> bool:
    """Whether nothing of the page lies beside the window."""
    wide: bool = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return wide


def pictures_are_shown(page: Page) -> None:
    """See that there are plots, and that the browser can draw each of them."""
    pictures = page.locator(".plot img")
    expect(pictures.first).to_be_visible()
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("async (it) => (await it.decode(), it.naturalWidth > 0)")
        assert picture.get_attribute("alt")


# --- from the form to the report ---


def test_an_evaluation_is_started_in_the_form_and_watched_to_its_report(page: Page) -> None:
    page.goto("/evaluations/new")
    page.get_by_label("Duel").check()
    page.get_by_label("First agent").select_option("random")
    page.get_by_label("Second agent").select_option("stockfish:1")
    page.get_by_label("Name").fill("from the form")
    page.get_by_label("Games", exact=True).fill("4")
    page.get_by_text("Further settings").click()
    page.get_by_label("Openings").select_option("none")
    page.get_by_label("Most plies of a game").fill("12")
    page.get_by_label("Analysis, nodes a position").fill("50")
    page.get_by_role("button", name="What will it cost?").click()
    estimate = page.get_by_role("region", name="What it will cost")
    expect(estimate.get_by_role("row", name="Games 4 4")).to_be_visible()
    expect(estimate).to_contain_text("No model is asked")
    check_accessibility(page)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("from the form")
    assert re.search(r"/evaluations/[0-9a-f-]{36}$", page.url)
    expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
    expect(page.get_by_role("heading", name="Report", exact=True)).to_be_visible()
    expect(page.get_by_text("All 4 games were played.")).to_be_visible()
    expect(page.get_by_text("4 of 4 games scored")).to_be_visible()
    expect(page.get_by_role("heading", name="Quality of moves")).to_be_visible()
    pictures_are_shown(page)


@pytest.mark.parametrize("options", LOOKS.values(), ids=LOOKS)
def test_a_report_can_be_read_by_everybody(
    visitor: Visitor, duel: Evaluation, options: dict[str, Any]
) -> None:
    page = visitor.open(f"/evaluations/{duel['id']}", **options)
    expect(page.get_by_role("img", name="Sequential test: ")).to_be_visible()
    expect(page.get_by_role("img", name="random: ").first).to_be_visible()  # with its interval
    pictures_are_shown(page)
    page.get_by_text("Manifest", exact=True).click()
    expect(page.get_by_text('"plan_digest"')).to_be_visible()
    check_accessibility(page)
    assert fits(page)


def test_plots_are_drawn_anew_in_another_theme_and_given_back(page: Page, duel: Evaluation) -> None:
    page.add_init_script(
        """window.given = new Set();
        const create = URL.createObjectURL, revoke = URL.revokeObjectURL;
        URL.createObjectURL = (it) => { const made = create(it); given.add(made); return made; };
        URL.revokeObjectURL = (it) => { given.delete(it); revoke(it); };"""
    )
    page.goto(f"/evaluations/{duel['id']}")
    picture = page.get_by_role("img", name="Rating. ")
    expect(picture).to_be_visible()
    light = picture.get_attribute("src")
    page.emulate_media(color_scheme="dark")
    expect(picture).not_to_have_attribute("src", light or "")
    dark = picture.get_attribute("src")
    page.get_by_role("button", name="Theme: as the system").click()  # light, whatever the system
    expect(picture).not_to_have_attribute("src", dark or "")
    shown = page.locator(".plot img").count()
    assert page.evaluate("given.size") == shown
    page.get_by_role("link", name="All evaluations").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Evaluations")
    assert page.evaluate("given.size") == 0


def test_a_report_can_be_saved(page: Page, duel: Evaluation) -> None:
    page.goto(f"/evaluations/{duel['id']}")
    beginnings = {"Page": "<!DOCTYPE", "JSON": "{", "CSV": "number,", "PGN": "[Event "}
    for name, beginning in beginnings.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save {name}").click()
        suffix = "html" if name == "Page" else name.lower()
        assert download.value.suggested_filename == f"kibitz-{duel['id']}.{suffix}"
        assert download.value.path().read_text().startswith(beginning)


def test_a_report_opens_in_a_tab_of_its_own(page: Page, duel: Evaluation) -> None:
    page.goto(f"/evaluations/{duel['id']}")
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open to print or mail").click()
    expect(popup.value.get_by_role("heading", level=1)).to_have_text("a duel")


# --- the form ---


def test_what_is_wrong_is_said_at_its_field(page: Page, complaints: Complaints) -> None:
    complaints.expect("422", at_least=2)
    page.goto("/evaluations/new?kind=ladder&agents=random")
    page.get_by_text("Further settings").click()
    control = page.get_by_label("Time control")
    control.fill("soon")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("'soon' is not a time control")).to_be_visible()
    expect(control).to_be_focused()
    expect(control).to_have_attribute("aria-invalid", "true")
    check_accessibility(page)
    control.fill("")
    expect(page.get_by_text("'soon' is not a time control")).to_be_hidden()
    page.get_by_label("Duel").check()
    page.get_by_label("Second agent").select_option("random")
    page.get_by_role("button", name="What will it cost?").click()
    expect(page.get_by_role("alert")).to_contain_text("two agents have the same name")
    page.get_by_label("Called").last.fill("another one")
    expect(page.get_by_role("alert")).to_be_hidden()
    page.get_by_role("button", name="What will it cost?").click()
    expect(page.get_by_role("heading", name="What it will cost")).to_be_visible()


def test_the_form_is_filled_in_by_the_address(page: Page) -> None:
    page.goto("/evaluations/new?kind=duel&agents=classical%40nodes%3D500,stockfish:2")
    expect(page.get_by_label("Duel")).to_be_checked()
    expect(page.get_by_label("First agent")).to_have_value("classical")
    expect(page.get_by_label("How far").first).to_have_value("500")
    expect(page.get_by_label("Second agent")).to_have_value("stockfish:2")
    page.get_by_text("The plan as JSON").click()
    plan = json.loads(page.get_by_label("Plan", exact=True).input_value())
    assert plan == {"kind": "duel", "agents": [{"name": "classical", "nodes": 500}, "stockfish:2"]}
    page.get_by_label("Pool").check()
    page.get_by_role("button", name="Add an agent").click()
    expect(page.get_by_label("Agent 3", exact=True)).to_be_focused()
    page.get_by_role("button", name="Remove agent 3").click()
    expect(page.get_by_label("Agent 3", exact=True)).to_have_count(0)
    page.get_by_label("Variant").select_option("kings-cooking")
    options = page.get_by_label("Agent 1", exact=True).locator("option")
    assert "stockfish:2" not in [each.get_attribute("value") for each in options.all()]


def test_a_plan_of_ones_own(page: Page, complaints: Complaints) -> None:
    complaints.expect("422")
    page.goto("/evaluations/new")
    page.get_by_text("The plan as JSON").click()
    plan = page.get_by_label("Plan", exact=True)
    plan.fill("{")
    expect(page.get_by_label("Duel")).to_be_disabled()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("The plan is not JSON")
    plan.fill('{"kind": "pool", "agents": ["random", "nobody"]}')
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("'nobody' is not a player")
    page.get_by_role("button", name="Back to the form").click()
    expect(page.get_by_label("Duel")).to_be_enabled()
    expect(plan).to_have_value(re.compile("classical"))
    plan.fill(json.dumps(DUEL | {"name": "by hand"}))
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("by hand")
    expect(page.get_by_role("heading", name="Report", exact=True)).to_be_visible()


@pytest.mark.parametrize("options", LOOKS.values(), ids=LOOKS)
def test_the_form_can_be_used_by_everybody(visitor: Visitor, options: dict[str, Any]) -> None:
    page = visitor.open("/evaluations/new?kind=duel&agents=classical@nodes=5,random", **options)
    expect(page.get_by_label("First agent")).to_be_visible()
    page.get_by_label("Stop as soon as a sequential test decides").check()
    page.get_by_text("Further settings").click()
    page.get_by_text("The plan as JSON").click()
    check_accessibility(page)
    assert fits(page)


# --- commands ---


def test_it_is_paused_resumed_and_cancelled(
    page: Page, client: httpx.Client, endless: Evaluation
) -> None:
    page.goto(f"/evaluations/{endless['id']}")
    status = page.locator("[data-status]")
    expect(status).to_have_text("Running")
    page.get_by_role("button", name="Pause").click()
    expect(status).to_have_text("Paused")
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(status).to_have_text("Running")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume with another budget").click()
    dialog = page.get_by_role("dialog", name="Resume with another budget")
    dialog.get_by_label("Dollars").fill("2.5")
    check_accessibility(page)
    dialog.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("$2.50")).to_be_visible()
    expect(status).to_have_text("Running")
    page.get_by_role("button", name="Cancel").click()
    dialog = page.get_by_role("dialog", name="Cancel this evaluation?")
    dialog.get_by_role("button", name="Let it go on").click()
    expect(dialog).to_be_hidden()
    assert look(client, endless)["status"] == "running"
    page.get_by_role("button", name="Cancel").click()
    dialog.get_by_role("button", name="Cancel it for good").click()
    expect(status).to_have_text("Cancelled")
    expect(page.get_by_text("It was cancelled.")).to_be_visible()
    expect(page.get_by_text("nothing is known yet")).to_be_visible()


def test_a_command_that_comes_too_late_is_refused(
    page: Page, client: httpx.Client, endless: Evaluation, complaints: Complaints
) -> None:
    complaints.expect("409")
    page.goto(f"/evaluations/{endless['id']}")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()

    def pause_before(route: Route) -> None:
        done(command(client, endless, "pause"))
        route.continue_()

    page.route("**/pause", pause_before)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("alert").first).to_contain_text("paused")


@pytest.mark.parametrize("options", LOOKS.values(), ids=LOOKS)
def test_what_is_under_way_can_be_reported(
    visitor: Visitor, endless: Evaluation, options: dict[str, Any]
) -> None:
    page = visitor.open(f"/evaluations/{endless['id']}", **options)
    expect(page.get_by_role("link", name="Its games")).to_have_attribute(
        "href", f"/?evaluation={endless['id']}"
    )
    page.get_by_role("button", name="Report so far").click()
    expect(page.get_by_role("heading", name="Report so far")).to_be_visible()
    expect(page.get_by_text("nothing is known yet")).to_be_visible()
    check_accessibility(page)
    assert fits(page)


def test_there_is_no_such_evaluation(page: Page, complaints: Complaints) -> None:
    complaints.expect("404")
    page.goto(f"/evaluations/{NOBODY}")
    expect(page.get_by_role("alert")).to_contain_text("There is no evaluation")


# --- the list ---


def test_the_list_is_live(
    visitor: Visitor, client: httpx.Client, duel: Evaluation, endless: Evaluation
) -> None:
    page = visitor.open("/evaluations")
    card = page.get_by_role("listitem").filter(has_text="an endless duel").first
    expect(card.get_by_text("Running", exact=True)).to_be_visible()
    done(command(client, endless, "cancel"))
    expect(card.get_by_text("Cancelled", exact=True)).to_be_visible()
    page.get_by_label("Show").select_option("finished")
    expect(page.get_by_role("listitem").filter(has_text="an endless duel")).to_have_count(0)
    assert page.url.endswith("?status=finished")
    page.get_by_role("link", name="a duel", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("a duel")
    page.go_back()
    expect(page.get_by_label("Show")).to_have_value("finished")
    page.get_by_label("Show").select_option("paused")
    expect(page.get_by_role("heading", name="No evaluation is paused")).to_be_visible()


@pytest.mark.parametrize("options", LOOKS.values(), ids=LOOKS)
def test_the_list_can_be_read_by_everybody(
    visitor: Visitor, duel: Evaluation, endless: Evaluation, options: dict[str, Any]
) -> None:
    page = visitor.open("/evaluations", **options)
    expect(page.get_by_role("link", name="a duel", exact=True)).to_be_visible()
    check_accessibility(page)
    assert fits(page)


def test_there_are_more_than_fit_on_a_page(page: Page, client: httpx.Client) -> None:
    for number in range(3):
        done(command(client, begin(client, ENDLESS, name=f"number {number}"), "cancel"))
    fewer = re.compile(r"/api/evaluations\?.*limit=20")
    page.route(fewer, lambda route: route.continue_(url=route.request.url.replace("=20", "=2")))
    page.goto("/evaluations?status=cancelled")
    expect(page.get_by_role("link", name="number 2")).to_be_visible()
    expect(page.get_by_role("link", name="number 0")).to_have_count(0)
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("link", name="number 0")).to_be_visible()


def test_an_answer_that_got_lost_starts_no_second_one(
    page: Page, complaints: Complaints, client: httpx.Client
) -> None:
    complaints.expect("ERR_FAILED", at_least=0)
    page.goto("/evaluations/new")
    page.get_by_label("Duel").check()
    page.get_by_label("First agent").select_option("random")
    page.get_by_label("Second agent").select_option("stockfish:1")
    page.get_by_label("Name").fill("paid for once")
    page.get_by_label("Games", exact=True).fill("2")
    lost: list[Route] = []

    def lose(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route)
        route.fetch()
        route.abort()

    page.route("**/api/evaluations", lose)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("paid for once")
    listed = client.get("/api/evaluations", params={"limit": 200}).json()["evaluations"]
    assert [each["name"] for each in listed].count("paid for once") == 1


def test_what_cannot_be_followed_is_not_asked_for_again_and_again(
    page: Page, endless: Evaluation, complaints: Complaints
) -> None:
    complaints.expect("404")
    asked: list[Route] = []

    def refuse(route: Route) -> None:
        asked.append(route)
        route.fulfill(status=404, json={"detail": "the evaluation is gone"})

    page.route(f"**/api/evaluations/{endless['id']}/events", refuse)
    page.goto("/evaluations")
    expect(page.get_by_role("alert").filter(has_text="The evaluation is gone.")).to_be_visible()
    page.get_by_role("link", name="an endless duel").first.focus()
    assert len(asked) == 1


def test_whoever_cannot_be_seated_is_not_taken_for_somebody_else(page: Page) -> None:
    page.goto("/evaluations/new?kind=duel&agents=random,team:nobody&variant=chess960")
    expect(page.get_by_label("Variant")).to_have_value("chess960")
    expect(page.get_by_label("First agent")).to_have_value("random")
    second = page.get_by_label("Second agent")
    expect(second).to_have_value("")
    expect(second.locator("option:checked")).to_have_text(
        "team:nobody cannot be seated: choose another"
    )
