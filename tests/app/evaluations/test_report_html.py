"""The page of a report: whole, quiet, accessible, and safe from what users write."""

import base64
import hashlib
import re
from dataclasses import replace
from decimal import Decimal
from functools import cache
from itertools import pairwise

import pytest

from agents.models.budget import Spending
from app.evaluations.games import SideRecord
from app.evaluations.reports import numerals
from app.evaluations.reports.markup import Column, escaped, legible, shortened, table
from app.evaluations.reports.page import render_html
from app.evaluations.reports.palette import DARK, LIGHT
from app.evaluations.reports.report import build_report
from app.evaluations.reports.style import CONTENT_SECURITY_POLICY, STYLE
from tests.support.evaluation_data import (
    ANCHORS,
    EVERY_KIND,
    HOSTILE,
    answer,
    duel,
    evaluation,
    game,
    games_of,
    ladder,
    pool,
)
from tests.support.markup import assert_stands_alone, read_markup


@cache
def text_of_kind(name):
    return render_html(build_report(EVERY_KIND[name]()))


def page_of(data):
    return read_markup(render_html(build_report(data)))


def rows_of(page):
    """Return the cells of all tables, in order; a name that stands for several rows comes once."""
    rows = []
    for element in page.elements:
        if element.tag == "tr":
            rows.append([])
        elif element.tag in ("td", "th") and "tr" in element.inside:
            rows[-1].append(element.text.replace("\xa0", " "))
    return rows


@pytest.mark.parametrize("name", EVERY_KIND)
def test_every_page_is_whole_and_stands_alone(name):
    text = text_of_kind(name)
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    page = read_markup(text)
    assert_stands_alone(page)
    assert len(page.ids()) == len(set(page.ids()))
    assert len(page.all("h1")) == len(page.all("title")) - len(page.all("svg")) == 1
    assert len(page.all("main")) == 1
    text.encode()


@pytest.mark.parametrize("name", EVERY_KIND)
def test_every_page_can_be_read_without_seeing_it(name):
    page = read_markup(text_of_kind(name))
    headings = [int(each.tag[1]) for each in page.elements if re.fullmatch(r"h\d", each.tag)]
    assert headings[0] == 1
    deeper = [after - before for before, after in pairwise(headings)]
    assert max(deeper) <= 1
    assert len(page.all("table")) == len(page.all("caption"))
    assert all(each.text for each in page.all("caption"))
    for header in page.all("th"):
        assert header.attributes["scope"] in ("col", "row", "rowgroup")
    regions = [each for each in page.all("div") if each.attributes.get("role") == "region"]
    assert len(regions) == len(page.all("table"))
    assert all(each.attributes["aria-label"] for each in regions)
    for figure in page.all("svg"):
        assert figure.attributes["role"] == "img"
        for identity in figure.attributes["aria-labelledby"].split():
            assert identity in page.ids()
    assert len(page.all("figcaption")) == len(page.all("svg"))


@pytest.mark.parametrize("name", EVERY_KIND)
def test_the_rows_of_a_table_are_as_long_as_its_head(name):
    page = read_markup(text_of_kind(name))
    width, covered = 0, 0
    for element in page.elements:
        if element.tag == "thead":
            width = 0
        elif element.tag == "th" and "thead" in element.inside:
            width += 1
        elif element.tag == "tr" and "tbody" in element.inside:
            covered = max(0, covered - 1)
            cells = 1 if covered else 0
        elif element.tag in ("td", "th") and "tbody" in element.inside:
            cells += 1
            covered = int(element.attributes.get("rowspan") or covered)
            assert cells <= width


def test_only_its_own_stylesheet_is_allowed():
    page = page_of(ladder(pairs=3))
    (style,) = page.all("style")
    assert style.text == STYLE
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    (policy,) = (each for each in page.all("meta") if "http-equiv" in each.attributes)
    assert policy.attributes["content"] == CONTENT_SECURITY_POLICY
    assert f"style-src 'sha256-{digest}'" in CONTENT_SECURITY_POLICY
    assert CONTENT_SECURITY_POLICY.startswith("default-src 'none'")
    assert "unsafe" not in CONTENT_SECURITY_POLICY


def test_plots_change_their_colours_in_the_dark_and_not_on_paper():
    screen, _, dark = STYLE.partition("@media screen and (prefers-color-scheme: dark)")
    for name, color in LIGHT.items():
        assert f"--{name}: {color};" in screen
        assert f"--{name}: {DARK[name]};" in dark
        for what in ("fill", "stroke"):
            assert f'[{what}="{color}"] {{ {what}: var(--{name}); }}' in dark


def test_what_users_write_is_shown_and_never_obeyed():
    agents = {HOSTILE: 900, f"team:{HOSTILE}": 1000}
    data = ladder(
        agents,
        pairs=5,
        name=HOSTILE,
        detail=HOSTILE,
        status=HOSTILE,
        plan={"name": HOSTILE},
        manifest={HOSTILE: [HOSTILE]},
    )
    text = render_html(build_report(data))
    page = read_markup(text)
    assert_stands_alone(page)
    assert "<script" not in text
    assert "\x00" not in text
    assert "\x1b" not in text
    shown = legible(HOSTILE)
    assert page.all("h1")[0].text == shown
    assert any(row[0] == shown for row in rows_of(page))
    assert shown in page.all("title")[0].text


def test_half_characters_and_turned_text_are_made_harmless():
    text = render_html(build_report(ladder({"a\ud800b\u202ec": 900}, pairs=2)))
    assert "a\ufffdb\ufffdc" in text
    text.encode()


def test_the_page_tells_the_ratings():
    data = evaluation(games=games_of("a", "stockfish:6", 7, 0, 3), anchors=ANCHORS)
    report = build_report(data)
    rating = report["agents"][0]["rating"]["as_played"]
    page = read_markup(render_html(report))
    row = next(row for row in rows_of(page) if row[0] == "a")
    assert row[1] == rating["text"]
    assert row[2] == f"{rating['low']:.0f} to {rating['high']:.0f}"
    assert row[4:] == ["0", "10", "70.0 %"]
    (headline,) = (each for each in page.all("p") if each.attributes.get("class") == "headline")
    assert headline.text.replace("\xa0", " ").startswith(f"a: {rating['text']} (in Elo")


def test_the_page_shows_the_interval_by_which_a_ladder_stops():
    data = evaluation(games=games_of("a", "stockfish:6", 6, 10, 4), anchors=ANCHORS)
    report = build_report(data)
    rating = report["agents"][0]["rating"]["as_played"]
    assert round(rating["draw_aware_margin"]) < round(rating["margin"])
    page = read_markup(render_html(report))
    rows = rows_of(page)
    row = next(row for row in rows if row[0] == "a")
    assert row[1] == f"{rating['elo']:.0f} ± {rating['draw_aware_margin']:.0f}"
    assert row[2] == f"{rating['draw_aware_low']:.0f} to {rating['draw_aware_high']:.0f}"
    head = next(row for row in rows if row[0] == "Agent")
    assert (head[-1], row[-1]) == ("± by the likelihood ratio", f"± {rating['margin']:.0f}")
    said = "draws taken into account"
    assert said in page.all("caption")[0].text
    (headline,) = (each for each in page.all("p") if each.attributes.get("class") == "headline")
    assert headline.text.endswith(f"± is half the 95 % interval, {said}).")
    plain = page_of(evaluation(games=games_of("a", "stockfish:6", 7, 0, 3), anchors=ANCHORS))
    assert said not in plain.all("caption")[0].text
    assert "by the likelihood ratio" in plain.all("caption")[0].text


def test_a_duel_whose_results_are_all_the_same_shows_its_bound_and_no_statistics():
    swept = evaluation(
        "duel", ("a", "b"), [*games_of("a", "b", 2), *games_of("b", "a", 0, 0, 2, 3)]
    )
    page = page_of(swept)
    assert any(
        each.text
        == "a against b: > +158 Elo; all results are the same, so no likelihood can be told."
        for each in page.all("p")
    )
    (row,) = (row for row in rows_of(page) if row[0] == "games: won, drawn, lost")
    assert row[1:] == ["4 · 0 · 0", "100.0 %", "–", "–", "–"]


def test_bands_have_the_minus_of_other_numbers():
    answers = (answer(1, difficulty=-500.0), answer(2, position="q", is_right=False))
    rows = rows_of(page_of(evaluation("positions", answers=answers)))
    assert any("−600 to −400" in row for row in rows)
    assert not any(re.search(r"(?<!\w)-\d", cell) for row in rows for cell in row)


def test_what_the_whole_evaluation_took_is_told_beside_the_agents():
    data = ladder({"classical": 1000}, pairs=2)
    assert not any("All matches" in each.text for each in page_of(data).all("p"))
    spent = Spending(Decimal("1.386"), 123_456, 700)
    whole = page_of(replace(data, spent=spent))
    told = "All matches together took $1.39 for 700 calls and 123,456 tokens"
    assert any(each.text == f"{told}." for each in whole.all("p"))
    void = Spending(None, 456, 1)
    part = page_of(replace(data, spent=replace(spent, usd=None), void_spent=void))
    assert any(
        each.text == "All matches together took an unknown amount for 700 calls and 123,456 "
        "tokens; of it an unknown amount for 1 call and 456 tokens went into games that do not "
        "count."
        for each in part.all("p")
    )


def test_bounds_and_negative_numbers_are_written_as_people_do():
    data = evaluation("duel", ("a", "b"), games_of("a", "b", 0, 0, 9))
    first = next(row for row in rows_of(page_of(data)) if row[0] == "a")
    assert re.fullmatch(r"< −\d+", first[1])
    assert re.fullmatch(r"under −\d+", first[2])


def test_a_duel_tells_what_its_test_says():
    report = build_report(duel(gain=300, pairs=40))
    page = read_markup(render_html(report))
    said = numerals.proper_signs(report["duel"]["sprt"]["text"])
    assert sum(each.text == said for each in page.all("p")) == 2


def test_a_crosstable_has_a_column_for_each_player():
    rows = rows_of(page_of(pool({"a": 100, "b": 200, "c": 300})))
    head = next(row for row in rows if row[0] == "Player")
    assert head == ["Player", "Points", "Games", "1", "2", "3"]
    bodies = rows[rows.index(head) + 1 :][:3]
    assert [row[3 + place] for place, row in enumerate(bodies)] == ["×"] * 3


def test_a_team_without_control_is_told_so_and_notes_are_listed():
    report = build_report(ladder({"team:x": 1000}, pairs=3))
    page = read_markup(render_html(report))
    assert any("No control was measured: solo:x" in each.text for each in page.all("p"))
    assert len(page.all("li")) == len(report["notes"])


def test_an_unknown_price_is_unknown_and_a_known_one_told():
    paid = SideRecord(plies=5, calls=5, cost_usd=None)
    data = evaluation(games=[game(1, "a", "stockfish:6", white_side=paid)], anchors=ANCHORS)
    assert any(row[1:3] == ["unknown", "unknown"] for row in rows_of(page_of(data)))


def test_plan_and_manifest_can_be_opened():
    page = page_of(ladder(pairs=2, manifest={"engine": "Stockfish 15.1", "é": [1]}))
    assert [each.text for each in page.all("summary")] == ["Plan", "Manifest"]
    assert '"engine": "Stockfish 15.1",\n  "é": [\n' in page.all("pre")[1].text


def test_the_same_report_gives_the_same_page():
    first, second = (render_html(build_report(ladder(pairs=4))) for _ in range(2))
    assert first == second


# --- numerals and markup ---


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (numerals.number(None), "–"),
        (numerals.number(-1234.56, 1), "−1,234.6"),
        (numerals.number(-0.01, 1), "0.0"),
        (numerals.elo(-0.3), "0"),
        (numerals.elo(12.6, sign=True), "+13"),
        (numerals.percent(0.125, 1), "12.5 %"),
        (numerals.likelihood(0.97605), "97.6 %"),
        (numerals.likelihood(1.0), "> 99.9 %"),
        (numerals.likelihood(0.99951), "> 99.9 %"),
        (numerals.likelihood(0.9994), "99.9 %"),
        (numerals.likelihood(0.0), "< 0.1 %"),
        (numerals.dollars(None), "unknown"),
        (numerals.dollars("0"), "$0"),
        (numerals.dollars("1234.5"), "$1,234.50"),
        (numerals.dollars("0.0333333"), "$0.033"),
        (numerals.dollars("0.00000123"), "$1.23e-6"),
        (numerals.duration(12), "12 ms"),
        (numerals.duration(5230), "5.2 s"),
        (numerals.duration(90_000), "1.5 min"),
        (numerals.duration(None), "–"),
        (numerals.moment("2026-03-01T10:00:00+01:00"), "1 March 2026, 09:00 UTC"),
        (numerals.many(1, "game"), "1 game"),
        (numerals.many(0, "game"), "0 games"),
        (numerals.interval({"low": None, "high": -5.0}), "under −5"),
        (numerals.interval({"low": 5.0, "high": None}), "over 5"),
        (numerals.interval(None), "–"),
        (numerals.proper_signs("e-4 -5 x-6 (-7) 1-0 -0.5"), "e-4 −5 x-6 (−7) 1-0 −0.5"),
        (numerals.proper_signs("5 ± 3"), "5\xa0±\xa03"),
    ],
)
def test_how_numbers_are_written(written, told):
    assert written == told


def test_a_name_that_several_rows_have_stands_there_once():
    made = table("t", [Column("n"), Column("v")], [["a", "1"], ["a", "2"], ["b", "3"]])
    assert made.count("<tbody>") == 2
    assert 'scope="rowgroup" rowspan="2">a<' in made
    assert 'scope="row">b<' in made
    assert table("t", [Column("n")], []) == ""
    assert table("t", [Column("n")], [["a"], ["b"]]).count("<tbody>") == 1


def test_text_is_escaped_and_shortened():
    assert escaped('<a href="x">&\'') == "&lt;a href=&quot;x&quot;&gt;&amp;&#x27;"
    assert shortened("a\n b\u200b", 10) == "a b\ufffd"
    assert shortened("abcdef", 4) == "abc…"
