"""Match: a game between two seats. It only ever changes by events, so its log rebuilds it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from agents.models.budget import Budget
from agents.player import Advice, Turn
from app.matches.adjudication import adjudicate
from app.matches.errors import CannotDo, MatchIsOver, NotYourTurn
from app.matches.events import (
    Event,
    EventType,
    evaluation_json,
    evaluation_of,
    milliseconds,
    outcome_json,
)
from app.matches.settings import MatchSettings, budget_json, budget_of
from engine import (
    Color,
    DrawNotClaimable,
    Evaluation,
    Game,
    Move,
    MoveError,
    Outcome,
    Termination,
    read_games,
)

_ZERO = timedelta(0)
_MILLISECOND = timedelta(milliseconds=1)
_ADVICE = ("by", "candidates", "words", "abstained")


class MatchStatus(StrEnum):
    """Where a match stands."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"
    ABORTED = "aborted"


class PauseCause(StrEnum):
    """Why a match is paused, for whoever decides whether to resume it."""

    #: Somebody asked for it.
    COMMAND = "command"
    #: A player could not decide, through no fault of its play.
    FAULT = "fault"
    #: A model could not be asked, which is likely to pass.
    OUTAGE = "outage"
    #: A model cannot be asked as things are set up: a wrong key, no price, a refused request.
    SETUP = "setup"
    #: What is left of a budget may not cover the next call.
    BUDGET = "budget"
    #: The evaluation that it belongs to was paused.
    EVALUATION = "evaluation"


#: Those in which something can still happen.
UNFINISHED = (MatchStatus.CREATED, MatchStatus.RUNNING, MatchStatus.PAUSED)


@dataclass(frozen=True, slots=True)
class NewPly:
    """A ply that is not stored yet: its event, and what was said and refused before it."""

    event: Event
    advice: list[dict[str, Any]]
    attempts: list[dict[str, Any]]


class Match:
    """A match as its log tells it. What is done to it appends events to `new_events`.

    Times are given, never looked up, and kept to the millisecond, so that a match that is rebuilt
    from its log has the same clocks. All methods raise `MatchIsOver` once it has ended.
    """

    def __init__(self, match_id: str, settings: MatchSettings, created_at: datetime) -> None:
        self.id = match_id
        self.settings = settings
        #: What model calls may cost; another budget may come when it is resumed.
        self.budget = settings.budget
        self.status = MatchStatus.CREATED
        self.game: Game = settings.game
        self.created_at = self.updated_at = created_at
        self.started_at: datetime | None = None
        self.ended_at: datetime | None = None
        #: The number of the last event.
        self.sequence = 0
        self.outcome: Outcome | None = None
        #: How it ended, in a sentence; also where there is no outcome.
        self.ending = ""
        #: Why it is paused, if it is; the reason in words, if somebody said so.
        self.pause_reason = ""
        self.pause_cause: PauseCause | None = None
        #: Whose offer, or wish to take back, stands.
        self.draw_offer: Color | None = None
        self.takeback: Color | None = None
        #: When the turn began, or went on, and what it had taken before that.
        self.turn_at: datetime | None = None
        self.spent = _ZERO
        # What the last ply of a match that was played elsewhere told.
        self._told_clocks: dict[str, Any] | None = None
        #: What was said, and refused, in this turn.
        self.advice: list[dict[str, Any]] = []
        self.attempts: list[dict[str, Any]] = []
        #: What was recorded and not yet taken away to be stored.
        self.new_events: list[Event] = []
        self.new_plies: list[NewPly] = []
        #: How many of the plies that are stored stay, if some were taken back.
        self.keep_plies: int | None = None
        self.opening_plies = len(self.game.line)
        self.game.tags = settings.pgn_tags(created_at)

    # --- making one ---

    @classmethod
    def create(cls, match_id: str, settings: MatchSettings, at: datetime) -> Match:
        """Return a new match, with its first event."""
        match = cls(match_id, settings, at)
        opening = [move.uci() for move in match.game.line.moves]
        match._record(
            EventType.CREATED,
            at,
            settings=settings.to_json(),
            fen=match.game.position.fen(),
            opening=opening,
        )
        return match

    @classmethod
    def replay(cls, settings: MatchSettings, events: Iterable[Event]) -> Match:
        """Return the match that a log tells of, from its first event on."""
        events = iter(events)
        match = cls._created(settings, next(events))
        for event in events:
            match._apply(event)
        match.keep_plies = None
        return match

    @classmethod
    def retell(cls, settings: MatchSettings, events: Iterable[Event]) -> Match:
        """Return the match that a log tells of, with all of it still to be stored."""
        events = iter(events)
        first = next(events)
        match = cls._created(settings, first)
        match.new_events.append(first)
        for event in events:
            match.new_events.append(event)
            if event.type is EventType.PLY:
                match.new_plies.append(NewPly(event, match.advice, match.attempts))
            match._apply(event)
        match.keep_plies = None  # none of those taken back is stored
        return match

    @classmethod
    def _created(cls, settings: MatchSettings, first: Event) -> Match:
        match = cls(first.match_id, settings, first.at)
        match.sequence = first.sequence
        return match

    # --- what it is ---

    @property
    def is_over(self) -> bool:
        """Whether nothing can happen any more."""
        return self.status not in UNFINISHED

    @property
    def color(self) -> Color:
        """The side to move."""
        return self.game.turn

    def elapsed(self, at: datetime) -> timedelta:
        """Return what this turn has taken so far, in whole milliseconds."""
        if self.status is not MatchStatus.RUNNING or self.turn_at is None:
            return self.spent
        return self.spent + max(at - self.turn_at, _ZERO) // _MILLISECOND * _MILLISECOND

    def time_left(self, at: datetime) -> timedelta | None:
        """Return how long the side to move may still think; None if it is not timed."""
        clock = self.game.clock
        budget = None if clock is None else clock.budget(self.color)
        return None if budget is None else budget - self.elapsed(at)

    def turn(self, at: datetime) -> Turn:
        """Return what the player to move is given."""
        offered = self.draw_offer is self.color.opponent
        game = self.game
        return Turn(
            game.start, game.plies, game.clock, spent=self.elapsed(at), draw_offered=offered
        )

    def clocks(self) -> dict[str, Any] | None:
        """Return both clocks as they stood when the turn began."""
        clock = self.game.clock
        if clock is None:
            return self._told_clocks
        return {f"{color.value}_ms": _rest(clock.remaining(color)) for color in Color}

    # --- its course ---

    def start(self, at: datetime) -> None:
        """Let the game begin."""
        self._refuse_if_over()
        if self.status is not MatchStatus.CREATED:
            raise CannotDo("to start", f"the match is {self.status.value}")
        self._record(EventType.STARTED, at, fen=self.game.position.fen())
        self.begin_turn(at)

    def begin_turn(self, at: datetime, spent: timedelta = _ZERO) -> None:
        """Let the clock of the side to move run, of which some may be spent already."""
        self._refuse_unless_running()
        self._record(
            EventType.TURN,
            at,
            ply=len(self.game.line) + 1,
            color=self.color.value,
            spent_ms=milliseconds(spent),
            clocks=self.clocks(),
        )

    def advise(self, advice: Advice, at: datetime) -> None:
        """Note what somebody said of this turn, once."""
        self._refuse_unless_running()
        position = self.game.position
        candidates = [
            {"uci": each.move.uci(), "san": position.san(each.move), "reason": each.reason}
            for each in advice.candidates
            if position.is_legal(each.move)
        ]
        said = {
            "by": advice.by,
            "candidates": candidates,
            "words": advice.words,
            "abstained": advice.abstained,
        }
        if said not in self.advice:  # else it comes again with the decision, or after a restart
            ply, color = len(self.game.line) + 1, self.color.value
            self._record(EventType.ADVICE, at, ply=ply, color=color, **said)

    def reject(self, attempt: int, move: str, error: MoveError | None, at: datetime) -> None:
        """Note a proposed move that the rules refuse, or that there was none."""
        self._refuse_unless_running()
        self._record(
            EventType.REJECTED,
            at,
            ply=len(self.game.line) + 1,
            color=self.color.value,
            attempt=attempt,
            move=move,
            kind="missing" if error is None else type(error).__name__,
            detail="there was no move" if error is None else str(error),
        )

    def play(
        self,
        move: Move | str,
        at: datetime,
        *,
        source: str,
        evaluation: Evaluation | None = None,
        decision: dict[str, Any] | None = None,
        offers_draw: bool = False,
        turn_at: datetime | None = None,
    ) -> None:
        """Play a move of the side to move, and begin the next turn unless that ends the match.

        The next turn begins at once, or at `turn_at`. Raises `MoveError`; a side whose time was
        over before has lost instead.
        """
        self._refuse_unless_running()
        color, elapsed, before = self.color, self.elapsed(at), self.game.position
        if not isinstance(move, Move):
            move = before.parse(move)
        if self._is_out_of_time(elapsed):
            self.lose_on_time(at)
            return
        san = before.san(move)
        self._play(move, elapsed, evaluation, source, at)
        offer = self.draw_offer
        self._record(
            EventType.PLY,
            at,
            ply=len(self.game.line),
            color=color.value,
            uci=move.uci(),
            san=san,
            fen=self.game.position.fen(),
            elapsed_ms=milliseconds(elapsed),
            clocks=self.clocks(),
            evaluation=evaluation_json(evaluation),
            source=source,
            decision=decision or {},
        )
        outcome = self.game.outcome or adjudicate(self.settings, self.game)
        if outcome is not None:
            self._end(outcome, at)
            return
        if offer is color.opponent:  # who moves on does not want the draw
            self._record(EventType.DRAW_DECLINED, at, color=color.value)
        if offers_draw and self.draw_offer is None:
            self._record(EventType.DRAW_OFFERED, at, color=color.value)
        self.begin_turn(turn_at or at)

    def resign(self, color: Color, at: datetime) -> None:
        """Let a side resign, whoever is to move."""
        self._refuse_if_over()
        self._end(Outcome(color.opponent, Termination.RESIGNATION), at)

    def lose_on_time(self, at: datetime) -> None:
        """Let the flag of the side to move fall."""
        self._refuse_unless_running()
        self._end(self.game.forfeit_on_time(self.color), at)

    def forfeit(self, at: datetime) -> None:
        """Let the side to move lose, since it brought forth no legal move."""
        self._refuse_unless_running()
        self._end(Outcome(self.color.opponent, Termination.RULES_INFRACTION), at)

    def offer_draw(self, color: Color, at: datetime) -> None:
        """Offer a draw, or take the opponent's offer."""
        self._refuse_if_over()
        if self.draw_offer is color:
            raise CannotDo("to offer a draw", "your offer stands already")
        if self.draw_offer is color.opponent:
            self._end(Outcome(None, Termination.AGREEMENT), at)
            return
        self._record(EventType.DRAW_OFFERED, at, color=color.value)

    def accept_draw(self, color: Color, at: datetime) -> None:
        """Take the opponent's offer."""
        self._refuse_if_over()
        if self.draw_offer is not color.opponent:
            raise CannotDo("to accept a draw", "none was offered")
        self._end(Outcome(None, Termination.AGREEMENT), at)

    def decline_draw(self, color: Color, at: datetime) -> None:
        """Turn the opponent's offer down."""
        self._refuse_if_over()
        if self.draw_offer is not color.opponent:
            raise CannotDo("to decline a draw", "none was offered")
        self._record(EventType.DRAW_DECLINED, at, color=color.value)

    def claim_draw(self, color: Color, intended: Move | str | None, at: datetime) -> None:
        """Claim a draw by repetition or fifty moves, now or with an intended move.

        Raises `NotYourTurn`, `CannotDo` or `MoveError`.
        """
        self._refuse_unless_running()
        self._refuse_unless_turn(color)
        try:
            outcome = self.game.claim_draw(intended)
        except DrawNotClaimable as error:
            why = "the position has not occurred three times, nor are there fifty quiet moves"
            raise CannotDo("to claim a draw", why) from error
        self._end(outcome, at)

    def ask_takeback(self, color: Color, at: datetime) -> None:
        """Ask to take back a side's last move, or agree to what the opponent asks."""
        self._refuse_if_over()
        if self.takeback is color:
            raise CannotDo("to take back", "you have asked already")
        if self.takeback is color.opponent:
            self.grant_takeback(color, at)
            return
        self._plies_to_keep(color)  # which refuses if there is nothing
        self._record(EventType.TAKEBACK_ASKED, at, color=color.value)

    def grant_takeback(self, color: Color, at: datetime) -> None:
        """Let the opponent take back."""
        self._refuse_if_over()
        if self.takeback is not color.opponent:
            raise CannotDo("to grant a takeback", "nobody asked for it")
        keep = self._plies_to_keep(color.opponent)
        self._record(EventType.TAKEN_BACK, at, color=color.opponent.value, keep=keep)
        if self.status is MatchStatus.RUNNING:
            self.begin_turn(at)

    def decline_takeback(self, color: Color, at: datetime) -> None:
        """Do not let the opponent take back."""
        self._refuse_if_over()
        if self.takeback is not color.opponent:
            raise CannotDo("to decline a takeback", "nobody asked for it")
        self._record(EventType.TAKEBACK_DECLINED, at, color=color.value)

    def pause(self, at: datetime, reason: str = "", cause: PauseCause = PauseCause.COMMAND) -> None:
        """Stop the clock until it is resumed."""
        self._refuse_if_over()
        if self.status is not MatchStatus.RUNNING:
            raise CannotDo("to pause", f"the match is {self.status.value}")
        spent = milliseconds(self.elapsed(at))
        self._record(EventType.PAUSED, at, spent_ms=spent, reason=reason, cause=cause.value)

    def resume(self, at: datetime, budget: Budget | None = None) -> None:
        """Let the clock run again, perhaps with another budget for model calls."""
        self._refuse_if_over()
        if self.status is not MatchStatus.PAUSED:
            raise CannotDo("to resume", f"the match is {self.status.value}")
        spent = self.spent
        changed = {} if budget is None else {"budget": budget_json(budget)}
        self._record(EventType.RESUMED, at, **changed)
        self.begin_turn(at, spent)

    def abort(self, at: datetime, reason: str = "") -> None:
        """End it without a result."""
        self._refuse_if_over()
        self._finish(MatchStatus.ABORTED, None, reason or "it was aborted", at)

    # --- refusals ---

    def _refuse_if_over(self) -> None:
        if self.is_over:
            raise MatchIsOver(self.id, self.ending)

    def _refuse_unless_running(self) -> None:
        self._refuse_if_over()
        if self.status is not MatchStatus.RUNNING:
            raise CannotDo("to move", f"the match is {self.status.value}")

    def _refuse_unless_turn(self, color: Color) -> None:
        if color is not self.color:
            raise NotYourTurn(color)

    def refuse_unless_may_move(self, color: Color) -> None:
        """Raise what keeps a side from moving now, if anything does."""
        self._refuse_unless_running()
        self._refuse_unless_turn(color)

    def _is_out_of_time(self, elapsed: timedelta) -> bool:
        clock = self.game.clock
        return clock is not None and clock.is_flagged(self.color, elapsed)

    def _plies_to_keep(self, color: Color) -> int:
        """Return how many plies stay when a side takes back: up to its own last move."""
        back = 2 if color is self.color else 1
        keep = len(self.game.line) - back
        if keep < self.opening_plies:
            raise CannotDo("to take back", f"{color.value.capitalize()} has not moved yet")
        return keep

    # --- recording ---

    def _end(self, outcome: Outcome, at: datetime) -> None:
        self.game.record_outcome(outcome)
        self._finish(MatchStatus.ENDED, outcome, str(outcome), at)

    def _finish(
        self, status: MatchStatus, outcome: Outcome | None, detail: str, at: datetime
    ) -> None:
        if outcome is None:
            self.game.tags["Termination"] = "abandoned"
        self._record(
            EventType.ENDED,
            at,
            status=status.value,
            outcome=outcome_json(outcome),
            detail=detail,
            spent_ms=milliseconds(self.elapsed(at)),
            pgn=self.game.pgn(),
        )

    def _record(self, event_type: EventType, at: datetime, **fields: object) -> None:
        event = Event(self.id, self.sequence + 1, event_type, at, fields)
        self.new_events.append(event)
        if event_type is EventType.PLY:  # it has been played already, to know what to tell of it
            self.new_plies.append(NewPly(event, self.advice, self.attempts))
            self._note_ply(event)
        else:
            self._apply(event)

    def _apply(self, event: Event) -> None:
        """Do what an event says."""
        fields = event.fields
        self.sequence, self.updated_at = event.sequence, event.at
        match event.type:
            case EventType.TURN:
                self.turn_at = event.at
                self.spent = fields["spent_ms"] * _MILLISECOND
            case EventType.PLY:
                if self.settings.is_imported:  # its end tells the game
                    self._told_clocks = fields["clocks"]
                else:
                    elapsed = fields["elapsed_ms"] * _MILLISECOND
                    evaluation = evaluation_of(fields["evaluation"])
                    move = Move.from_uci(fields["uci"])
                    self._play(move, elapsed, evaluation, fields["source"], event.at)
                self._note_ply(event)
            case EventType.ADVICE:
                # Matches of old said no more than the first two.
                said = {"words": "", "abstained": "", **fields}
                self.advice.append({name: said[name] for name in _ADVICE})
            case EventType.REJECTED:
                names = ("attempt", "move", "kind", "detail")
                self.attempts.append({name: fields[name] for name in names})
            case EventType.STARTED:
                self.status, self.started_at = MatchStatus.RUNNING, event.at
            case EventType.DRAW_OFFERED:
                self.draw_offer = Color(fields["color"])
            case EventType.DRAW_DECLINED:
                self.draw_offer = None
            case EventType.TAKEBACK_ASKED:
                self.takeback = Color(fields["color"])
            case EventType.TAKEBACK_DECLINED:
                self.takeback = None
            case EventType.TAKEN_BACK:
                while len(self.game.line) > fields["keep"]:
                    self.game.undo()
                self.advice, self.attempts = [], []
                self._forget_plies(fields["keep"])
                self.takeback = self.draw_offer = None
                is_running = self.status is MatchStatus.RUNNING
                self.turn_at, self.spent = event.at if is_running else None, _ZERO
            case EventType.PAUSED:
                self.status, self.turn_at = MatchStatus.PAUSED, None
                self.pause_reason = fields["reason"]
                # Matches of old did not say.
                self.pause_cause = PauseCause(fields.get("cause", PauseCause.COMMAND))
                self.spent = fields["spent_ms"] * _MILLISECOND
            case EventType.RESUMED:
                self.status, self.pause_reason = MatchStatus.RUNNING, ""
                self.pause_cause = None
                if "budget" in fields:
                    self.budget = budget_of(fields["budget"])
            case EventType.ENDED:
                self._apply_ending(event)

    def _apply_ending(self, event: Event) -> None:
        fields = event.fields
        self.status = MatchStatus(fields["status"])
        self.ended_at, self.ending = event.at, fields["detail"]
        self.spent = fields["spent_ms"] * _MILLISECOND
        self.draw_offer = self.takeback = self.pause_cause = None
        if self.settings.is_imported:
            # The game as it was told, with tags, comments, and clocks that need not go as ours do;
            # and whoever played it need not have noticed that it was over.
            self.game = next(read_games(fields["pgn"]))
        elif fields["outcome"] is None:
            self.game.tags["Termination"] = "abandoned"
        if fields["outcome"] is None:
            return
        winner, why = fields["outcome"]["winner"], fields["outcome"]["termination"]
        self.outcome = Outcome(None if winner is None else Color(winner), Termination(why))
        self.game.record_outcome(self.outcome)

    def _play(
        self,
        move: Move,
        elapsed: timedelta,
        evaluation: Evaluation | None,
        source: str,
        at: datetime,
    ) -> None:
        self.game.play(move, elapsed=elapsed, evaluation=evaluation, source=source, played_at=at)

    def _forget_plies(self, keep: int) -> None:
        """Store no ply that was taken back, and let those go that may be stored."""
        self.new_plies = [new for new in self.new_plies if new.event.fields["ply"] <= keep]
        self.keep_plies = keep if self.keep_plies is None else min(keep, self.keep_plies)

    def _note_ply(self, event: Event) -> None:
        self.sequence, self.updated_at = event.sequence, event.at
        self.turn_at, self.spent = None, _ZERO  # the next has not begun, and perhaps never will
        self.takeback = None
        self.advice, self.attempts = [], []


def _rest(remaining: timedelta | None) -> int | None:
    return None if remaining is None else milliseconds(remaining)
