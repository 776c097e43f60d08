"""A whole match that was played elsewhere is stored as if it had been stored all the while."""

import asyncio
import json

from agents.catalogue import Catalogue
from app.matches.commands import PlayMove, Resign, Takeback
from app.matches.match import Match, MatchStatus
from app.matches.private import PrivateMatch
from app.matches.settings import MatchSettings, PlayerSettings
from app.matches.storing import new_record, state_json, take_change
from engine import Color
from tests.support.processes import run, until

WHITE = Color.WHITE


class Noting(PrivateMatch):
    """A match that notes the plies which a service would have in its table."""

    def __init__(self, *arguments, **options):
        self.events, self.plies = [], []
        super().__init__(*arguments, **options)

    def _take_note(self, change):
        if change.keep_plies is not None:
            del self.plies[change.keep_plies - self.match.opening_plies :]
        self.plies += change.plies
        self.events += change.events
        super()._take_note(change)


def played(**more):
    """Play against `random` with a takeback where that may be, and give up."""
    settings = MatchSettings(PlayerSettings("human"), PlayerSettings("random"), seed=3, **more)

    async def person(private):
        match = private.match
        await until(lambda: match.status is MatchStatus.RUNNING)
        for move in ("e4", "d4", "c4"):
            stood = len(match.game.line)
            await private.command(PlayMove(WHITE, move))
            await until(lambda stood=stood: len(match.game.line) == stood + 2)
        if match.settings.control is None:
            await private.command(Takeback(WHITE))
            await until(lambda: len(match.game.line) == match.opening_plies + 4)
        await private.command(PlayMove(WHITE, "h4"))
        await until(lambda: match.color is WHITE)
        await private.command(Resign(WHITE))

    async def main():
        async with Catalogue() as catalogue:
            private = Noting.create(settings, catalogue)
            async with asyncio.TaskGroup() as group:
                group.create_task(private.play())
                await person(private)
            return private

    return run(main())


def whole(private):
    match = private.match
    retold = Match.retell(match.settings, private.log)
    record, events, plies = new_record(retold, client="terminal")
    assert (retold.new_events, retold.new_plies, retold.keep_plies) == ([], [], None)
    return match, record, events, plies


def test_every_event_and_every_ply_that_stands_is_told():
    private = played()
    match, record, events, plies = whole(private)
    assert events == tuple(private.events)
    assert plies == tuple(private.plies)
    assert [ply.number for ply in plies] == list(range(1, len(plies) + 1))
    assert "h2h4" in [ply.uci for ply in plies]
    assert "c2c4" not in [ply.uci for ply in plies]
    assert record.state == state_json(match)
    assert json.loads(record.state)["detail"] == "Black wins: White resigned"
    change = take_change(match, 0, None)
    for name in ("status", "fen", "ply_count", "winner", "termination", "result", "last_sequence"):
        assert getattr(record, name) == getattr(change, name), name


def test_the_plies_of_an_opening_come_first_and_once():
    private = played(opening="1. Nf3 Nf6", time_control="600+5")
    match, _, _, plies = whole(private)
    assert len(plies) == len(match.game.line)
    assert [ply.source for ply in plies[:2]] == ["opening", "opening"]
    assert plies[2:] == tuple(private.plies)
