"""Cues: the words around a move that tell an answer from a remark, in the languages models use."""

from __future__ import annotations

import re
from collections.abc import Callable

from engine import Color

#: How far back and ahead words are looked at.
REACH = 90

_SENTENCE = re.compile(r"(?<![^a-h]\d)(?<!\d\d)[.!?](?=\s)|[\n;]")
_NEXT = re.compile(r"[\s,;\"'\[\]()!?+#=]*(?:\d{1,3}\s?\.{1,3}\s?|…\s?|\.{3}\s?)?\Z")
_OR = re.compile(
    r"[\s,\"')!?+#]*(?:\bor\b|/|\boder\b|\bou\b|\bили\b|或)(?:\s(?:maybe|perhaps))?[\s\"'(.]*\Z",
    re.IGNORECASE,
)
_QUIET = (
    r"(?:[^\w]|_|\d{1,3}(?=\s?[.…])|\b(?:to|the|a|an|my|our|this|move|moves|pawn|with|now|play|"
    r"playing|is|be|either|simply|just|clearly|uci|san|format|notation|as|in|for|white|black|"
    r"here|of|push|pushing|follows|advance|advancing|action|command|de|le|la|el|den|der|die|zug|"
    r"coup|jugada|du|with|check|mate|next|following|natural|solid|standard|classical|developing|"
    r"aggressive|simple|straightforward|strong)\b)*\Z"
)
_NOT = (
    r"(?!not\b|never\b|could\b|might\b|can\b|cannot\b|consider|avoid|would\snot|if\b|were\b|was\b)"
)
_STATED = re.compile(
    r"(?:"
    # I'll play, let me go with, we have decided to choose ...
    r"\b(?:i|we|let'?s|let\sus|let\sme|i['\s]?a?m|i['\s]?ll|i['\s]?d|i['\s]?ve|we['\s]?ll|we['\s]?re|"
    r"me|black|white)"
    rf"(?:\s{_NOT}[a-z']+){{0,5}}?\s"
    r"(?:play|playing|move|moving|choose|choosing|select|selecting|pick|go\swith|going\swith|"
    r"make|opt\sfor|opting\sfor|push|capture|take|respond\swith|answer\swith|reply\swith|execute|"
    r"prefer|proceed\swith|proceed|submit|start\swith|open\swith|begin\swith|settle\son|"
    r"stick\swith|commit\sto|go\sfor|chose|chosen|decided\son|decide\son|recommend|suggest|try|"
    r"advance|develop|say|castle|bring|respond|use|send|type|answer|reply|plays|mirror\swith|"
    r"continue\swith|meet\sit\swith)(?:\s[^.:\n]{1,50}:)?"
    # I'll go e4
    r"|\b(?:i|we)(?:'ll|'d|\swill|\swould)\sgo(?!\s(?:to|through|over|back|on|first)\b)"
    # play e4, at the start of a sentence
    r"|(?:\A|[.!?:\n])\W{0,4}(?:play|playing|go(?:ing)?\swith|(?:final|move\s\d{1,3})\s?:|move|moving|choosing|i\schoose|answer|therefore|thus|so|"
    r"hence|conclusion|in\sconclusion)"
    r"|\bpromot(?:e|es|ing)\s(?:\w+\s){0,6}(?:on|at|with|by)|\A\W*(?:sure|ok|okay|yes|alright|well|hmm|certainly|of\scourse)"
    # a change of mind
    r"|\b(?:wait|no|actually|correction|sorry|scratch\sthat|on\ssecond\sthought|better|instead)\s?[,:.-]"
    # Deutsch, français, español, italiano, português, nederlands, polski, русский, 中文, 日本語
    r"|\bich\s(?:spiele|ziehe|w[äa]hle|nehme)|\bmein(?:\sn[äa]chster)?\szug(?:\sist|\slautet)?|\bje\s(?:joue|choisis)"
    r"|\bmon\scoup(?:\sest)?|\b(?:yo\s)?(?:juego|muevo|elijo)|\b(?:mi|mejor)\s(?:jugada|movimiento)(?:\ses)?"
    r"|\b(?:gioco|scelgo|muovo)|\bla\smia\smossa(?:\s[èe])?|\b(?:eu\s)?(?:jogo|escolho)|\b(?:meu|o\smeu)\slance(?:\s[ée])?"
    r"|\bik\s(?:speel|kies)|\bmijn\szet(?:\sis)?|\b(?:gram|zagram)|\bm[óo]j\sruch(?:\sto)?"
    r"|(?:играю|хожу|выбираю|сыграю|мой\sход|лучший\sход)|(?:我走|我下|我选择|我選擇|走法是|着法是|我的走法|选择|最佳走法|我的着法)(?:是)?"
    r"|(?:指し手は|私の手は|最善手は)"
    # the best move is, my answer:, move:
    r"|\b(?:moves?|answer|choice|decision|selection|reply|response|uci|san|action|output|result|"
    r"continuation|option|notation|format|conclusion|play|bestmove|solution|zug|coup|jugada|mossa)\b"
    r"(?:,?\s\(?(?:in|for|by|as|on|here|now|at|this|that|position|uci|san|notation|format|me|white|black|"
    r"algebraic|long|short|from|the|board|turn|move|i|to\s(?:make|play))\b){0,6}"
    r"\W{0,4}(?::|=|->|\||\b(?:is|would\sbe|will\sbe|seems\sto\sbe|appears\sto\sbe|must\sbe|should\sbe|ist|est|es)\b)"
    r")" + _QUIET
)  # fmt: skip
#: Before the cue: this move is somebody else's, or one of several.
_WEAKENED = re.compile(
    r"\b(?:possible|potential|candidate|alternative|another|other|previous|prior|last|their|his|"
    r"opponent'?s?|bad|worst|losing|illegal|example|sample|such\sas|one|some|interesting|second|"
    r"could|might|tempting|considered|considering|don't|do\snot|won't|not\sto|cannot|can't|"
    r"wouldn't|shouldn't|never|unable|was|were|legal\smoves|available\smoves)\b"
)
#: The move is said to follow other moves, or to answer them.
_LATER = re.compile(
    r"\b(?:after|if|when|once|in\scase|should|against|meets?|on|upon|unless)\s"
    r"(?:\d{1,3}\.{1,3}\s?|\.{3}\s?)?(?:(?:the\s|my\s)?(?:opponent|white|black|enemy)\b(?!\sto\s)|"
    r"they\b|he\b|she\b|you\b|that\b|this\b|(?:[kqrbn])?[a-h]?[1-8]?x?[a-h][1-8]|o-o|castl)"
    r"|(?:\band|,)\s(?:then|next|later)\b|\bfollowed\sby\b|\blater\b"
    r"|\bnext\s(?:move|turn)\b(?!\s?:|\s(?:is|will\sbe|would\sbe|should\sbe)\b)"
    r"|\bthreat(?:s|en|ens|ening)?\b|\bprepar(?:e|es|ing)\b|\bplan(?:s|ning)?\b|\bwith\sideas\b"
    r"|\bideas?\s(?:of|like)\b|\bintend|\ballow(?:s|ing)?\b|\bprevent(?:s|ing)?\b|\bstop(?:s|ping)\b"
    r"|\bso\sthat\b|\bin\sorder\sto\b|\beventually\b|\bsoon\b|\bfuture\b"
)
#: The move is only talked about.
_REMARKED = re.compile(
    r"\b(?:not|don't|won't|wouldn't|shouldn't|isn't|avoid(?:s|ing)?|instead\sof|rather\sthan|than|"
    r"over|unlike|consider(?:s|ed|ing)?|reject(?:ed)?|alternatives?|unable|cannot|can't|such\sas|"
    r"e\.g\.?|example|format|opponent'?s?|their|played|was|were|had|last|previous|could|might|may|"
    r"would|thought|tempting|or)\b"
)
_AFTERWARDS = re.compile(
    r"\A[^\w\n]{0,6}(?:\([^()\n]{0,40}\)\W{0,3})?(?:it\sis\b(?!\s\w)|"
    r"(?:is|was|seems|looks|appears)\s(?:[a-z]+\s){0,2}?(?:to\sbe\s)?(?:the\s|my\s|our\s)?(?:[a-z]+\s)?"
    r"(?:best|strongest|better|right|correct|choice|move|answer|only|stronger)\b(?!\ssquare))"
)
#: Between such words and a command: other commands that it is joined to, and what quotes it.
_UP_TO = (
    r"(?:(?:make\\?_move\s[\w+#=-]{2,7}[\"']?,\s){0,3}make\\?_move\s[\w+#=-]{2,7}[\"']?,?"
    r"\s(?:or|and|nor)\s)?[\"'(<\[]{0,3}\Z"
)
#: Before a command: it is not to be carried out, unless there is no reason not to.
_DENIED = re.compile(
    r"\b(?:(?P<urged>(?:why|(?:no|any)\s(?:\w+\s)?reason(?:\swhy\s(?:i|we)\sshould)?|shame|pity)\snot)"
    r"|not|never|don't|won't|wouldn't|shouldn't|can't|cannot|instead\sof|rather\sthan|"
    r"avoid(?:ed|ing)?|reject(?:ed|ing)?|before\si\s(?:can|could|will))[^\S\n]"
    r"(?:(?:to|use|using|play|playing|choose|choosing|call|calling|send|the|a|command|action|move)\s)"
    r"{0,4}" + _UP_TO
)  # fmt: skip
#: After a command: it was refused, or is so in the same breath.
_FAILED = re.compile(
    r"\A[\"')\]>,]{0,4}\s(?:(?:which|that|but\s(?:it|that))\s)?(?:was|is|were)\s(?:an?\s)?"
    r"(?:illegal|invalid|impossible(?!\sto)|rejected|not\s(?:an?\s)?(?:legal|valid|possible|allowed))\b"
    r"(?!\?)|\A[\"')\]>]{0,4}\swould\s(?:lose|hang|blunder|drop|fail)\b"
    r"|\A[\"')\]>]{0,4}\?[\"')]{0,2}\s(?:no|or)\b"
)  # fmt: skip
#: After a move: it was refused, or may not be played; or it is said at once to be a bad one. What
#: is said of it in passing is none of that: "e4, which isn't bad", "Qxf7, which is bad for Black".
_RULED_OUT = re.compile(
    r"\A[\"')\]!?+#]{0,4}(?:"
    r"(?:,?[^\S\n](?:which|that|but[^\S\n](?:it|that)))?[^\S\n](?:"
    r"(?:was|is|were)[^\S\n](?:also[^\S\n]|clearly[^\S\n]|actually[^\S\n])?(?:an?[^\S\n])?"
    r"(?:illegal|invalid|impossible(?!\sto\b)|refused|rejected)\b"
    r"|(?:(?:was|is|were)[^\S\n]not|isn't|wasn't)[^\S\n](?:an?[^\S\n])?(?:legal|valid|possible|allowed|available)\b"
    r"|(?:cannot|can't|could[^\S\n]not|couldn't)[^\S\n]be[^\S\n]played\b)"
    r"|[^\S\n](?:is|was|would[^\S\n]be)[^\S\n](?:an?[^\S\n])?(?:mistake|blunder|bad|terrible)\b(?!\s(?:news\s)?for\b)"
    r"|:[^\S\n]?(?:illegal|invalid)(?=[^\S\n]*(?:[.,;!)\n]|\Z)))"
)  # fmt: skip
#: Before and after a square that is all of its sentence: that is the move of a pawn.
_ALONE_BEFORE = re.compile(
    r"(?:(?:\A|[.!;\n])\s*(?:(?:so|therefore|thus|hence|instead|now|ok|okay)[,:]?\s+)?"
    r"|[,;]\s+(?:so|therefore|thus|hence)\s+)[\"'(]{0,2}\Z"
)
_ALONE_AFTER = re.compile(r"[\"')!?+#]{0,4}\s*(?:[.!;\n]|\Z)")
#: Before or after a command: it shows the form.
_EXAMPLE = re.compile(r"\b(?:e\.g\.?|example|for\sinstance)[:,]{0,2}[^\S\n]{0,2}" + _UP_TO)
_FOR_EXAMPLE = re.compile(r"\A[\"')\]>,]{0,4}\sfor\s(?:example|instance)\b")
#: Before a command: it is one of others, of another time or for a case.
_SHOWN = re.compile(
    r"(?:\b(?:e\.g\.?|example|for\sinstance|such\sas|(?:alternatives?|backup|fallback):)[\s:,]{0,4}"
    r"|\b(?:(?<!'d )(?<!would )like|than|over|considered|considering|(?:previous|earlier|last)\s"
    r"(?:attempt|try|command)|(?:another|other|alternative)\s(?:option|move|choice|idea|candidate)s?"
    r"(?:\s(?:is|was|were|are|would\sbe|could\sbe))?)[^\S\n]"
    r"|\b(?:(?:if|once)\s(?:(?:the\s|my\s)?opponent|white|black|they|he|you|it|this|that)|then,?\safter|"
    r"(?:on|in)\s(?:my|the)\snext\sturn)\b(?:(?!\b(?:so|thus|but)\b)[^.!?\n;]){0,80}[^\S\n])"
    + _UP_TO
)  # fmt: skip
#: Before a command: it is the other side's.
_THEIRS = {
    turn: re.compile(
        rf"\b(?:opponent|{turn.opponent})(?:'s\s(?:turn|move|reply|answer))?(?:\s?:\s?|\s(?:has\s)?"
        r"(?:just\s)?(?:used|played|made|answered|replied)(?:\s(?:the\smove|with))?[^\S\n])"
        + _UP_TO
    )
    for turn in Color
}
#: What is asked for before a move is chosen.
_ASKED = re.compile(r"\bget_(?:legal_moves|current_board)\b")
_RESIGNS = re.compile(
    r"(?<!not )(?<!never )\bi\s(?:must\s|will\s|have\sto\s|hereby\s)?resign\b|\A\W*resign\b"
)
_REVISED = re.compile(r"\w{2,}")
_JOINING = frozenset(
    re.findall(
        r"\w+",
        "or and also either maybe perhaps alternatively oder ou my the our best final next move is "
        "answer",
    )
)
_OPTIONS = re.compile(
    r"\b(?:legal|available|possible|valid|candidate|all|reasonable)\b[^.:\n]{0,30}\b(?:moves?|options?|captures)\b[^.:\n]{0,60}:"
    r"|\b(?:options|candidates|alternatives|legal_moves|moves)\b[^.:\n]{0,40}:"
)  # fmt: skip
_CHOOSING = re.compile(r"\b(?:best|final|my|chosen|choose|choosing|play|pick|select|decide)\b")
_BULLET = re.compile(r"\s{0,8}(?:[-•+>|]|\d{1,2}[.)]|\(?[a-z]\))\s?")


def is_stated(before: str, sentence: Callable[[], str], after: str, turn: Color) -> int | None:
    """Return where in `before` the words begin that give a move as the answer, or None.

    `before` is what comes since the last mention of a move, `sentence` tells all of the sentence so
    far; it is asked only if need be.
    """
    before = before.lower()
    other = turn.opponent
    cue = _STATED.search(before)
    if cue is None and not _AFTERWARDS.match(after.lower()):
        return None
    clause = _last_part(sentence())
    if _LATER.search(clause) or re.search(rf"\b{other}'s\b[^.]{{0,20}}\Z", clause):
        return None
    if cue is None:
        weak = _WEAKENED.search(clause) or _REMARKED.search(before)
        return None if weak else len(before)
    if cue[0].startswith(other.value) or re.search(rf"\b(?:for|by)\s{other}\b", cue[0]):
        return None
    # A cue may begin with the end of the sentence before, whose words then do not weaken it.
    is_first = cue[0][0] in ".!?\n"
    lead = "" if is_first else re.split(r"[,;.!?\n]", before[: cue.start()])[-1]
    return None if _WEAKENED.search(lead + cue[0]) else cue.start()


def is_remark(clause: str, turn: Color) -> bool:
    """Return whether a sentence talks of a move that is not to be played now."""
    clause = _last_part(clause)
    owner = re.search(rf"\b{turn.opponent}(?:'s)?\b", clause)
    return bool(owner or _LATER.search(clause) or _REMARKED.search(clause))


def is_ruled_out(after: str) -> bool:
    """Return whether the words after a move say that it was refused, or is none to be played."""
    return _RULED_OUT.match(after.lower()) is not None


def is_alone(before: str, after: str) -> bool:
    """Return whether what stands between two texts is a sentence of its own."""
    return bool(_ALONE_BEFORE.search(before.lower()) and _ALONE_AFTER.match(after))


def is_denied(before: str, after: str, turn: Color) -> bool:
    """Return whether the words around a command say that it is not to be carried out."""
    denied = _DENIED.search(before.lower())
    return (
        (denied is not None and denied["urged"] is None)
        or _FAILED.match(after.lower()) is not None
        or is_theirs(before, turn)
    )


def is_theirs(before: str, turn: Color) -> bool:
    """Return whether a command is said to be that of the opponent of the side to move."""
    return _THEIRS[turn].search(before.lower()) is not None


def is_example(before: str, after: str) -> bool:
    """Return whether the words around a command say that it only shows the form."""
    return bool(_EXAMPLE.search(before.lower()) or _FOR_EXAMPLE.match(after.lower()))


def is_shown(before: str, after: str) -> bool:
    """Return whether a command is an example, one of others, of another time or for a case.

    It may be carried out nevertheless, where no other is given.
    """
    return is_example(before, after) or _SHOWN.search(before.lower()) is not None


def asks_first(text: str) -> bool:
    """Return whether a text asks for the board or the moves, and so decides nothing yet."""
    return _ASKED.search(text) is not None


def _last_part(clause: str) -> str:
    """Return what a sentence says after its last turn: `e4 is tempting, but ...`."""
    return re.split(r"\b(?:but|however|yet|though)\b", clause.lower())[-1]


def resignation_in(text: str) -> int:
    """Return where a text last gives the game up, or -1."""
    return max((match.start() for match in _RESIGNS.finditer(text.lower())), default=-1)


def is_joint(gap: str) -> bool:
    """Return whether what is between two answers only puts them side by side."""
    return all(word in _JOINING for word in _REVISED.findall(gap.lower()))


def is_next(gap: str) -> bool:
    """Return whether what is between two moves only puts one after the other."""
    return _NEXT.match(gap) is not None


def is_alternative(gap: str) -> bool:
    """Return whether what is between two moves offers them as alternatives."""
    return _OR.match(gap) is not None


def sentence_start(text: str, at: int) -> int:
    """Return where the sentence of a place in a text begins, as far as it is looked at."""
    start = max(0, at - 2 * REACH)
    ends = [each.end() for each in _SENTENCE.finditer(text, start, at)]
    return ends[-1] if ends else start


def is_item(line: str) -> bool:
    """Return whether a line is an item of a list or a row of a table."""
    return _BULLET.match(line) is not None


def without_options(text: str) -> str:
    """Return a text without the lists of options in it."""
    kept = []
    is_listing = False
    for line in text.split("\n"):
        header = _OPTIONS.search(line.lower())
        if header and not _CHOOSING.search(line[: header.end()].lower()):
            rest = line[header.end() :]
            # A list on the same line ends with its sentence; else the items below are the list.
            is_listing = not re.search(r"[a-h][1-8]|[O0]-[O0]|off", rest)
            kept.append(line[: header.start()] + re.sub(r"\A[^.\n]*", "", rest))
        elif is_listing and (not line.strip() or is_item(line)):
            kept.append("")
        else:
            is_listing = False
            kept.append(line)
    return "\n".join(kept)
