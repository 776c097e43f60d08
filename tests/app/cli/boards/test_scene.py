"""What is to be seen of a match, against the match itself."""

import asyncio
import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.catalogue import Catalogue
from agents.player import Advice, Candidate
from app.cli.boards.scene import Scene, UnreadableEvent, kind_of
from app.cli.boards.talk import MOST_SPEECHES, Said, printable
from app.matches.errors import CannotDo
from app.matches.events import Event, EventType
from app.matches.match import Match
from app.matches.private import PrivateMatch
from app.matches.settings import MatchSettings, PlayerSettings
from engine import Color, Evaluation, IllegalMove, Position
from engine.errors import Illegality
from tests.support.processes import HANGS_AFTER

AT = datetime(2026, 1, 1, tzinfo=UTC)
RANDOM = PlayerSettings("random")
MILLISECOND = timedelta(milliseconds=1)


def match_of(**options):
    return Match.create("some-id", MatchSettings(RANDOM, RANDOM, **options).with_start(), AT)


def sent(event):
    """Return an event as whoever watches over HTTP decodes it."""
    return json.loads(event.encode())


def fold(*events, scene=None):
    scene = scene or Scene()
    for each in events:
        scene = scene.after(each)
    return scene


def moved(**fields):
    """Return the last event of an unfinished match, as it is sent, changed."""
    match = match_of(time_control="300+3")
    match.start(AT)
    match.play("e4", AT + MILLISECOND, source="random")
    *before, last = [sent(event) for event in match.new_events if event.type is not EventType.TURN]
    return fold(*before), last | fields


# --- the truth ---


def illegal(match):
    return IllegalMove("Ke9", match.game.position.fen(), Illegality.NO_PIECE)


def say_something(match, dice, at):
    move = dice.choice(match.game.position.legal_moves())
    return match.advise(Advice("tactical", (Candidate(move, "why not"),), "words"), at)


def refuse_something(match, dice, at):
    match.reject(1, "Ke9", illegal(match), at)


def play_something(match, dice, at):
    move = dice.choice(match.game.position.legal_moves())
    evaluation = dice.choice([None, Evaluation(centipawns=35), Evaluation(mate=-3)])
    offers = dice.random() < 0.1
    match.play(move, at, source="random", evaluation=evaluation, offers_draw=offers)


def of_some_side(name):
    def do(match, dice, at):
        getattr(match, name)(dice.choice(list(Color)), at)

    return do


DEEDS = (
    *[play_something] * 12,
    *[say_something, refuse_something] * 2,
    *[of_some_side(name) for name in ("offer_draw", "decline_draw")],
    *[of_some_side(name) for name in ("ask_takeback", "grant_takeback", "decline_takeback")] * 2,
    lambda match, _, at: match.pause(at, "lunch"),
    *[lambda match, _, at: match.resume(at)] * 3,
    lambda match, _, at: match.begin_turn(at, match.elapsed(at)),
)
STARTS = (
    {"time_control": "300+3"},
    {"time_control": "20d2", "opening": "C65"},
    {"time_control": "30b3", "opening": "e4 e5"},
    {"time_control": "2/60+1:30"},
    {"time_control": "10s"},
    {"variant": "chess960", "time_control": "60", "seed": 77},
    {"variant": "kings-cooking", "time_control": "60+1"},
    {"initial_fen": "8/8/8/8/8/k7/7r/K7 b - - 0 40", "time_control": "5+1"},
    {},
)


def assert_same(scene, match, at):
    assert scene.status == match.status
    assert scene.position.fen() == match.game.position.fen()
    assert [ply.move for ply in scene.plies] == list(match.game.line.moves)
    plies = match.game.line.plies
    assert [ply.title.split()[-1] for ply in scene.plies] == [ply.san for ply in plies]
    assert [(ply.number, ply.color) for ply in scene.plies] == [
        (ply.move_number, ply.color) for ply in plies
    ]
    assert [ply.evaluation for ply in scene.plies] == [ply.evaluation for ply in plies]
    fens = [ply.position.fen() for ply in scene.plies]
    assert fens == [each.fen() for each in match.game.line.positions[1:]]
    assert (scene.draw_offer, scene.takeback) == (match.draw_offer, match.takeback)
    assert scene.paused == ("" if match.is_over else match.pause_reason)
    assert [said.by for said in scene.talk.said] == [each["by"] for each in match.advice]
    refused = [each["move"] for each in match.attempts]
    assert [move for move, _ in scene.talk.refused] == refused[-MOST_SPEECHES:]
    assert match.ending in scene.ending
    clock = match.game.clock
    for color in Color:
        left = scene.left(color, at)
        if clock is None:
            assert left is None
        elif match.is_over or match.color is not color:
            assert match.is_over or left == clock.remaining(color)
        else:
            stands = clock.remaining(color) // MILLISECOND * MILLISECOND
            assert left == min(stands, match.time_left(at))


@given(st.sampled_from(STARTS), st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=50, deadline=None)
def test_a_scene_is_what_the_match_is_after_whatever_happened(start, dice, over_http):
    match, at, told = match_of(**start), AT, 0
    scene = fold(match.new_events[0])
    assert scene.position.fen() == match.game.position.fen()
    match.start(at)
    for _ in range(dice.randrange(60)):
        if match.is_over:
            break
        at += timedelta(milliseconds=dice.choice([0, 1, 30, 900, 2500]))
        try:
            dice.choice(DEEDS)(match, dice, at)
        except CannotDo:
            continue
        events = match.new_events[max(told, 1) :]
        told = len(match.new_events)
        scene = fold(*(map(sent, events) if over_http else events), scene=scene)
        assert_same(scene, match, at + timedelta(milliseconds=dice.randrange(3000)))
    rebuilt = fold(*match.new_events)
    assert rebuilt == fold(*map(sent, match.new_events))
    assert_same(rebuilt, match, at)


@pytest.mark.parametrize("end", ["resign", "abort", "lose_on_time"])
def test_clocks_stand_still_after_the_end(end):
    match = match_of(time_control="60")
    match.start(AT)
    at = AT + timedelta(seconds=7)
    if end == "resign":
        match.resign(Color.WHITE, at)
    else:
        getattr(match, end)(at)
    scene = fold(*match.new_events)
    later = AT + timedelta(hours=1)
    assert scene.is_over
    assert scene.left(Color.WHITE, later) == timedelta(seconds=53)
    assert scene.left(Color.BLACK, later) == timedelta(seconds=60)


def test_a_clock_stands_still_while_the_match_is_paused():
    match = match_of(time_control="60d5")
    match.start(AT)
    match.pause(AT + timedelta(seconds=7))
    later = AT + timedelta(hours=1)
    paused = fold(*match.new_events)
    assert paused.left(Color.WHITE, later) == timedelta(seconds=58)
    match.resume(later)
    assert fold(*match.new_events).left(Color.WHITE, later) == timedelta(seconds=58)


@pytest.mark.parametrize(
    ("reason", "cause", "told"),
    [
        ("lunch", "command", "lunch"),
        ("", "command", "somebody asked for it"),
        ("", "budget", "budget"),
        ("", "\x1b[2Jx", "x"),
        ("it is \x1b]0;mine\x07away", "outage", "it is away"),
    ],
)
def test_why_it_is_paused(reason, cause, told):
    scene, _ = moved()
    pause = {"type": "match.paused", "spent_ms": 1, "reason": reason, "cause": cause}
    assert scene.after(pause).paused == told


def test_clocks_that_were_told_without_a_time_control_run_all_the_same():
    clocks = {"white_ms": 5000, "black_ms": None}
    turn = {"type": "turn.started", "at": sent(LOG.new_events[0])["at"], "color": "white"}
    scene = Scene().after(turn | {"spent_ms": 0, "clocks": clocks})
    assert scene.left(Color.WHITE, AT + timedelta(seconds=2)) == timedelta(seconds=3)
    assert scene.left(Color.BLACK, AT) is None


@pytest.mark.parametrize("opening", [["e2e4", "e7e5", "a2a3"], ["e2e5"], ["e2e4", "e7e6"]])
def test_an_opening_that_does_not_lead_there_is_not_shown_but_counts(opening):
    created, *others = map(sent, LOG.new_events)
    unknown = created | {"opening": opening}
    scene = fold(unknown)
    assert scene.plies == ()
    assert scene.position.fen() == created["fen"]
    for event in others:
        keep = {"keep": len(opening)} if event["type"] == "takeback.taken" else {}
        scene = scene.after(event | keep)
    assert scene.plies == ()
    assert scene.position.fen() == created["fen"]


def test_a_private_match_is_seen_as_it_is_played():
    """Every event is shown as soon as there is one, with what is said in between."""
    scenes = [Scene()]

    def told(event):
        scenes.append(scenes[-1].after(event))

    def say(by, words):
        scenes.append(scenes[-1].hearing(by, words))

    options = {"time_control": "60+1", "max_plies": 12, "seed": 3}
    players = PlayerSettings("classical"), PlayerSettings("random")

    async def play():
        async with Catalogue() as catalogue, asyncio.timeout(HANGS_AFTER):
            private = PrivateMatch.create(
                MatchSettings(*players, **options), catalogue, told=told, say=say
            )
            await private.play()
            return private

    private = asyncio.run(play())
    assert_same(scenes[-1], private.match, private.match.updated_at)
    advised = [scene.last_talk for scene in scenes if not scene.last_talk.is_empty]
    assert {said.by for talk in advised for said in talk.said} == {
        "tactical",
        "positional",
        "selector",
    }
    assert scenes[-1].is_over


# --- what is said ---


def delta(words, by="tactical", ply=1):
    return {"type": "advice.delta", "by": by, "words": words, "ply": ply, "color": "white"}


def advice(by="tactical", words="", abstained="", **more):
    return {"type": "advice.given", "by": by, "candidates": [], "words": words} | {
        "abstained": abstained,
        **more,
    }


def test_whoever_speaks_is_heard_until_they_have_spoken():
    scene = fold(delta("The "), delta("I ", by="positional"), delta("knight"))
    assert [(said.by, said.words) for said in scene.talk.said] == [
        ("positional", "I"),
        ("tactical", "The knight"),
    ]
    scene = scene.after(advice(words="The knight hangs."))
    assert [said.is_speaking for said in scene.talk.said] == [True, False]
    assert scene.talk.said[-1] == Said("tactical", "The knight hangs.")


def test_words_of_a_turn_that_is_over_are_not_heard():
    scene, ply = moved()
    after = scene.hearing("tactical", "in time").after(ply)
    assert after.talk.is_empty
    assert after.after(delta("too late")).talk.is_empty
    assert after.after(delta("in time", ply=2)).talk.said[0].words == "in time"


def test_after_a_move_the_talk_before_it_is_still_to_be_seen():
    scene, ply = moved()
    scene = scene.after(advice(words="Go.")).after(delta("never finished", by="positional"))
    scene = scene.after(ply)
    assert scene.last_talk.before == "1. e4"
    assert [said.by for said in scene.last_talk.said] == ["tactical"]


def test_whoever_is_asked_anew_begins_anew_and_after_a_pause_too():
    match = match_of()
    match.start(AT)
    scene = fold(*match.new_events, advice(words="Done.")).hearing("positional", "Not yet")
    again = {"type": "turn.started", "at": "2026-01-01", "color": "white", "clocks": None}
    for event in (
        again | {"spent_ms": 30},
        {"type": "match.paused", "spent_ms": 30, "reason": "", "cause": "fault"},
    ):
        assert [said.words for said in scene.after(event).talk.said] == ["Done."]


def test_a_sequence_that_is_cut_in_two_is_taken_out_whole():
    scene = fold(delta("a\x1b"), delta("[3"), delta("1mb"))
    assert scene.talk.said[0].words == "ab"


def test_words_without_end_are_bounded():
    scene = Scene()
    for _ in range(50):
        scene = scene.hearing("tactical", "word " * 100)
    assert len(scene.talk.said[0].words) <= 4000
    for number in range(50):
        scene = scene.after(advice(by=f"member {number}"))
    assert len(scene.talk.said) == MOST_SPEECHES


def test_a_refusal_does_not_repeat_the_position():
    match = match_of()
    match.start(AT)
    refuse_something(match, random, AT)
    assert fold(*match.new_events).talk.refused == (
        ("Ke9", "'Ke9' is illegal: there is no piece on the square it starts from"),
    )


# --- what a terminal would obey ---

ESCAPES = {
    "\x1b[31mred\x1b[0m": "red",
    "\x1b[2J\x1b[Hgone": "gone",
    "\x1b]0;title\x07x": "x",
    "\x1b]52;c;aGk=\x1b\\x": "x",
    "\x1bP1;2q...\x1b\\x": "x",
    "\x9b31mred": "red",
    "\x9d0;title\x9cx": "x",
    "a\rb\nc\td\x0be": "a b c d e",
    "\x1bc\x1b(0x": "x",
    "a\x08b\x07c\x00d\x7f": "abcd",
    "\u202egnp.exe\u2066": "gnp.exe",
    "\u2028a\u0085b": "a b",
    "half \ud800 a pair": "half a pair",
    "a\x1b": "a",
    "♞ 中文 é": "♞ 中文 é",
}


@pytest.mark.parametrize(("text", "plain"), ESCAPES.items())
def test_what_a_terminal_would_obey_is_taken_out(text, plain):
    assert printable(text) == plain


@given(st.text(alphabet=st.sampled_from("\x1b[]0;m\x07\x9b\x9c\\a \r\n\u202eP(")) | st.text())
@settings(deadline=None)
def test_whatever_came_is_printable(text):
    plain = printable(text)
    assert plain.isprintable() or not plain
    assert printable(plain) == plain


# --- what makes no sense ---

LOG = match_of(time_control="300+3", opening="e4 e5")
LOG.start(AT)
say_something(LOG, random, AT)
refuse_something(LOG, random, AT)
LOG.play("Nf3", AT, source="random", evaluation=Evaluation(mate=3), offers_draw=True)
LOG.ask_takeback(Color.WHITE, AT)
LOG.grant_takeback(Color.BLACK, AT)
LOG.pause(AT)
LOG.resume(AT)
LOG.resign(Color.WHITE, AT)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["white", "e2e4", Position.start().fen(), "ended", "2026-01-01T00:00:00Z"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["white_ms", "black_ms", "centipawns", "mate", "result", "detail", "name"]
            ),
            inner,
        )
    ),
    max_leaves=6,
)
NAMES = sorted({name for event in LOG.new_events for name in sent(event)})
types = st.sampled_from([each.value for each in EventType] + ["advice.delta", "snapshot", "new"])


def assert_taken_or_refused(scene, event):
    try:
        scene = scene.after(event)
    except UnreadableEvent as error:
        scene, said = None, str(error)
    if scene is None:
        assert said.isprintable()
    else:
        assert all(scene.left(color, AT) is None or scene.clocks for color in Color)


@given(types, st.dictionaries(st.sampled_from(NAMES), values))
@settings(max_examples=100, deadline=None)
def test_whatever_an_event_says_it_is_taken_or_refused_in_a_sentence(kind, fields):
    scene, _ = moved()
    assert_taken_or_refused(scene, {"type": kind, **fields})


@given(st.integers(0, len(LOG.new_events) - 1), st.data())
@settings(max_examples=100, deadline=None)
def test_an_event_with_one_wrong_field_is_taken_or_refused(number, data):
    event = sent(LOG.new_events[number])
    name = data.draw(st.sampled_from(sorted(event)))
    scene = fold(*LOG.new_events[:number])
    assert_taken_or_refused(scene, event | {name: data.draw(values)})


@pytest.mark.parametrize("event", [[], {}, None, 7, "text", {"type": 7}, {"type": None}])
def test_what_is_no_event_is_refused(event):
    with pytest.raises(UnreadableEvent):
        Scene().after(event)


@pytest.mark.parametrize(
    "fields",
    [
        {"fen": "8/8/8 w"},
        {"uci": "e9e4"},
        {"clocks": {"white_ms": -1, "black_ms": 0}},
        {"clocks": {"white_ms": 1e300, "black_ms": 0}},
        {"clocks": {"white_ms": 1}},
        {"evaluation": {"centipawns": "\x1b[2J"}},
        {"san": 7},
        {"decision": []},
    ],
)
def test_a_ply_that_makes_no_sense_is_refused(fields):
    scene, ply = moved()
    assert scene.after(ply).last_ply.san == "e4"
    if fields == {"decision": []}:  # as good as none
        return
    with pytest.raises(UnreadableEvent, match="makes no sense"):
        scene.after(ply | fields)


def test_types_that_nobody_knows_yet_change_nothing():
    scene, _ = moved()
    assert scene.after({"type": "match.applauded"}) == scene
    assert kind_of({"type": "match.applauded"}) == "match.applauded"
    assert kind_of(Event("id", 1, EventType.RESUMED, AT, {})) == "match.resumed"
