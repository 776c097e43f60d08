"""Matches that this process plays by itself: the same owner, log and commands as in the service."""

import asyncio
from datetime import timedelta

import pytest

from agents.catalogue import Catalogue
from agents.errors import AgentError, UnknownPlayer
from agents.models.budget import Budget
from agents.player import Decision
from app.matches import owner
from app.matches.commands import PlayMove, Resign, Resume, Takeback
from app.matches.errors import MatchIsOver
from app.matches.events import EventType
from app.matches.match import Match, MatchStatus
from app.matches.private import PrivateMatch
from app.matches.settings import MatchSettings, PlayerSettings
from engine import Color, IllegalMove
from tests.support.processes import run, until

WHITE, BLACK = Color.WHITE, Color.BLACK


def settings(white="random", black="random", **more):
    return MatchSettings(PlayerSettings(white), PlayerSettings(black), seed=3, **more)


def playing(work, *arguments, **options):
    """Have some work done with a match of these settings."""

    async def main():
        heard = []
        stumbled = options.pop("stumbled", None)
        async with Catalogue(players=options.pop("players", None)) as catalogue:
            match = PrivateMatch.create(
                settings(*arguments, **options), catalogue, told=heard.append, stumbled=stumbled
            )
            return await work(match, heard)

    return run(main())


async def beside(match, work):
    """Do some work while a match is played on, until it is over or paused."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(match.play())
        await until(lambda: match.match.status is not MatchStatus.CREATED)
        await work()
        await task


def test_two_players_play_to_the_end_and_the_log_rebuilds_it():
    async def work(private, heard):
        await private.play()
        match = private.match
        assert match.is_over
        assert heard == private.log
        assert [event.sequence for event in heard] == list(range(1, len(heard) + 1))
        again = Match.replay(match.settings, heard)
        assert (again.game.pgn(), again.outcome) == (match.game.pgn(), match.outcome)
        kinds = {event.type for event in heard}
        assert {EventType.CREATED, EventType.STARTED, EventType.PLY, EventType.ENDED} <= kinds

    playing(work)


def test_a_person_moves_by_commands_and_is_told_what_is_wrong():
    async def work(private, _heard):
        async def moves():
            with pytest.raises(IllegalMove):
                await private.command(PlayMove(WHITE, "Ke2"))
            await private.command(PlayMove(WHITE, "e4"))
            await until(lambda: len(private.match.game.line) == 2)
            await private.command(Takeback(WHITE))
            assert len(private.match.game.line) == 0
            await private.command(Resign(WHITE))

        await beside(private, moves)
        assert private.match.ending == "Black wins: White resigned"
        with pytest.raises(MatchIsOver):
            await private.command(PlayMove(WHITE, "e4"))

    playing(work, "human")


class Tired:
    """Cannot decide in its first turns."""

    name = "tired"

    def __init__(self):
        self.faults = owner.FAULTS

    async def decide(self, turn):
        if self.faults:
            self.faults -= 1
            raise AgentError("it is tired")
        return Decision(turn.position.legal_moves()[0])


def test_a_match_that_is_paused_goes_on_with_the_same_players(monkeypatch):
    monkeypatch.setattr(owner, "FIRST_PAUSE", timedelta(milliseconds=1))

    async def work(private, heard):
        await private.play()
        assert private.match.status is MatchStatus.PAUSED
        assert private.match.pause_reason == "tired could not decide: it is tired"
        await private.command(Resume())
        await private.play()
        assert private.match.ending == "draw: the match is as long as it may be"
        assert [event.sequence for event in heard] == list(range(1, len(heard) + 1))

    playing(work, "tired", max_plies=2, players={"tired": lambda _seed: Tired()})


def test_who_gives_up_playing_may_play_on_later():
    async def work(private, heard):
        task = asyncio.ensure_future(private.play())
        await until(lambda: len(private.match.game.line) > 3)
        task.cancel()
        await asyncio.wait({task})
        plies = len(private.match.game.line)
        assert not private.match.is_over
        await private.play()
        assert private.match.is_over
        assert len(private.match.game.line) > plies
        assert [event.sequence for event in heard] == list(range(1, len(heard) + 1))

    playing(work)


def test_commands_are_performed_while_nobody_plays():
    async def work(private, _heard):
        await private.command(Resign(BLACK))
        assert private.match.is_over
        with pytest.raises(MatchIsOver):
            await private.command(Resume())

    playing(work)


def test_another_budget_holds_from_then_on(monkeypatch):
    monkeypatch.setattr(owner, "FIRST_PAUSE", timedelta(milliseconds=1))
    stumbled = []

    async def work(private, _heard):
        await private.play()
        assert stumbled == ["tired"] * owner.FAULTS
        await private.command(Resume(Budget(calls=7)))
        assert private.ledger.account.budget == private.match.budget == Budget(calls=7)

    players = {"tired": lambda _seed: Tired()}
    playing(work, "tired", players=players, stumbled=stumbled.append)


def test_whoever_is_unknown_is_not_seated():
    with pytest.raises(UnknownPlayer):
        playing(None, "nobody")
