"""Shelf: the saved games of one database, as they are listed, chosen, taken down and put back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.timekeeping import now
from app.matches.saves import NameTaken, NoSuchSave, Save, Saves, check_name, nearest
from app.play.sitting import Sitting
from app.play.telling import one_line

if TYPE_CHECKING:
    from app.matches.saves import Kept

#: So many are listed; older ones are loaded by name.
_LISTED = 20
#: What the service tells of a game that is saved while it is played.
_WHY = "it was saved in a terminal"


@dataclass(frozen=True)
class Shelf:
    """Saved games, and under which address the service would show them."""

    saves: Saves
    address: str

    async def names(self) -> Sequence[str]:
        """Return the names of all saves, the newest first."""
        return [save.name for save in await self.saves.list()]

    async def lines(self) -> Sequence[str]:
        """Return a numbered list of saves, the newest first; empty if there is none."""
        saves = await self.saves.list()
        lines = [_line(number, save) for number, save in enumerate(saves[:_LISTED], 1)]
        if len(saves) > _LISTED:
            lines.append(f"  and {len(saves) - _LISTED} older ones")
        return lines

    async def find(self, choice: str) -> str:
        """Return the name of a save that is chosen by it, or by its number in the list.

        Raises `NoSuchSave`.
        """
        names = await self.names()
        # A number alone is never a name.
        if choice.isascii() and choice.isdecimal() and 1 <= int(choice[:9]) <= len(names):
            return names[int(choice[:9]) - 1]
        if choice not in names:
            raise NoSuchSave(choice, nearest(choice, names))
        return choice

    async def keep(self, sitting: Sitting, wanted: str) -> Sequence[str]:
        """Keep a game as it stands, and return what is to be said of it; it is played on then.

        A `!` after the name puts it in the place of another. Raises what `Saves.keep` raises.
        """
        name = check_name(wanted.rstrip("!"))
        replaces = wanted.endswith("!")
        async with sitting.at_rest(_WHY):
            before = sitting.kept.get(name)
            kept = await self.saves.keep(name, sitting.private, before, replaces=replaces)
            sitting.keep_in_mind(kept)
        return [f"Saved as {name!r}.", *([] if sitting.match.is_over else self._seats(kept))]

    async def keep_unfinished(self, sitting: Sitting) -> str:
        """Keep a game for somebody who cannot be asked any more, and return its name.

        It goes where it was kept before, or else under a name made of the time.
        """
        if sitting.name:
            try:
                await self.keep(sitting, sitting.name)
            except NameTaken:  # it was played on elsewhere
                pass
            else:
                return sitting.name
        await self.keep_unnamed(sitting)
        return sitting.name

    async def keep_unnamed(self, sitting: Sitting) -> Sequence[str]:
        """Keep a game that nobody has named, as `keep` does, under a name made of the time."""
        by_time = name = f"unfinished-{now().astimezone():%Y%m%d-%H%M%S}"
        number = 1
        while True:
            try:
                return await self.keep(sitting, name)
            except NameTaken:  # another was kept in the same second
                number += 1
                name = f"{by_time}-{number}"

    def _seats(self, kept: Kept) -> Sequence[str]:
        """Return how the seats of people are opened in the service."""
        lines = []
        for color, token in kept.tokens.items():
            side, seat = color.value.capitalize(), f"#seat={color.value}:{token}"
            lines.append(f"{side}'s seat token in the service: {token}")
            lines.append(f"or on its page: {self.address}/matches/{kept.match_id}{seat}")
        return lines


def _line(number: int, save: Save) -> str:
    record = save.record
    how = record.result if record.result != "*" else _plies(record.ply_count)
    on = f"{record.updated_at.astimezone():%Y-%m-%d %H:%M}"
    return f"  {number}. {one_line(save.name)}: {record.white} - {record.black}, {how}, {on}"


def _plies(count: int) -> str:
    return f"{count} {'ply' if count == 1 else 'plies'}"
