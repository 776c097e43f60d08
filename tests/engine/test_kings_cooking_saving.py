"""Saved games of King's Cooking: all of a game comes back, and nothing that was tampered with."""

from __future__ import annotations

import hashlib
import hmac
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from traceback import format_exception
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Color, Game, GameOver, InvalidSavedGame, Outcome, SavedGame, read_games
from engine import SavedGameFault as Fault
from engine import Termination as End
from fuzz.promises import check_refusal, forged_json, forged_token, sealed
from fuzz.seeds import SAVED_GAMES

from_json, from_token = SavedGame.from_json, SavedGame.from_token
to_json, to_token = SavedGame.to_json, SavedGame.to_token
ID = UUID("0f8fad5b-d9cb-469f-a165-70867728950e")
BEGIN = datetime(2025, 3, 4, 5, 6, 7, 89, tzinfo=UTC)
SECOND = timedelta(seconds=1)
SECRET = "sehr geheim ♔"
#: Both knights go to and fro: after four plies, the start is there again.
SHUFFLED, SHUFFLE = "1n1/R1b/1NB w - - - r 1", ["b1a3", "b3a1", "a3b1", "a1b3"]
CUSTOM = "1n1/R2/2b w - B N r 7"
BLACK_CANNOT_WIN = "B1b/3/3 w - RN - rn 5"


def played(moves=(), start=None, control=None, **noted) -> Game:
    game = Game(start, variant="kings-cooking", time_control=control)
    for move in moves:
        game.play(move, **noted)
    return game


def timed(moves="a1a2 a3a2 b1c3 a2a1", first_source="x") -> Game:
    """Return a game with everything that can be noted."""
    game, time = played(control="300+3"), BEGIN
    for number, move in enumerate(moves.split()):
        elapsed = number * 1.234567 * SECOND
        time += elapsed + 0.054321 * SECOND
        source = None if number else first_source
        game.play(move, elapsed=elapsed, played_at=time, source=source)
    return game


def ended(winner: Color | None, termination: End, game: Game | None = None) -> Game:
    game = game or timed()
    game.record_outcome(Outcome(winner, termination))
    return game


def saved(game: Game) -> SavedGame:
    return SavedGame(game, ID, "Ann", "Žofie")


def state_of(game: Game) -> dict:
    return json.loads(saved(game).to_json())


def told(game: Game) -> list[object]:
    """Return all that can be asked of a game."""
    plies = [
        (ply.number, ply.move, ply.san, ply.elapsed, ply.played_at, ply.source, ply.clock)
        for ply in game.plies
    ]
    ends = game.outcome, game.status, game.turn, game.clock, game.repetitions(), game.position
    return [game.start, plies, *ends]


def check_round_trip(before: SavedGame) -> None:
    for secret in (None, SECRET):
        text, token = before.to_json(secret), before.to_token(secret)
        key = secret and secret.encode()  # the same secret
        for again in (from_json(text.encode(), key), from_token(token, key)):
            assert again.to_json(secret) == text
            assert again.to_token(secret) == token
            assert told(again.game) == told(before.game)
            assert vars(again) == {**vars(before), "game": again.game}


def refusal(load, *arguments) -> Fault:
    with pytest.raises(InvalidSavedGame) as caught:
        load(*arguments)
    check_refusal(caught.value)
    return caught.value.reason


# --- round trips ---

times = st.datetimes(
    datetime(2, 1, 1),
    datetime(9998, 1, 1),
    timezones=st.sampled_from([UTC, timezone(-7 * 3600 * SECOND)]),
)
short = st.integers(0, 9_000_000).map(lambda number: timedelta(microseconds=number))
names = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=100)
sources = st.text(st.characters(codec="utf-8"), max_size=20)


@pytest.mark.usefixtures("without_coverage")
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_a_round_trip_at_every_ply(data):
    start = data.draw(st.sampled_from([None, SHUFFLED, CUSTOM, "r1b/2N/R1B b - - - n 99999"]))
    control = data.draw(st.sampled_from([None, "-", "60+1", "2/30:20d2", "10s", "0b10", "5"]))
    game = played(start=start, control=control)
    before = SavedGame(game, data.draw(st.uuids()), data.draw(names), data.draw(names))
    check_round_trip(before)
    for _ in range(data.draw(st.integers(0, 12))):
        if game.is_over:
            break
        with suppress(GameOver):  # the flag fell
            game.play(
                data.draw(st.sampled_from(game.position.legal_moves())),
                elapsed=data.draw(st.none() | short),
                played_at=data.draw(st.none() | times),
                source=data.draw(st.none() | sources),
            )
        check_round_trip(before)


@pytest.mark.parametrize(
    "game",
    [
        timed(),
        ended(Color.WHITE, End.RESIGNATION),
        ended(Color.BLACK, End.RESIGNATION),
        ended(None, End.AGREEMENT),
        ended(Color.WHITE, End.TIME_FORFEIT),
        ended(None, End.TIME_FORFEIT, played(start=BLACK_CANNOT_WIN)),
        ended(Color.BLACK, End.UNKNOWN),
        ended(None, End.UNKNOWN),
    ],
    ids=Game.describe,
)
def test_endings_that_the_moves_do_not_show(game):
    check_round_trip(saved(game))
    loaded = from_token(saved(game).to_token()).game
    loaded.reopen()
    assert loaded.outcome is None


@pytest.mark.parametrize(
    ("start", "moves", "termination"),
    [
        (SHUFFLED, SHUFFLE * 2, End.REPETITION),
        ("2B/3/3 w rn R N b 4", ["c3off"], End.EMPTY_BOARD),
        ("b2/R2/3 w n N B r 9", ["a2a3"], End.NO_MOVES),
    ],
)
def test_endings_that_the_moves_show(start, moves, termination):
    game = played(moves, start)
    assert game.outcome.termination is termination
    check_round_trip(saved(game))


@pytest.mark.parametrize(("start", "winner"), [(None, "black"), (BLACK_CANNOT_WIN, None)])
def test_a_fallen_flag_comes_back_and_can_be_put_up_again(start, winner):
    game = played(start=start, control="10+1")
    with pytest.raises(GameOver):
        game.play(game.position.legal_moves()[0], elapsed=11 * SECOND)
    assert (game.winner, game.clock.white.flagged) == (winner, True)
    check_round_trip(saved(game))
    loaded = from_json(saved(game).to_json()).game
    loaded.reopen()
    assert loaded.clock == played(control="10+1").clock


def test_repetitions_and_undo_go_on_after_loading():
    before = saved(played([*SHUFFLE, *SHUFFLE[:3]], SHUFFLED))
    for again in (from_json(before.to_json()), from_token(before.to_token())):
        assert again.game.outcome is None
        again.game.play(SHUFFLE[3])
        assert again.game.outcome.termination is End.REPETITION
        for _ in range(8):
            again.game.undo()
        assert told(again.game) == told(played(start=SHUFFLED))


def test_clocks_go_back_after_loading():
    loaded, game = from_token(saved(timed()).to_token()).game, timed()
    while game.plies:
        assert loaded.undo() is game.undo()
        assert told(loaded) == told(game)


@pytest.mark.parametrize(
    "name", ["", "José", "山田\u3000太郎", "👩\u200d🍳", "میر\u200cحسین", "x" * 100, "<b>&\"'\\"]
)
def test_people_are_called_as_they_like(name):
    check_round_trip(SavedGame(played(), ID, name, name))


def test_the_state_reads_as_documented():
    state = state_of(timed())
    checksum = state.pop("checksum")
    content = json.dumps(state, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert checksum == "sha256:" + hashlib.sha256(content).hexdigest()
    signed = json.loads(saved(timed()).to_json(SECRET))["checksum"]
    assert signed == "hmac-sha256:" + hmac.new(SECRET.encode(), content, "sha256").hexdigest()
    assert state["move_history"].pop() == {
        "ply": 4, "player": "black", "move": "a2a1", "notation": "Ra1",
        "timestamp": "2025-03-04T05:06:14.624775Z", "elapsed_us": 3703701, "source": None,
    }  # fmt: skip
    assert state == {
        "version": 1, "game_id": str(ID), "start": "rnb/3/RNB w - - - - 1",
        "board": [".nN", "...", "r.B"], "white_court": [], "black_court": [],
        "captured_white": ["R"], "captured_black": ["b"],
        "turn_number": 3, "player_to_move": "white", "white_player": "Ann", "black_player": "Žofie",
        "time_control": "300+3", "clock": timed().clock.to_json(),
        "status": "active", "termination": None, "winner": None,
        "move_history": state["move_history"],
    }  # fmt: skip
    scored = state_of(played(["a2off"], CUSTOM))
    assert (scored["black_court"], scored["white_court"]) == (["R", "B"], [])


def test_what_was_saved_once_can_be_loaded_for_ever():
    for text, token, content in (SAVED_GAMES[:3], SAVED_GAMES[3:]):
        assert from_json(text).to_json() == text
        assert from_token(token).to_json() == text
        assert from_token(forged_token(content)).to_json() == text


def test_a_token_is_short_and_safe_in_a_link():
    game = timed("a1a2 c3b2 c1b2 a3a2 b2c1 b3a1 b1c3 a1c2 c1a3 c2a3", None)
    token = SavedGame(game, ID, "Ann", "Bob").to_token()
    assert token.replace("-", "a").replace("_", "a").isalnum()
    assert len(token) <= 250


def test_whitespace_and_the_order_of_fields_do_not_matter():
    text = saved(timed()).to_json()
    loose = json.dumps(dict(reversed(json.loads(text).items())), indent=1)
    assert from_json(loose).to_json() == text


# --- damage ---


@pytest.mark.parametrize("secret", [None, SECRET])
def test_no_token_with_another_character_is_accepted(secret):
    token = saved(timed()).to_token(secret)
    for index, letter in enumerate(token):
        head, tail = token[:index], token[index + 1 :]
        following = chr(ord(letter) + 1)  # in base64, often the last bit
        for other in {"A", "_", "-", "+", "=", " ", "é", "\ud800", following} - {letter}:
            refusal(from_token, head + other + tail, secret)
            refusal(from_token, head + other + letter + tail, secret)
        refusal(from_token, head, secret)
        refusal(from_token, head + tail, secret)
    for more in ("A", "=", "==", "\n", " "):
        refusal(from_token, token + more, secret)


@pytest.mark.parametrize("text", [SAVED_GAMES[0], SAVED_GAMES[3]])
def test_no_truncated_state_is_accepted(text):
    for whole in (text, text.encode()):
        for length in range(len(whole)):
            refusal(from_json, whole[:length])


JUNK = [None, True, False, 0, 1, -1, 2**70, 1.5, "", "x", "\ud800", [], {}, [[]], [{}], {"a": 1}]
#: Where junk makes another game, as good as any.
GOOD = {("white_player", ""), ("white_player", "x"), ("black_player", ""), ("black_player", "x"),
        ("source", ""), ("source", "x"), ("source", None), ("timestamp", None)}  # fmt: skip


def junk_for(field: str, now: object) -> list[object]:
    good = [repr(value) for name, value in GOOD if name == field]
    return [value for value in JUNK if repr(value) not in [repr(now), *good]]


@pytest.mark.parametrize("field", state_of(timed()))
def test_no_state_with_another_field_is_accepted(field):
    state = state_of(timed())
    now = state.pop(field)
    refusal(from_json, json.dumps(state))
    if field != "checksum":
        assert refusal(from_json, forged_json(json.dumps(state))) is Fault.WRONG_FIELDS
    for junk in junk_for(field, now):
        changed = json.dumps({**state, field: junk})
        refusal(from_json, changed)
        if field != "checksum":
            refusal(from_json, forged_json(changed))


@pytest.mark.parametrize("field", state_of(timed())["move_history"][1])
def test_no_history_with_another_field_is_accepted(field):
    state = state_of(timed())
    entry = state["move_history"][1]
    now = entry.pop(field)
    refusal(from_json, forged_json(json.dumps(state)))
    for junk in junk_for(field, now):
        entry[field] = junk
        refusal(from_json, forged_json(json.dumps(state)))


def test_no_depth_of_nesting_is_too_much():
    for depth in (10, *range(900, 1000), 100_000):
        deep = "[" * depth + "]" * depth
        text = f'{{"a":{deep},"checksum":"sha256:{"0" * 64}"}}'
        assert refusal(from_json, text) in (Fault.NOT_JSON, Fault.WRONG_CHECKSUM)


# --- every refusal, most of them in spite of a checksum that fits ---


def forged(game: Game | None = None, **changes: object) -> str:
    return forged_json(json.dumps({**state_of(game or timed()), **changes}))


def forged_entry(**changes: object) -> str:
    first, *others = state_of(timed())["move_history"]
    return forged(move_history=[{**first, **changes}, *others])


def shared(**changes: object) -> str:
    """Return a token that holds something else than it should."""
    payload = {
        "version": 1, "id": ID.hex, "start": None, "white": "", "black": "", "control": None,
        "moves": "0121", "times": None, "elapsed": None, "sources": None, "ending": None,
    }  # fmt: skip
    return forged_token(json.dumps([*(payload | changes).values()]))


def named(name: object) -> SavedGame:
    return SavedGame(played(), ID, "", name)


keyed_json, keyed_token = partial(from_json, secret=SECRET), partial(from_token, secret=SECRET)
PLAIN, SIGNED = to_json(saved(timed())), to_json(saved(timed()), SECRET)
SHARED, SIGNED_AND_SHARED = to_token(saved(timed())), to_token(saved(timed()), SECRET)
ON_TIME = ended(Color.BLACK, End.TIME_FORFEIT)
DRAWN = ended(None, End.TIME_FORFEIT, played(start=BLACK_CANNOT_WIN))
REPEATED = played(SHUFFLE * 2, SHUFFLED)
PLAYED_ON = f'[Variant "Kings Cooking"]\n[FEN "{SHUFFLED}"]\n\n' + "Na3 Na1 Nb1 Nb3 " * 3 + "*"
LONG, HALF = (saved(played(["a1a2"], source=source)) for source in ("x" * 1_000_000, "\udfff"))
ONE = b"\x8b6\x8c\x05\x00"  # [1], deflated

REFUSALS = [
    (Fault.WRONG_VARIANT, saved, Game(), Game(variant="chess960"), None),
    (Fault.WRONG_NAME, named, "x" * 101, "a\nb", "\ud800", "\u202eevil", "\0", None, 5),
    (Fault.WRONG_NAME, from_json, forged(white_player="\x7f")),
    (Fault.WRONG_NAME, from_token, shared(black="\t")),
    (Fault.TOO_LARGE, from_json, " " * 1_000_001, "♔" * 400_000, b" " * 1_000_001),
    (Fault.TOO_LARGE, from_token, "A" * 64_001, forged_token("[" + " " * 5_000_000 + "]")),
    *((Fault.TOO_LARGE, save, LONG) for save in (to_json, to_token)),
    (Fault.NOT_UTF8, from_json, "\ud800", b"\xff{}", PLAIN.replace("Ann", "\\ud800")),
    *((Fault.NOT_UTF8, save, HALF) for save in (to_json, to_token)),
    (Fault.NOT_JSON, from_json, "", "{", "[]", "1", "null", '"x"', "\ufeff{}", "{}{}", None, 5),
    (Fault.NOT_JSON, from_json, "[" * 200_000, '{"a":' * 99_999, "9" * 5000, "NaN", bytearray(2)),
    (Fault.NOT_JSON, from_json, '{"a":NaN}', '{"a":-Infinity}', '{"a":1.0}', f'{{"a":{9**23}}}'),
    (Fault.NOT_JSON, from_json, PLAIN.replace("{", '{"version":1,', 1), '{"a":{"b":1,"b":1}}'),
    (Fault.NOT_JSON, from_token, forged_token("{}"), forged_token("[1,")),
    (Fault.NOT_ENCODED, from_token, "", "A", "?", "é", "c" * 22, "cw" + "A" * 21, None, b"cwaU"),
    (Fault.NOT_ENCODED, from_token, sealed(b"\xff" * 3), sealed(ONE[:-1]), sealed(ONE + b"x")),
    (Fault.WRONG_CHECKSUM, from_json, "{}", '{"checksum":7}', '{"checksum":"sha256:"}'),
    (Fault.WRONG_CHECKSUM, from_json, PLAIN.replace("Ann", "Eve"), PLAIN.replace("sha", "SHA")),
    (Fault.UNSIGNED, keyed_json, PLAIN, forged_json(SIGNED), forged(white_player="Eve")),
    (Fault.UNSIGNED, keyed_token, shared(), SHARED),
    (Fault.NO_KEY, from_json, SIGNED),
    (Fault.NO_KEY, from_token, SIGNED_AND_SHARED),
    (Fault.WRONG_SIGNATURE, keyed_json, SIGNED.replace("Ann", "Eve")),
    (Fault.WRONG_SIGNATURE, keyed_json, to_json(saved(timed()), "another")),
    (Fault.WRONG_SIGNATURE, keyed_token, to_token(saved(timed()), b"another")),
    (Fault.WRONG_VERSION, from_json, *(forged(version=odd) for odd in (0, 2, True, "1", None))),
    (Fault.WRONG_VERSION, from_token, shared(version=2, more=None)),
    (Fault.WRONG_FIELDS, from_json, forged_json("{}"), forged(comment="nice")),
    (Fault.WRONG_FIELDS, from_token, shared(more=None), forged_token("[1]"), forged_token("[]")),
    (Fault.WRONG_VALUE, from_json, forged(start="rnb/3/RNB w - - - - " + "0" * 5000 + "1")),
    (Fault.WRONG_VALUE, from_json, forged(start="8/8/8"), forged(game_id="0f8fad5b")),
    (Fault.WRONG_VALUE, from_json, forged(time_control="soon"), forged(clock={"control": "9"})),
    (Fault.WRONG_VALUE, from_json, forged(termination="resignation"), forged(termination="x")),
    (Fault.WRONG_VALUE, from_json, forged_entry(timestamp="2025-02-30T05:06:28.000089Z")),
    (Fault.WRONG_VALUE, from_json, forged_entry(timestamp="0001-01-01T00:00:00.000000+02:00")),
    (Fault.WRONG_VALUE, from_json, forged_entry(elapsed_us=10**20), forged_entry(elapsed_us=True)),
    (Fault.WRONG_VALUE, from_token, shared(times=[1]), shared(times=[9**20, 0]), shared(moves=1)),
    (Fault.WRONG_VALUE, from_token, shared(times=[0, 0], elapsed=[True, 0]), shared(sources="ab")),
    (Fault.NOT_PLAYABLE, from_json, forged_entry(move="a1b3"), forged_entry(move="castle " * 99)),
    # Clocks do not go backwards; and in a thousand seconds, the flag would have fallen.
    (Fault.NOT_PLAYABLE, from_json, forged_entry(elapsed_us=-1), forged_entry(elapsed_us=10**9)),
    (Fault.NOT_PLAYABLE, from_token, shared(moves="99"), shared(moves="0101")),
    (Fault.NOT_PLAYABLE, to_json, saved(next(read_games(PLAYED_ON)))),
    (Fault.CONTRADICTION, from_json, forged_entry(extra=1), forged_entry(ply=True)),
    (Fault.CONTRADICTION, from_json, forged(board=["...", "...", "..."]), forged(move_history=[])),
    (Fault.CONTRADICTION, from_json, forged(winner="white"), forged(status="resignation")),
    (Fault.CONTRADICTION, from_json, forged(termination="checkmate", winner="white")),
    (Fault.CONTRADICTION, from_json, forged(REPEATED, winner="white")),
    (Fault.CONTRADICTION, from_json, forged(REPEATED, termination="unknown", status="ended")),
    (Fault.CONTRADICTION, from_json, forged(ON_TIME, winner=None, status="draw")),
    (Fault.CONTRADICTION, from_json, forged(DRAWN, winner="black", status="time_forfeit")),
    (Fault.CONTRADICTION, from_json, forged(start="rnb/3/RNB w"), forged(time_control="5m+3s")),
    (Fault.CONTRADICTION, from_json, forged(game_id=str(ID).upper()), forged_entry(elapsed_us=1)),
    (Fault.CONTRADICTION, from_token, shared(start="rnb/3/RNB w - - - - 1"), shared(moves="01 2")),
    (Fault.CONTRADICTION, from_token, shared(ending="zw"), shared(ending="fw"), shared(ending="")),
    (Fault.CONTRADICTION, to_token, saved(ended(Color.WHITE, End.CHECKMATE))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "load", "thing"),
    [(fault, load, thing) for fault, load, *things in REFUSALS for thing in things],
    ids=lambda value: value.name if isinstance(value, Fault) else "",
)
def test_every_refusal_says_why(fault, load, thing):
    assert refusal(load, thing) is fault


def test_every_fault_is_shown_by_some_refusal():
    assert {fault for fault, *_ in REFUSALS} == set(Fault)


# --- the secret ---


@pytest.mark.parametrize("empty", ["", b""])
def test_an_empty_secret_is_refused(empty):
    for use in (partial(to_json, saved(timed())), partial(from_json, SIGNED)):
        with pytest.raises(ValueError, match="cannot be empty"):
            use(empty)


@pytest.mark.parametrize("secret", ["open sesame", "open sesame \udcff"])
def test_nothing_tells_the_secret(secret):
    text, token = to_json(saved(timed()), secret), to_token(saved(timed()), secret)
    loaded = from_json(text, secret)
    assert "sesame" not in f"{text} {token} {loaded!r} {loaded.game!r} {vars(loaded)}"
    changed = text.replace("Ann", "Eve")
    for load, thing in [(from_json, changed), (from_json, PLAIN), (from_token, token[:-1])]:
        with pytest.raises(InvalidSavedGame) as caught:
            load(thing, secret)
        assert "sesame" not in "".join(format_exception(caught.value)) + repr(vars(caught.value))


def test_games_that_tell_the_same_are_equal():
    one, same, other = saved(timed()), saved(timed()), saved(played())
    assert one == same == SavedGame.from_token(one.to_token())
    assert hash(one) == hash(same)
    assert one != other
    assert one != "a game"


def test_an_empty_secret_is_refused_before_anything_is_looked_at():
    for load, text in ((SavedGame.from_json, saved(played()).to_json()),
                       (SavedGame.from_token, saved(played()).to_token())):  # fmt: skip
        with pytest.raises(ValueError, match="cannot be empty"):
            load(text, "")


def test_a_small_token_cannot_stand_for_a_great_deal():
    for rounds, fault in ((60_000, Fault.NOT_PLAYABLE), (65_000, Fault.TOO_LARGE)):
        assert refusal(SavedGame.from_token, shared(moves="0110" * rounds)) is fault


def test_an_id_is_a_uuid():
    assert refusal(SavedGame, played(), str(ID), "", "") is Fault.WRONG_VALUE
