"""Streams: everything that opening a stream needs, wired once."""

from __future__ import annotations

from app.persistence.database import Database
from app.streaming.feed import Feed
from app.streaming.log import GlobalLog, MatchLog, TakeOverview, TakeSnapshot


class Streams:
    """The logs there are, and the feed that tells what is new in them."""

    def __init__(
        self, database: Database, feed: Feed, snapshot: TakeSnapshot, overview: TakeOverview
    ) -> None:
        self.feed = feed
        self._database = database
        self._snapshot = snapshot
        self._overview = overview

    def of_match(self, match_id: str) -> MatchLog:
        """Return the log of a match; whether there is such a match is seen when it is read."""
        return MatchLog(self._database, match_id, self._snapshot)

    def of_all(self) -> GlobalLog:
        """Return the log of all matches."""
        return GlobalLog(self._database, self._overview)
