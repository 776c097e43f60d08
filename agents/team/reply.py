"""Reply: what a language model answered, and the move that it means.

A reply is read in this order: the whole of it as a move; structured answers (JSON, tags, boxes,
commands, lines that say they are final); a move that the words around it state as the answer; a
move that is only mentioned. Later beats earlier. What is decided is kept even if it is illegal: no
other move is played in its stead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from agents.team.cues import (
    REACH,
    is_aside,
    is_item,
    is_joint,
    is_remark,
    is_stated,
    resignation_in,
    without_options,
)
from agents.team.illegal import by_squares
from agents.team.mentions import Mention, find_mentions, plain
from agents.team.spoken import own_turn, spoken
from agents.team.structured import Answer, find_answers, find_objects
from engine import (
    AmbiguousMove,
    Color,
    Illegality,
    IllegalMove,
    Move,
    MoveError,
    PieceType,
    Position,
    UnreadableMove,
)

#: What a text says: a move, why it is none, or nothing.
_Verdict: TypeAlias = Move | MoveError | None

_SHORT = 60
#: So many different moves that are merely mentioned leave open which is meant.
_UNCLEAR = 3
_SENTENCE = re.compile(r"(?<![^a-h]\d)(?<!\d\d)[.!?](?=\s)|[\n;]")
_NEXT = re.compile(r"[\s,;\"'\[\]()!?+#=]*(?:\d{1,3}\s?\.{1,3}\s?|…\s?|\.{3}\s?)?\Z")
_OR = re.compile(
    r"[\s,\"')!?+#]*(?:\bor\b|/|\boder\b|\bou\b|\bили\b|或)(?:\s(?:maybe|perhaps))?[\s\"'(.]*\Z",
    re.IGNORECASE,
)
_LED = re.compile(r"[\"')!?+#]{0,4}(?:\s?[:;,(]|\s-|\.\s|\.?\s*\Z)")
_BARE_SQUARES = re.compile(r"\A\W*([a-hA-H][1-8])\s+([a-hA-H][1-8])\s?([qrbnQRBN]?)\W*\Z")
_CAPITALS = re.compile(r"[A-H][1-8][\s-]?[A-H][1-8]=?[QRBN]?")
#: The argument of a command, with spaces in it, or one argument for each square.
_APART = re.compile(
    r"([a-h][1-8])(?:(?:\s|[\"']\s[\"']|[\"']?,\s?(?:to(?:_\w{1,8})?\W{1,3}|[\"']?"
    r"(?=[a-h][1-8][\"']?[,)\]])))([a-h][1-8])(?:(?:\s?|[\"']?,\s?[\"']?)([qrbn]))?"
    r"|([a-h][1-8])\s([qrbn]))\b",
    re.IGNORECASE,
)
#: The argument of a command that the next word sticks to.
_STUCK = re.compile(r"((?:[a-h][1-8]){2})(?=([a-z])[a-z_])", re.IGNORECASE)
_PIECES = {piece.name.lower(): piece for piece in PieceType}
_PROMOTES_TO = re.compile(
    r"\A\W{0,4}(?:(?:and|by|to|,|then)\s){0,2}(?:promot\w*|becom\w*|mak\w*)\W{1,3}"
    r"(?:(?:it|the|pawn|a|an|my|new|into|to|as)\s){0,5}(queen|rook|bishop|knight)\b"
    r"|\A\W{0,4}(?:=|to\sa)\W{0,3}(queen|rook|bishop|knight)\b",
    re.IGNORECASE,
)
_PROMOTED_BY = re.compile(
    r"\bpromot\w*\W[^.\n]{0,30}?\b(queen|rook|bishop|knight)\b[^.\n]{0,20}\Z", re.IGNORECASE
)


def read_reply(text: str, position: Position) -> Move:
    """Return the legal move that a language model's reply means in a position.

    Raises `IllegalMove` if it means a move that the rules forbid (`move` is UCI where the squares
    are known), `AmbiguousMove` if it leaves open which of several, `UnreadableMove` if it has none.
    """
    if not isinstance(text, str):
        raise UnreadableMove(repr(text))
    reader, said = _Reader(position), spoken(text)
    # What a reply answers itself is its answer, and not what it answers in a made-up dialogue.
    meant = reader.answered(own_turn(said))
    if meant is None:
        meant = reader.read(said)
    if meant is None:
        raise UnreadableMove(text)
    if isinstance(meant, Move):
        return meant
    raise meant


class _Reader:
    """Reads texts in one position."""

    def __init__(self, position: Position) -> None:
        self._position = position
        self._judged: dict[tuple[str, PieceType | None], _Verdict] = {}

    def read(self, text: str, depth: int = 0) -> _Verdict:
        """Return what a text says, or None if it says nothing."""
        if (answered := self.answered(text, depth)) is not None:
            return answered
        whole = plain(text)
        text = without_options(whole)
        mentions = [each for each in find_mentions(text) if self._judge(each.text) is not None]
        if (stated := self._stated(text, mentions)) is not None:
            return stated
        commands = [each for each in find_answers(whole) if each.is_command]
        shown = self._answer(whole, commands, depth, is_shown_too=True)
        return self._mentioned(text, mentions) if shown is None else shown

    def answered(self, text: str, depth: int = 0) -> _Verdict:
        """Return what a text says as a whole or in a structured answer, or None."""
        if (whole := self._whole(text)) is not None or depth >= 3:
            return whole
        objects = find_objects(text)
        answer = self._answer(text, objects, depth)
        if answer is not None and objects[-1].form != "object":
            return answer  # a broken one has no end, so nothing comes after it
        text = plain(text[objects[-1].end :] if answer is not None else text)
        later = self._answer(text, find_answers(text), depth)
        return answer if later is None or self._is_line((answer, later)) else later

    # --- single moves ---

    def _whole(self, text: str) -> _Verdict:
        text = text.strip()
        if len(text) > _SHORT:
            return None
        verdict = self._judge(plain(text).strip(" \t\r\n\"'()[]{}<>.,:;\\"))
        squares = _BARE_SQUARES.match(text)
        if verdict is None and squares and not isinstance(self._judge(squares[1]), Move):
            # `e2 e4` is one move, `e4 e5` are two.
            verdict = self._judge("".join(squares.groups()))
        return verdict

    def _judge(self, text: str, promotion: PieceType | None = None) -> _Verdict:
        # B8D7 names two squares: a bishop from the eighth rank would go to a small d7.
        text = text.lower() if _CAPITALS.fullmatch(text) else text
        key = text, promotion
        if key not in self._judged:
            try:
                self._judged[key] = self._position.parse(text, promotion)
            except IllegalMove as error:
                mentions = find_mentions(text)
                written = mentions[0].text if len(mentions) == 1 else text
                self._judged[key] = by_squares(error, written, self._position)
            except AmbiguousMove as error:
                self._judged[key] = error
            except UnreadableMove:
                self._judged[key] = None
        return self._judged[key]

    def _verdict(self, text: str, mention: Mention) -> _Verdict:
        """Judge a move where it stands: what a pawn becomes may be said beside it."""
        verdict = self._judge(mention.text)
        if isinstance(verdict, IllegalMove) and verdict.reason is Illegality.MUST_PROMOTE:
            beside = _PROMOTES_TO.match(text[mention.end : mention.end + REACH])
            beside = beside or _PROMOTED_BY.search(text[self._since(text, mention) : mention.start])
            if beside:
                piece = next(name for name in beside.groups() if name)
                return self._judge(mention.text, _PIECES[piece.lower()])
        return verdict

    # --- structured answers ---

    def _answer(
        self, text: str, answers: Sequence[Answer], depth: int, is_shown_too: bool = False
    ) -> _Verdict:
        """Return what the last answer says; those that stand side by side may contradict."""
        joint: list[_Verdict] = []
        later: Answer | None = None
        for answer in reversed(answers):
            verdict, length = self._answered(answer, depth)
            if verdict is None:
                continue
            end, before = answer.end + length, text[max(0, answer.start - REACH) : answer.start]
            if answer.is_command and is_aside(before, text[end : end + REACH], is_shown_too):
                continue
            if later is not None:
                gap = text[min(end, later.start) : later.start]
                if answer.form != later.form or not is_joint(gap):
                    break
                if len(joint) == 1 and _same(verdict, joint[0]):
                    continue
            joint.append(verdict)
            later = answer
        if later is None or len(joint) == 1:
            return joint[0] if joint else None
        if self._is_line(joint[::-1]):
            return joint[-1]
        return self._contradiction(text[later.start :], joint[1], joint[0])

    def _answered(self, answer: Answer, depth: int) -> tuple[_Verdict, int]:
        """Return what an answer says, and how far beyond its end its move reaches."""
        for written in answer.texts:
            if not answer.is_command:
                if (verdict := self.read(written, depth + 1)) is not None:
                    return verdict, 0
                continue
            if (apart := _APART.match(written)) and not isinstance(self._judge(apart[1]), Move):
                return self._judge("".join(part or "" for part in apart.groups())), apart.end()
            if stuck := _STUCK.match(written):
                verdict = self._judge(stuck[1])
                if isinstance(verdict, IllegalMove) and verdict.reason is Illegality.MUST_PROMOTE:
                    verdict = self._judge(stuck[1] + stuck[2])
                return verdict, stuck.end()
            mentions = find_mentions(written)
            if mentions and mentions[0].start == 0:
                verdict = self._settled(written, mentions, 0)
                return verdict, mentions[0].end
            argument = re.match(r"[^\s\"'<>(){},]{2,10}", written)
            if argument and re.search(r"[a-z]\d|\d-\d", argument[0], re.IGNORECASE):
                return self._judge(argument[0]) or UnreadableMove(argument[0]), argument.end()
        return None, 0

    def _contradiction(self, text: str, first: _Verdict, second: _Verdict) -> _Verdict:
        """Return what two different moves of equal standing mean: a line of play, or nothing."""
        if self._is_line((first, second)):
            return first
        moves = tuple(each for each in (first, second) if isinstance(each, Move))
        if len(moves) < 2:
            return UnreadableMove(text)
        return AmbiguousMove(text[:200], self._position.fen(), moves)

    def _is_line(self, verdicts: Sequence[_Verdict]) -> bool:
        """Return whether moves can be played one after the other, and the second not now."""
        if not isinstance(verdicts[0], Move) or not isinstance(verdicts[1], IllegalMove):
            return False
        position = self._position
        try:
            for each in verdicts:
                position = position.play(each.move if isinstance(each, IllegalMove) else str(each))
        except MoveError:
            return False
        return True

    # --- moves in sentences ---

    def _stated(self, text: str, mentions: Sequence[Mention]) -> _Verdict:
        """Return the last move that is given as the answer, if one is."""
        turn = self._position.turn
        line, answer = self._answering_line(text)
        resigned = resignation_in(text)
        for index in range(len(mentions) - 1, -1, -1):
            mention = mentions[index]
            if mention.start < line:
                break
            if mention.start < resigned:
                return UnreadableMove(text)
            cue = self._cue(text, mentions, index, turn)
            if cue is None:
                continue
            verdict = self._settled(text, mentions, index)
            prior = mentions[index - 1] if index else None
            if prior is not None and is_joint(text[prior.end : cue]):
                earlier = self._verdict(text, prior)
                if self._cue(text, mentions, index - 1, turn) is not None and not _same(
                    earlier, verdict
                ):
                    return self._contradiction(text[prior.start :], earlier, verdict)
            return verdict
        return UnreadableMove(text) if resigned > line else answer

    def _cue(self, text: str, mentions: Sequence[Mention], index: int, turn: Color) -> int | None:
        """Return where the words begin that give a move as the answer, or None."""
        mention = mentions[index]
        start = max(mentions[index - 1].end if index else 0, mention.start - REACH)
        at = is_stated(
            text[start : mention.start],
            lambda: text[self._since(text, mention) : mention.start],
            text[mention.end : mention.end + REACH],
            turn,
        )
        return None if at is None else start + at

    @staticmethod
    def _since(text: str, mention: Mention) -> int:
        """Return where the sentence of a mention begins, as far as it is looked at."""
        start = max(0, mention.start - 2 * REACH)
        ends = [each.end() for each in _SENTENCE.finditer(text, start, mention.start)]
        return ends[-1] if ends else start

    def _answering_line(self, text: str) -> tuple[int, _Verdict]:
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

    def _line(self, line: str) -> _Verdict:
        """Return the move that stands alone in a line, or leads it as its subject."""
        if (whole := self._whole(line)) is not None:
            return whole
        mentions = find_mentions(line[: 4 * _SHORT])
        if not mentions or not re.fullmatch(
            r"\W*(?:\d{1,3}\s?\.{1,3}\s?)?", line[: mentions[0].start]
        ):
            return None
        is_led = _LED.match(line, mentions[0].end) or (
            len(mentions) > 1 and _OR.match(line[mentions[0].end : mentions[1].start])
        )
        return self._settled(line, mentions, 0) if is_led else None

    def _mentioned(self, text: str, mentions: Sequence[Mention]) -> _Verdict:
        """Return the last move that is mentioned as if it were to be played, if that is clear."""
        turn = self._position.turn
        found: list[_Verdict] = []
        index = len(mentions) - 1
        while index >= 0 and len(found) < _UNCLEAR:
            first = index
            while first and _NEXT.match(text[mentions[first - 1].end : mentions[first].start]):
                first -= 1
            chosen = self._of_run(mentions, first, index)
            index = first - 1
            if chosen is None or mentions[first].is_square:
                continue
            clause = text[self._since(text, mentions[first]) : mentions[first].start]
            if is_remark(clause, turn) or self._is_option(text, mentions[chosen]):
                continue
            verdict = self._settled(text, mentions, chosen)
            if not any(_same(verdict, other) for other in found):
                found.append(verdict)
        if len(found) < 2 or (len(found) < _UNCLEAR and isinstance(found[0], Move)):
            return found[0] if found else None
        moves = tuple(each for each in reversed(found) if isinstance(each, Move))
        if len(moves) < len(found):
            return UnreadableMove(text)
        return AmbiguousMove(text[-200:], self._position.fen(), moves)

    def _of_run(self, mentions: Sequence[Mention], first: int, last: int) -> int | None:
        """Return which of several moves in a row would be played now, if they are a line of play.

        Numbers tell, as on a score sheet; else it is the first. A list of options has none.
        """
        if first == last:
            return first
        number, is_black = self._position.fullmove_number, self._position.turn is Color.BLACK
        for index in range(first, last + 1):
            if mentions[index].number == number:
                if is_black and not mentions[index].is_dotted:
                    return index + 1 if index < last else None
                return index
        legal = [isinstance(self._judge(each.text), Move) for each in mentions[first : last + 1]]
        distinct = {str(self._judge(each.text)) for each in mentions[first : last + 1]}
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

    def _settled(self, text: str, mentions: Sequence[Mention], index: int) -> _Verdict:
        """Return what a chosen mention means, given the mention right after it."""
        mention = mentions[index]
        verdict = self._verdict(text, mention)
        if index + 1 == len(mentions):
            return verdict
        following = mentions[index + 1]
        gap = text[mention.end : following.start]
        second = self._verdict(text, following)
        if second is None or _same(verdict, second):
            return verdict
        if isinstance(verdict, AmbiguousMove):
            is_told = _NEXT.match(gap) and second in verdict.candidates
            return second if is_told else verdict
        if isinstance(verdict, IllegalMove) or not isinstance(second, Move):
            return verdict
        is_list = _NEXT.match(gap) and following.number is None and "(" not in gap
        if _OR.match(gap) or (is_list and following.is_square <= mention.is_square):
            return self._contradiction(text[mention.start :], verdict, second)
        return verdict


def _same(first: _Verdict, second: _Verdict) -> bool:
    if isinstance(first, Move) or isinstance(second, Move):
        return first is second
    return getattr(first, "move", None) == getattr(second, "move", None)
