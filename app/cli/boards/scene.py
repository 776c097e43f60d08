"""Scene: what is to be seen of a match, as its events tell it, from wherever they come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from app.cli.boards.talk import MOST_SPEECHES, MOST_WORDS, Said, Talk, printable
from app.errors import AppError
from app.matches.events import Event
from app.matches.match import MatchStatus, PauseCause
from engine import Color, Evaluation, Move, Position, RulesError, TimeControl
from engine.clock import Bonus
from engine.errors import shown

#: An event as the service's process has it, or as it was sent and decoded.
Told: TypeAlias = Event | Mapping[str, Any]
#: What stands on them, None where one is not told; None if the match is not timed.
Clocks: TypeAlias = Mapping[Color, timedelta | None] | None

_LONGEST_NAME, _LONGEST_MOVE, _LONGEST_REASON = 100, 20, 200
_MOST_HOURS = timedelta(hours=100_000)


@dataclass(eq=False)
class UnreadableEvent(AppError):
    """An event that says what cannot be, or not what it should."""

    type: str
    reason: str

    def __str__(self) -> str:
        return f"an event of the match makes no sense ({shown(self.type)}): {self.reason}"


@dataclass(frozen=True)
class SeenPly:
    """A move that was played, and all that goes with it."""

    number: int
    color: Color
    san: str
    move: Move
    position: Position
    clocks: Clocks = None
    #: From White's side.
    evaluation: Evaluation | None = None
    reason: str = ""
    is_opening: bool = False

    @property
    def title(self) -> str:
        """The move with its number: `12. Nf3`, `12... Nf6`."""
        return f"{self.number}{'.' if self.color is Color.WHITE else '...'} {self.san}"


@dataclass(frozen=True)
class Running:
    """The clock of the side to move: since when it runs, if it does, and what was spent before."""

    color: Color
    spent: timedelta
    since: datetime | None


@dataclass(frozen=True)
class Scene:
    """What is to be seen of a match. Each event gives another one."""

    white: str = ""
    black: str = ""
    match_id: str = ""
    variant: str = "standard"
    control: TimeControl | None = None
    status: MatchStatus = MatchStatus.CREATED
    position: Position = field(default_factory=Position.start)
    #: Where the players began, after the opening.
    first: Position = field(default_factory=Position.start)
    first_clocks: Clocks = None
    plies: tuple[SeenPly, ...] = ()
    #: As many plies as the opening has, though those of an unknown start cannot be shown.
    opening_plies: int = 0
    clocks: Clocks = None
    turn: Running | None = None
    #: Of this turn, and of the last one in which anybody said anything.
    talk: Talk = field(default_factory=Talk)
    last_talk: Talk = field(default_factory=Talk)
    #: Whose offer, or wish to take back, stands.
    draw_offer: Color | None = None
    takeback: Color | None = None
    paused: str = ""
    ending: str = ""
    #: When the last of its events happened.
    at: datetime | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more can happen."""
        return self.status in (MatchStatus.ENDED, MatchStatus.ABORTED)

    @property
    def last_ply(self) -> SeenPly | None:
        """The ply that was played last."""
        return self.plies[-1] if self.plies else None

    @property
    def valued_ply(self) -> SeenPly | None:
        """The newest ply of which somebody told what it is worth."""
        return next((ply for ply in reversed(self.plies) if ply.evaluation is not None), None)

    def name(self, color: Color) -> str:
        """Return who plays a side."""
        return self.white if color is Color.WHITE else self.black

    def left(self, color: Color, now: datetime) -> timedelta | None:
        """Return what stands on a clock at a time of the service's; None if it is not timed."""
        rest, turn = None if self.clocks is None else self.clocks[color], self.turn
        if rest is None:
            return None
        if turn is None or turn.color is not color:
            return rest
        running = timedelta(0) if turn.since is None else max(now - turn.since, timedelta(0))
        return rest - max(turn.spent + running - self._delay(color), timedelta(0))

    @property
    def _due(self) -> int:
        """The number of the ply that comes next, counted as events do."""
        return self.opening_plies + sum(not ply.is_opening for ply in self.plies) + 1

    def _delay(self, color: Color) -> timedelta:
        """Return how long somebody may think before their clock begins to run."""
        if self.control is None:
            return timedelta(0)
        made = sum(ply.color is color and not ply.is_opening for ply in self.plies)
        period, _ = self.control.after_moves(made)
        is_delayed = period is not None and period.kind is Bonus.DELAY
        return period.bonus if period is not None and is_delayed else timedelta(0)

    def hearing(self, by: str, words: str) -> Scene:
        """Return what is to be seen when somebody has said more of what they think."""
        return replace(self, talk=self.talk.hearing(_name(by), words))

    def after(self, event: Told) -> Scene:
        """Return what is to be seen after an event; types that are not known change nothing.

        Raises `UnreadableEvent`.
        """
        kind = ""
        try:
            kind, data = _read(event)
            scene = self._after(kind, data)
            return replace(scene, at=_time(data["at"])) if "at" in data else scene
        except (
            KeyError,
            IndexError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
        ) as error:
            why = f"{type(error).__name__}: {error}"
            raise UnreadableEvent(kind, printable(why)[:_LONGEST_REASON]) from error
        except RulesError as error:
            raise UnreadableEvent(kind, printable(str(error))[:_LONGEST_REASON]) from error

    def _after(self, kind: str, data: Mapping[str, Any]) -> Scene:
        match kind:
            case "match.created":
                return self._created(data)
            case "match.started":
                position = Position.from_fen(data["fen"], self.variant)
                return replace(self, status=MatchStatus.RUNNING, position=position)
            case "turn.started":
                return self._turn_started(data)
            case "advice.delta":
                is_late = data["ply"] != self._due  # words of a turn that is over
                return self if is_late else self.hearing(data["by"], data["words"])
            case "advice.given":
                return replace(self, talk=self.talk.having(_said(data)))
            case "attempt.rejected":
                detail = data["detail"].replace(f" in {self.position.fen()}", "")
                move = printable(data["move"])[:_LONGEST_MOVE]
                return replace(self, talk=self.talk.refusing(move, printable(detail)))
            case "ply.played":
                return self._played(data)
            case "takeback.taken":
                return self._taken_back(data["keep"])
            case "draw.offered":
                return replace(self, draw_offer=Color(data["color"]))
            case "draw.declined":
                return replace(self, draw_offer=None)
            case "takeback.asked":
                return replace(self, takeback=Color(data["color"]))
            case "takeback.declined":
                return replace(self, takeback=None)
            case "match.paused":
                return replace(self._stopped(data), status=MatchStatus.PAUSED, paused=_pause(data))
            case "match.resumed":
                return replace(self, status=MatchStatus.RUNNING, paused="")
            case "match.ended":
                return replace(
                    self._stopped(data),
                    status=MatchStatus(data["status"]),
                    ending=_ending(data),
                    paused="",
                    draw_offer=None,
                    takeback=None,
                )
        return self

    def _created(self, data: Mapping[str, Any]) -> Scene:
        settings = data["settings"]
        variant, control = settings["variant"], settings["time_control"]
        position = Position.from_fen(data["fen"], variant)
        return replace(
            self,
            white=_name(settings["white"]["title"] or settings["white"]["name"]),
            black=_name(settings["black"]["title"] or settings["black"]["name"]),
            match_id=printable(data["match_id"]),
            variant=variant,
            control=None if control is None else TimeControl.parse(control),
            position=position,
            first=position,
            plies=_opening(settings["initial_fen"], variant, data["opening"], position),
            opening_plies=len(data["opening"]),
        )

    def _turn_started(self, data: Mapping[str, Any]) -> Scene:
        clocks = _clocks(data["clocks"])
        turn = Running(Color(data["color"]), _duration(data["spent_ms"]), _time(data["at"]))
        return replace(
            self,
            status=MatchStatus.RUNNING,
            paused="",
            clocks=clocks,
            first_clocks=self.first_clocks or clocks,
            turn=turn,
            talk=self.talk.hushed(),  # whoever is asked anew begins anew
        )

    def _played(self, data: Mapping[str, Any]) -> Scene:
        before = self.position
        ply = SeenPly(
            before.fullmove_number,
            before.turn,
            printable(data["san"])[:_LONGEST_MOVE],
            Move.from_uci(data["uci"]),
            Position.from_fen(data["fen"], self.variant),
            _clocks(data["clocks"]),
            _evaluation(data.get("evaluation")),
            printable((data.get("decision") or {}).get("reason") or ""),
        )
        talk = replace(self.talk.hushed(), before=ply.title)
        return replace(
            self,
            position=ply.position,
            plies=(*self.plies, ply),
            clocks=ply.clocks,
            turn=None,
            talk=Talk(),
            last_talk=self.last_talk if talk.is_empty else talk,
            takeback=None,
        )

    def _taken_back(self, keep: int) -> Scene:
        # Those of the opening are among them, even where they cannot be shown.
        hidden = self.opening_plies - sum(ply.is_opening for ply in self.plies)
        plies = self.plies[: max(keep - hidden, 0)]
        is_first = not plies or plies[-1].is_opening
        return replace(
            self,
            position=self.first if is_first else plies[-1].position,
            clocks=self.first_clocks if is_first else plies[-1].clocks,
            plies=plies,
            turn=None,
            talk=Talk(),
            last_talk=Talk(),
            takeback=None,
            draw_offer=None,
        )

    def _stopped(self, data: Mapping[str, Any]) -> Scene:
        spent = _duration(data["spent_ms"])
        turn = None if self.turn is None else Running(self.turn.color, spent, None)
        return replace(self, turn=turn, talk=self.talk.hushed())


def kind_of(event: Told) -> str:
    """Return the type of an event by its name."""
    return event.type.value if isinstance(event, Event) else str(event.get("type", ""))


def _read(event: Told) -> tuple[str, Mapping[str, Any]]:
    if isinstance(event, Event):
        head = {"match_id": event.match_id, "at": event.at}
        return event.type.value, {**event.fields, **head}
    if not isinstance(event, Mapping):
        raise TypeError("it is no object")
    if not isinstance(event["type"], str):
        raise TypeError("its type is no text")
    return event["type"], event


def _duration(milliseconds: int) -> timedelta:
    duration = timedelta(milliseconds=milliseconds)
    if not timedelta(0) <= duration <= _MOST_HOURS:
        raise ValueError(f"a time is from 0 to {_MOST_HOURS}")
    return duration


def _clocks(data: Mapping[str, int | None] | None) -> Clocks:
    if data is None:
        return None
    stood = {color: data[f"{color.value}_ms"] for color in Color}
    return {color: None if rest is None else _duration(rest) for color, rest in stood.items()}


def _evaluation(data: Mapping[str, int] | None) -> Evaluation | None:
    if data is None:
        return None
    # By name, since there may be more; and `int`, since a person is to read it as a number.
    return Evaluation(
        **{name: int(data[name]) for name in ("centipawns", "mate") if data.get(name) is not None}
    )


def _time(at: str | datetime) -> datetime:
    """Return a time; one without a zone is of UTC, as all of them are."""
    time = at if isinstance(at, datetime) else datetime.fromisoformat(at)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _name(name: str) -> str:
    return printable(name)[:_LONGEST_NAME]


def _said(data: Mapping[str, Any]) -> Said:
    return Said(
        _name(data["by"]),
        printable(data.get("words", "")[:MOST_WORDS]),
        tuple(
            (printable(each["san"])[:_LONGEST_MOVE], printable(each["reason"][:MOST_WORDS]))
            for each in data["candidates"][:MOST_SPEECHES]
        ),
        printable(data.get("abstained", "")[:MOST_WORDS]),
    )


def _opening(
    initial_fen: str | None, variant: str, moves: list[str], reached: Position
) -> tuple[SeenPly, ...]:
    """Return the plies of an opening; none, if they do not lead to where the match begins."""
    position = (
        Position.start(variant) if initial_fen is None else Position.from_fen(initial_fen, variant)
    )
    plies = []
    for uci in moves:
        move = Move.from_uci(uci)
        if not position.is_legal(move):
            return ()
        number, color, san = position.fullmove_number, position.turn, position.san(move)
        position = position.play(move)
        plies.append(SeenPly(number, color, san, move, position, is_opening=True))
    return tuple(plies) if position.fen() == reached.fen() else ()


def _pause(data: Mapping[str, Any]) -> str:
    """Return why it is paused: in words, or by its cause if somebody else than a command did it."""
    reason = printable(data.get("reason") or "")
    cause = printable(data.get("cause") or "")
    return reason or (cause if cause != PauseCause.COMMAND else "somebody asked for it")


def _ending(data: Mapping[str, Any]) -> str:
    outcome = data["outcome"]
    if outcome is None:
        return printable(data["detail"])
    return printable(f"{outcome['result']}: {outcome['detail']}")
