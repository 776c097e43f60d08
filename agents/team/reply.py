"""Reply: what a language model answered, and the move that it means.

A reply is read in this order: the only command that it gives with both squares; the whole of it as
a move; structured answers (JSON, tags, boxes, other commands, lines that say they are final); a
move that the words around it state as the answer; the only command that was given in thought; a
move that is only mentioned. Later beats earlier. What is decided is kept even if it is illegal: no
other move is played in its stead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agents.team.command import Command, find_commands, squares_of
from agents.team.cues import (
    REACH,
    asks_first,
    is_alone,
    is_alternative,
    is_denied,
    is_example,
    is_item,
    is_joint,
    is_next,
    is_remark,
    is_ruled_out,
    is_shown,
    is_stated,
    is_theirs,
    resignation_in,
    sentence_start,
    without_options,
)
from agents.team.mentions import Mention, find_mentions, plain
from agents.team.spoken import own_turn, spoken
from agents.team.structured import Answer, find_answers, find_objects
from agents.team.verdict import Verdict, Verdicts, same
from engine import AmbiguousMove, Color, Move, Position, UnreadableMove

_SHORT = 60
#: So many different moves that are merely mentioned leave open which is meant.
_UNCLEAR = 3
#: So many mentions or commands from the end are looked at: who has not decided by then never does.
_LOOKED_AT = 300
_LED = re.compile(r"[\"')!?+#]{0,4}(?:\s?[:;,(]|\s-|\.\s|\.?\s*\Z)")
_BARE_SQUARES = re.compile(r"\A\W*([a-hA-H][1-8])\s+([a-hA-H][1-8])\s?([qrbnQRBN]?)\W*\Z")


def read_reply(text: str, position: Position) -> Move:
    """Return the legal move that a language model's reply means in a position.

    Raises `IllegalMove` if it means a move that the rules forbid (`move` is UCI where the squares
    are known), `AmbiguousMove` if it leaves open which of several, `UnreadableMove` if it has none.
    """
    if not isinstance(text, str):
        raise UnreadableMove(repr(text))
    reader, said = _Reader(position), spoken(text)
    # What a reply answers itself is its answer, and not what it answers in a made-up dialogue.
    own = own_turn(said)
    meant = (
        reader.ordered(own)
        or reader.ordered(said)
        or reader.answered(own)
        or reader.read(said, whole=text)
    )
    if meant is None:
        raise UnreadableMove(text)
    if isinstance(meant, Move):
        return meant
    raise meant


class _Reader:
    """Reads texts in one position."""

    def __init__(self, position: Position) -> None:
        self._verdicts = Verdicts(position)
        self._turn = position.turn

    def read(self, text: str, depth: int = 0, *, whole: str = "") -> Verdict:
        """Return what a text says, or None if it says nothing.

        A command in the `whole` reply, of which this was said, goes before a mere mention.
        """
        if (answered := self.answered(text, depth)) is not None:
            return answered
        clear = plain(text)
        text = without_options(clear)
        mentions = self._eligible(text)
        return (
            self._stated(text, mentions)
            or self._shown(clear, depth)
            or (None if asks_first(text) else self.ordered(whole))
            or self._mentioned(text, mentions)
        )

    def _eligible(self, text: str) -> list[Mention]:
        """Return the last mentions that may be the answer, or all if each is said to be none."""
        found = [each for each in find_mentions(text) if self._verdicts.of(each.text)]
        found = found[-_LOOKED_AT:]
        left = []
        for each in found:
            before = text[max(0, each.start - REACH) : each.start]
            after = text[each.end : each.end + REACH]
            if is_ruled_out(after):
                continue
            is_square = each.is_square and not is_alone(before, after)
            left.append(replace(each, is_square=is_square) if each.is_square else each)
        return left or found

    def ordered(self, text: str) -> Verdict:
        """Return the move of the only command with both squares that a text gives, or None."""
        given: dict[str, Command] = {}
        for command in list(find_commands(text))[-_LOOKED_AT:]:
            if command.squares in given:
                continue
            before = plain(text[max(0, command.start - REACH) : command.start])
            after = plain(text[command.end : command.end + REACH])
            if given and is_theirs(before, self._turn):
                break  # from here on both sides are played
            if not is_denied(before, after, self._turn) and not is_example(before, after):
                given[command.squares] = command
        if len(given) != 1:
            return None
        (command,) = given.values()
        return self._verdicts.of_command(text, command)

    def answered(self, text: str, depth: int = 0) -> Verdict:
        """Return what a text says as a whole or in a structured answer, or None."""
        if (whole := self._whole(text)) is not None or depth >= 3:
            return whole
        objects = find_objects(text)
        answer = self._answer(text, objects, depth)
        if answer is not None and objects[-1].form != "object":
            return answer  # a broken one has no end, so nothing comes after it
        text = plain(text[objects[-1].end :] if answer is not None else text)
        later = self._answer(text, find_answers(text), depth)
        return answer if later is None or self._verdicts.is_line((answer, later)) else later

    # --- single moves ---

    def _whole(self, text: str) -> Verdict:
        text = text.strip()
        if len(text) > _SHORT:
            return None
        verdict = self._verdicts.of(plain(text).strip(" \t\r\n\"'()[]{}<>.,:;\\"))
        squares = _BARE_SQUARES.match(text)
        if verdict is None and squares and not self._verdicts.is_legal(squares[1]):
            # `e2 e4` is one move, `e4 e5` are two.
            verdict = self._verdicts.of("".join(squares.groups()))
        return verdict

    # --- structured answers ---

    def _answer(
        self, text: str, answers: Sequence[Answer], depth: int, is_shown_too: bool = False
    ) -> Verdict:
        """Return what the last answer says; those that stand side by side may contradict."""
        joint: list[Verdict] = []
        later: Answer | None = None
        for answer in reversed(answers):
            verdict, length = self._answered(answer, depth)
            if verdict is None:
                continue
            end, before = answer.end + length, text[max(0, answer.start - REACH) : answer.start]
            after = text[end : end + REACH]
            if answer.is_command and (
                is_denied(before, after, self._turn)
                or (not is_shown_too and is_shown(before, after))
            ):
                continue
            if later is not None:
                gap = text[min(end, later.start) : later.start]
                if answer.form != later.form or not is_joint(gap):
                    break
                if len(joint) == 1 and same(verdict, joint[0]):
                    continue
            joint.append(verdict)
            later = answer
        if later is None or len(joint) == 1:
            return joint[0] if joint else None
        if self._verdicts.is_line(joint[::-1]):
            return joint[-1]
        return self._verdicts.contradiction(text[later.start :], joint[1], joint[0])

    def _shown(self, text: str, depth: int) -> Verdict:
        """Return the move of the last command, also of one that is only shown."""
        commands = [each for each in find_answers(text) if each.is_command]
        return self._answer(text, commands, depth, is_shown_too=True)

    def _answered(self, answer: Answer, depth: int) -> tuple[Verdict, int]:
        """Return what an answer says, and how far beyond its end its move reaches."""
        for written in answer.texts:
            if answer.is_command:
                verdict, end = self._commanded(written)
            else:
                verdict, end = self.read(written, depth + 1), 0
            if verdict is not None:
                return verdict, end
        return None, 0

    def _commanded(self, argument: str) -> tuple[Verdict, int]:
        """Return the move that the argument of a command begins with, and where it ends."""
        squares = squares_of(argument)
        if squares and not (squares.may_be_two and self._verdicts.is_legal(squares.squares[:2])):
            return self._verdicts.of_command(argument, squares), squares.end
        mentions = find_mentions(argument)
        if mentions and mentions[0].start == 0:
            return self._verdicts.settled(argument, mentions, 0), mentions[0].end
        word = re.match(r"[^\s\"'<>(){},]{2,10}", argument)
        if word and re.search(r"[a-z]\d|\d-\d", word[0], re.IGNORECASE):
            return self._verdicts.of(word[0]) or UnreadableMove(word[0]), word.end()
        return None, 0

    # --- moves in sentences ---

    def _stated(self, text: str, mentions: Sequence[Mention]) -> Verdict:
        """Return the last move that is given as the answer, if one is."""
        line, answer = self._answering_line(text)
        resigned = resignation_in(text)
        for index in range(len(mentions) - 1, -1, -1):
            mention = mentions[index]
            if mention.start < line:
                break
            if mention.start < resigned:
                return UnreadableMove(text)
            cue = self._cue(text, mentions, index)
            if cue is None:
                continue
            verdict = self._verdicts.settled(text, mentions, index)
            prior = mentions[index - 1] if index else None
            if prior is not None and is_joint(text[prior.end : cue]):
                earlier = self._verdicts.of_mention(text, prior)
                if self._cue(text, mentions, index - 1) is not None and not same(earlier, verdict):
                    return self._verdicts.contradiction(text[prior.start :], earlier, verdict)
            return verdict
        return UnreadableMove(text) if resigned > line else answer

    def _cue(self, text: str, mentions: Sequence[Mention], index: int) -> int | None:
        """Return where the words begin that give a move as the answer, or None."""
        mention = mentions[index]
        start = max(mentions[index - 1].end if index else 0, mention.start - REACH)
        at = is_stated(
            text[start : mention.start],
            lambda: text[sentence_start(text, mention.start) : mention.start],
            text[mention.end : mention.end + REACH],
            self._turn,
        )
        return None if at is None else start + at

    def _answering_line(self, text: str) -> tuple[int, Verdict]:
        """Return where the last line is, or else the first, that a move has to itself or leads."""
        lines = [
            (match.start(), match[0].strip())
            for match in re.finditer(r"[^\n]+", text)
            if re.search(r"\w", match[0])
        ]
        for index, beside in ((len(lines) - 1, len(lines) - 2), (0, 1)):
            if index < 0:
                break
            start, line = lines[index]
            is_list = 0 <= beside < len(lines) and (
                (is_item(line) and is_item(lines[beside][1]))
                or self._line(lines[beside][1]) is not None
            )
            if not is_list and (verdict := self._line(line)) is not None:
                return start, verdict
        return -1, None

    def _line(self, line: str) -> Verdict:
        """Return the move that stands alone in a line, or leads it as its subject."""
        if (whole := self._whole(line)) is not None:
            return whole
        mentions = find_mentions(line[: 4 * _SHORT])
        if not mentions or not re.fullmatch(
            r"\W*(?:\d{1,3}\s?\.{1,3}\s?)?", line[: mentions[0].start]
        ):
            return None
        if is_ruled_out(line[mentions[0].end :]):
            return None
        is_led = _LED.match(line, mentions[0].end) or (
            len(mentions) > 1 and is_alternative(line[mentions[0].end : mentions[1].start])
        )
        return self._verdicts.settled(line, mentions, 0) if is_led else None

    def _mentioned(self, text: str, mentions: Sequence[Mention]) -> Verdict:
        """Return the last move that is mentioned as if it were to be played, if that is clear."""
        found: list[Verdict] = []
        index = len(mentions) - 1
        while index >= 0 and len(found) < _UNCLEAR:
            first = index
            while first and is_next(text[mentions[first - 1].end : mentions[first].start]):
                first -= 1
            chosen = self._of_run(mentions, first, index)
            index = first - 1
            if chosen is None or mentions[first].is_square:
                continue
            clause = text[sentence_start(text, mentions[first].start) : mentions[first].start]
            if is_remark(clause, self._turn) or self._is_option(text, mentions[chosen]):
                continue
            verdict = self._verdicts.settled(text, mentions, chosen)
            if not any(same(verdict, other) for other in found):
                found.append(verdict)
        if len(found) < 2 or (len(found) < _UNCLEAR and isinstance(found[0], Move)):
            return found[0] if found else None
        moves = tuple(each for each in reversed(found) if isinstance(each, Move))
        if len(moves) < len(found):
            return UnreadableMove(text)
        return AmbiguousMove(text[-200:], self._verdicts.position.fen(), moves)

    def _of_run(self, mentions: Sequence[Mention], first: int, last: int) -> int | None:
        """Return which of several moves in a row would be played now, if they are a line of play.

        Numbers tell, as on a score sheet; else it is the first. A list of options has none.
        """
        if first == last:
            return first
        number, is_black = self._verdicts.position.fullmove_number, self._turn is Color.BLACK
        for index in range(first, last + 1):
            if mentions[index].number == number:
                if is_black and not mentions[index].is_dotted:
                    return index + 1 if index < last else None
                return index
        legal = [self._verdicts.is_legal(each.text) for each in mentions[first : last + 1]]
        distinct = {str(self._verdicts.of(each.text)) for each in mentions[first : last + 1]}
        # Moves that can nearly all be played now, or none of which can, are no line of play.
        is_list = len(distinct) > 2 and (sum(legal) > 0.7 * len(legal) or not any(legal))
        return None if is_list else first

    @staticmethod
    def _is_option(text: str, mention: Mention) -> bool:
        """Return whether a mention is in an item of a list, or a row of a table."""
        start = text.rfind("\n", 0, mention.start) + 1
        if not is_item(text[start : start + 40]):
            return False
        before = text[max(0, start - 400) : start].rstrip().rpartition("\n")[2]
        end = text.find("\n", mention.end)
        after = text[end : end + 80].lstrip() if end >= 0 else ""
        is_bullet = text[start : start + 40].lstrip()[:1] in "-|>•+"
        return is_bullet or is_item(before) or is_item(after)
