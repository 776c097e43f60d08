"""Logs: one line for each event, whoever tells it, and no secret in any of them."""

import io
import json
import logging
import subprocess
import sys
import warnings
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from app.logs import REMOVED, SecretRemover, configure

SECRET = "q7Hx-very.secret_value~42"


def keep_out(monkeypatch):
    """Keep the runner of the tests from looking at lines, too. Call it in the test itself."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])


def lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_line_is_an_object_with_its_time_level_and_match(capsys):
    configure("info")
    before = datetime.now(UTC)
    structlog.get_logger("app.some.room").warning("no decision", match_id="m1", player="random")
    (line,) = lines(capsys)
    assert before <= datetime.fromisoformat(line.pop("timestamp")) <= datetime.now(UTC)
    assert line == {
        "level": "warning",
        "event": "no decision",
        "logger": "app.some.room",
        "match_id": "m1",
        "player": "random",
    }


def test_times_are_in_utc_and_come_first(capsys):
    configure()
    structlog.get_logger().info("hello", zebra=1)
    text = capsys.readouterr().err
    assert text.startswith('{"timestamp": "')
    assert json.loads(text)["timestamp"].endswith("Z")


def test_what_was_bound_is_in_every_line(capsys):
    configure()
    log = structlog.get_logger().bind(match_id="m7")
    with structlog.contextvars.bound_contextvars(request="r1"):
        log.info("one")
    log.info("two")
    one, two = lines(capsys)
    assert (one["match_id"], one["request"]) == ("m7", "r1")
    assert two["match_id"] == "m7"
    assert "request" not in two


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error", "critical"])
def test_lines_below_the_level_are_not_written(level, capsys):
    configure(level)
    names = ["debug", "info", "warning", "error", "critical"]
    for name in names:
        getattr(structlog.get_logger("ours"), name)("x")
        getattr(logging.getLogger("theirs"), name)("x")
    wanted = names[names.index(level) :]
    assert [line["level"] for line in lines(capsys)] == [name for name in wanted for _ in "ab"]


def test_lines_of_the_standard_library_look_the_same(capsys):
    configure()
    logging.getLogger("alembic.runtime").info("upgrade %s", "0001", extra={"match_id": "m1"})
    extra = {"color_message": "Started \x1b[36m"}
    logging.getLogger("uvicorn.error").info("Started server process [%d]", 7, extra=extra)
    migration, server = lines(capsys)
    assert migration["event"] == "upgrade 0001"
    assert (migration["logger"], migration["match_id"]) == ("alembic.runtime", "m1")
    assert (server["event"], server["level"]) == ("Started server process [7]", "info")
    assert "color_message" not in server


class Numbered(logging.Filter):
    def filter(self, record):
        record.request_id = "r1"
        return True


def test_filters_may_add_to_every_line(capsys):
    configure(filters=[Numbered()])
    logging.getLogger("std").info("theirs")
    structlog.get_logger().info("ours")
    assert [line["request_id"] for line in lines(capsys)] == ["r1", "r1"]


@pytest.mark.parametrize("name", ["uvicorn.access", "httpx"])
def test_requests_are_told_to_those_who_debug(name, capsys):
    configure("info")
    logging.getLogger(name).info("GET /")
    assert capsys.readouterr().err == ""
    configure("debug")
    logging.getLogger(name).info("GET /")
    assert [line["event"] for line in lines(capsys)] == ["GET /"]


@pytest.mark.parametrize("level", ["debug", "info"])
def test_statements_are_never_told(level):
    configure(level)
    assert not logging.getLogger("sqlalchemy.engine.Engine").isEnabledFor(logging.INFO)
    assert logging.getLogger("sqlalchemy.pool").isEnabledFor(logging.WARNING)


def test_configuring_again_replaces(capsys):
    configure("debug")
    configure("info", json=True)
    log = structlog.get_logger()
    log.debug("no")
    log.info("once")
    assert [line["event"] for line in lines(capsys)] == ["once"]


def test_loggers_made_before_follow(capsys):
    log = structlog.get_logger("early")
    configure("warning")
    log.info("no")
    configure("info")
    log.info("yes")
    assert [line["event"] for line in lines(capsys)] == ["yes"]


def test_warnings_of_python_are_lines_too(capsys):
    configure()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        # The runner of the tests has its own way to show them, which that would bring back.
        warnings.showwarning = logging._showwarning
        warnings.warn("old ways", stacklevel=1)
    (line,) = lines(capsys)
    assert line["logger"] == "py.warnings"
    assert "old ways" in line["event"]


def test_an_exception_is_told_with_its_causes(capsys):
    configure()
    try:
        try:
            raise ValueError("first")
        except ValueError as error:
            raise RuntimeError("second") from error
    except RuntimeError:
        structlog.get_logger().exception("match broke", match_id="m1")
        logging.getLogger("std").exception("broke")
    ours, theirs = lines(capsys)
    for line in (ours, theirs):
        assert "ValueError: first" in line["exception"]
        assert "RuntimeError: second" in line["exception"]
        assert "exc_info" not in line


# --- secrets ---


@pytest.mark.parametrize(
    "name",
    [
        *("token", "api_key", "apiKey", "API-KEY", "password", "authorization", "Authorization"),
        *("x-seat-token", "white_token", "database_password", "cookie", "Set-Cookie", "tokens"),
        *("api_tokens", "white_token_hash", "pg.passwd"),
    ],
)
def test_values_of_such_names_are_removed_however_deep(name, capsys):
    configure()
    nested = {"headers": [{name: SECRET}, ({name: {"a": [SECRET]}},)]}
    structlog.get_logger().info("x", **{name: SECRET}, nested=nested)
    output = capsys.readouterr().err
    assert SECRET not in output
    line = json.loads(output)
    assert line[name] == REMOVED
    assert line["nested"]["headers"][0] == {name: REMOVED}


TEXTS = [
    f"they sent Bearer {SECRET} along",
    f"Authorization: Bearer {SECRET}",
    f"authorization=basic {SECRET}",
    f"GET /api/matches?token={SECRET}&limit=5",
    f"GET /api/matches?limit=5&seat_token={SECRET}",
    f"postgresql://kibitz:{SECRET}@db.example/kibitz",
    f"postgresql+psycopg://kibitz:a/b@{SECRET}@db.example:5432/kibitz?sslmode=require",
    f"https://:{SECRET}@example/v1",
    f"could not connect: host=db user=kibitz password={SECRET} dbname=x",
    f"{{'api_key': '{SECRET}', 'model': 'gpt'}}",
    f'{{"apiKey":"{SECRET} and more","model":"gpt"}}',
    f"Settings(password='{SECRET}')",
    f"headers [(b'x-seat-token', b'{SECRET}'), (b'host', b'a')]",
    f"X-Seat-Token: {SECRET}\r\nHost: a",
    f"password: '{SECRET}",
    "Incorrect API key provided: sk-proj-q7HxAAAAAAAAAAAAAAAAvery.secret".replace(".", "_"),
    f"(sqlite3.X) no\n[SQL: INSERT INTO m VALUES (?, ?)]\n[parameters: ('a', '{SECRET}')]\n(See)",
    f"[parameters: [{{'a': '{SECRET}'}}, {{'b': [1]}}]]",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("as_json", [True, False])
def test_what_looks_like_a_secret_is_removed_from_texts(text, as_json, capsys):
    configure(json=as_json)
    log = structlog.get_logger()
    log.info(text)
    log.info("x", error=text, deep=[{"a": (text,)}], **{"b " + text: 1})
    log.info("x", error=ValueError(text), shown=Shown(text), raw=text.encode())
    logging.getLogger("std").info("they said %s", text)
    logging.getLogger("std").info(text.replace("%", ""))
    try:
        raise OSError(text)
    except OSError:
        log.exception("x")
        logging.getLogger("std").exception("x")
    output = capsys.readouterr().err
    assert SECRET not in output
    assert "q7Hx" not in output
    assert REMOVED in output


class Shown:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return f"<Shown {self.text}>"


@pytest.mark.parametrize(
    "text",
    [
        "match over",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "http://127.0.0.1:8000/api/matches/0192-a?limit=5",
        "the setting api_tokens is wrong: the same token is there twice",
        "max_tokens=512, prompt_tokens: 12",
        "a token of basic importance",
        "author: Steinitz",
        "1. e4 e5 2. Nf3 {basic development} Nc6",
    ],
)
def test_other_texts_stay(text):
    assert SecretRemover().clean(text) == text


def test_counts_of_tokens_stay():
    told = {
        "event": "x",
        "prompt_tokens": 12,
        "tokens": 0,
        "token": None,
        "cost": 0.5,
        "auth": True,
    }
    assert SecretRemover()(None, "info", dict(told)) == told


def test_the_operators_secrets_are_removed_wherever_they_are(capsys):
    password = "p w/{}!ä".ljust(9, "x")
    configure(secrets=[SECRET, password, "short"])
    structlog.get_logger().info(
        f"a{SECRET}b", note=f"said {password}", url="p%20w%2F%7B%7D%21%C3%A4x"
    )
    (line,) = lines(capsys)
    assert line["event"] == f"a{REMOVED}b"
    assert line["note"] == f"said {REMOVED}"
    assert line["url"] == REMOVED
    structlog.get_logger().info("a short story")
    assert "a short story" in capsys.readouterr().err


def test_a_secret_within_another_does_not_keep_the_rest():
    remover = SecretRemover(["abcdefgh", "abcdefghijkl"])
    assert remover.clean("x abcdefghijkl y") == f"x {REMOVED} y"


def test_secrets_of_pydantic_stay_secret(capsys):
    configure()
    structlog.get_logger().info("x", value=SecretStr(SECRET), values=[SecretStr(SECRET)])
    assert SECRET not in capsys.readouterr().err


@given(st.text())
def test_cleaning_takes_any_text(text):
    cleaned = SecretRemover().clean(text)
    assert SecretRemover().clean(f"password={SECRET} {text}").startswith(f"password={REMOVED} ")
    assert isinstance(cleaned, str)


def test_cleaning_long_texts_takes_no_more_than_in_proportion():
    # Each of these made an expression try every end from every start, which takes minutes.
    remover = SecretRemover()
    for text in (
        "http://a:",
        "token='",
        "[parameters: ",
        "bearer ",
        "a" * 50 + "://",
        "token",
        "\\",
    ):
        assert len(remover.clean(text * 20_000)) < 30_000


# --- whatever is told, a line comes out ---

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=10,
)


@pytest.mark.usefixtures("without_coverage")
@given(st.dictionaries(st.text(), values))
def test_any_data_makes_one_line_of_json(data):
    line = structlog.processors.JSONRenderer()(None, "info", SecretRemover()(None, "info", data))
    assert "\n" not in line
    assert line.isascii()
    json.loads(line, parse_constant=pytest.fail)  # NaN is no JSON


class Broken:
    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __str__


def test_odd_values_are_told_as_texts(monkeypatch, capsys):
    keep_out(monkeypatch)
    configure()
    circle = []
    circle.append(circle)
    structlog.get_logger().info(
        "x",
        path=Path("a"),
        broken=Broken(),
        circle=circle,
        cost=Decimal("0.10"),
        unpaired="\ud800",
        endless=float("inf"),
    )
    (line,) = lines(capsys)
    assert (line["path"], line["broken"], line["cost"]) == ("a", "<Broken>", "0.10")
    assert line["endless"] == "inf"


def test_a_long_text_keeps_its_beginning_and_end(capsys):
    configure()
    structlog.get_logger().info("begin" + "x" * 100_000 + "end")
    (line,) = lines(capsys)
    assert line["event"].startswith("begin")
    assert line["event"].endswith("end")
    assert len(line["event"]) < 21_000


def test_a_line_that_cannot_be_made_says_so_without_its_values(monkeypatch, capsys):
    keep_out(monkeypatch)
    configure()
    logging.getLogger("std").info("%d", SECRET)
    (line,) = lines(capsys)
    assert line["event"] == "a line was lost"
    assert (line["logger"], line["error"]) == ("std", "TypeError")


@pytest.mark.parametrize("kind", ["none", "closed", "full"])
def test_nobody_is_disturbed_if_nothing_can_be_written(kind, monkeypatch):
    configure()
    stream = None
    if kind != "none":
        stream = Path("/dev/full").open("w", buffering=1)  # noqa: SIM115
    if kind == "closed":
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    structlog.get_logger().info("x")
    logging.getLogger("std").info("x")
    configure()  # also when asked whether it is a terminal
    if kind == "full":
        with pytest.raises(OSError, match="No space"):
            stream.close()


# --- for people ---


def test_people_get_text_that_a_terminal_does_not_obey(capsys):
    configure(json=False)
    structlog.get_logger().info("a\x1b[31m\nforged", player="b\x9b2J\n2026 [info] forged")
    try:
        raise ValueError("two\nlines \x1b[2J")
    except ValueError:
        structlog.get_logger().exception("broke")
    output = capsys.readouterr().err
    first, second, *trace = output.splitlines()
    assert "a\\x1b[31m\\nforged" in first
    assert "x9b2J\\\\n2026 [info] forged" in first
    assert "broke" in second
    assert trace[0].startswith("Traceback")
    assert not {"\x1b", "\x9b"} & set(output)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_colours_unless_they_are_not_wanted(monkeypatch):
    for wanted in ("", "1"):
        monkeypatch.setenv("NO_COLOR", wanted)
        monkeypatch.setattr(sys, "stderr", Terminal())
        configure()
        structlog.get_logger().info("hello", match_id="m1")
        text = sys.stderr.getvalue()
        assert "hello" in text
        assert not text.startswith("{")
        assert ("\x1b[" in text) is (wanted == "")


def test_importing_it_does_not_import_rich():
    code = "import sys, app.logs; print([name for name in sys.modules if name.startswith('rich')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
    code = "import app.logs, rich.console; app.logs.configure(json=False)"
    subprocess.run([sys.executable, "-c", code], check=True)
