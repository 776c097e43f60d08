"""What a model said to others in a reply, as opposed to what it only thought."""

from __future__ import annotations

import re

#: How much of the beginning and the end of a very long text is read: the answer is not between.
_HEAD, _TAIL = 4_000, 28_000
_THINKING = re.compile(
    r"(?:<|\[|◁)(/?)(?:think|thinking|thought|thoughts|reasoning|scratchpad|reflection|analysis)"
    r"(?:>|\]|▷)|<\|(?:begin|(end))_of_thought\|>",
    re.IGNORECASE,
)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
#: Where a model that does not stop goes on with what others would say, and its answers to that.
_TURN = re.compile(
    r"^[^\w\n]{0,6}(?:user|human|proxy|opponent|system|observation)\b[^\w\n]{0,4}:"
    r"|^#{1,4}\s?(?:instruction|user|human)\b"
    r"|<\|(?:start_header_id|im_start)\|>\s{0,2}(?:user|system)\b|<start_of_turn>\s{0,2}user\b"
    r"|<[|｜]user[|｜]>|\[INST\]|<(?:tool_response|function_results?|observation)>",
    re.IGNORECASE | re.MULTILINE,
)


def spoken(text: str) -> str:
    """Return what was said in a reply; of a very long one the middle is left out."""
    text = without_thoughts(text)
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n{text[-_TAIL:]}"


def without_thoughts(text: str) -> str:
    """Return a reply without what the model only thought, unless it said nothing else."""
    _, channel, final = text.rpartition(_FINAL_CHANNEL)
    if channel:
        text = final
    said: list[str] = []
    start, depth, is_heading = 0, 0, False
    for tag in _THINKING.finditer(text):
        if tag[1] or tag[2]:
            # A thought that ends without a beginning began with the text.
            said = said if depth else []
            depth = 0
        else:
            if not depth:
                said.append(text[start : tag.start()])
            depth, is_heading = 1, tag[0][0] == "["
        start = tag.end()
    # What nothing closes is a thought that was cut off, but in brackets it is a heading.
    if not depth or is_heading:
        said.append(text[start:])
    outside = "\n".join(said)
    return outside if re.search(r"\w", outside) else _THINKING.sub("\n", text)


def own_turn(text: str) -> str:
    """Return what comes before a dialogue that a reply makes up, or "" if it makes up none."""
    turn = next((each for each in _TURN.finditer(text) if each.start()), None)
    return text[: turn.start()] if turn else ""
