"""The command that a reply gives with both squares, and all that must not get in its way."""

import pytest

from agents import read_reply
from agents.team.command import Command, find_commands, squares_of
from agents.team.cues import is_denied, is_stated
from engine import IllegalMove, MoveError, Position

AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
#: Black pawns on g7 and g6: `g6` is a move of neither, and `g5` is one of the second.
DOUBLED = "4k3/6p1/6p1/8/8/8/8/4K3 b - - 0 1"
#: Black may play g7g6, and has no piece on g6.
SINGLE = "4k3/6p1/8/8/8/8/8/4K3 b - - 0 1"
PROMOTING = "6k1/8/8/8/8/8/4p3/K2R4 b - - 0 1"
ROOK = "2r3k1/8/8/8/8/8/8/4K3 b - - 0 1"


def outcome(reply, fen=AFTER_E4):
    """Return the move that is read, or the kind of the error with the move that it names."""
    try:
        return read_reply(reply, Position.from_fen(fen)).uci()
    except IllegalMove as error:
        return f"illegal {error.move}"
    except MoveError as error:
        return type(error).__name__


# --- finding commands ---


@pytest.mark.parametrize(
    ("text", "squares", "piece"),
    [
        ("make_move e7e5", "e7e5", ""),
        ("MAKE_MOVE E7E5", "e7e5", ""),
        ("make\\_move e7e5", "e7e5", ""),
        ("make_move: e7-e5", "e7e5", ""),
        ('make_move("e7e5")', "e7e5", ""),
        ("**make_move** `e7e5`", "e7e5", ""),
        ("make_move e2e1q", "e2e1q", ""),
        ("make_move e2e1=Q", "e2e1", "q"),
        ("make_move e2e1 knight", "e2e1", "n"),
        ("make_move e2e1queen", "e2e1", "q"),
        ("make_move e7e5 b-file", "e7e5", ""),
        ("make_move e7e5 now", "e7e5", ""),
    ],
)
def test_a_command_names_its_squares_and_perhaps_a_piece(text, squares, piece):
    (command,) = find_commands(text)
    assert (command.squares, command.piece) == (squares, piece)


@pytest.mark.parametrize(
    "text", ["make_move e5", "make_move Nf6", "make_move e7e9", "make_move e7e5e4", "move e7e5"]
)
def test_what_is_no_command_with_both_squares(text):
    assert list(find_commands(text)) == []


@pytest.mark.parametrize(
    ("argument", "squares"),
    [
        ("e7e5, since Nf6 is slow", Command(0, 4, "e7e5")),
        ("e7 e5", Command(0, 5, "e7e5", may_be_two=True)),
        ('e7", "e5")', Command(0, 8, "e7e5")),
        ('e7", to="e5")', Command(0, 11, "e7e5")),
        ("e2', 'e1', 'n')", Command(0, 8, "e2e1", "n")),
        ("e5", None),
        ("Nf6", None),
    ],
)
def test_the_squares_of_an_argument(argument, squares):
    assert squares_of(argument) == squares


# --- the only command goes before all else ---

#: What stands around `make_move e7e5` or another move with both squares, as models write it.
AROUND = [
    # other answers after it, or before
    '{}\n\n{{"move": "c7c5"}}',
    '{}\n\n{{"evaluation": {{"best": "Nf6", "score": 0.3}}}}',
    '{{"action": "{}", "best": "Nf6"}}',
    '{{"best_move": "Nf6 (or c5)", "action": "{}"}}',
    '{{"action": "{}"}}\n{{"action": "c7c5"}}',
    '{{"decision": "I choose between Nf6 or c5", "action": "{}"}}',
    '"action": "{}"\n"best_move": "Nf6 was considered"',
    '{{"move": "c7c5"}} is rejected.\n\nOpponent: threatens Nf3.\n\n{}',
    "{}\n<answer>c5</answer>",
    "{}\n\n<output>It prevents Nf3. Then I'd play Nf6.</output>",
    "<action>{}</action>\n<response>I moved. Next I will play Nf6.</response>",
    "\\boxed{{{}}}\n\n\\boxed{{Nf6}}",
    "{}\n\nThe final answer is: $\\boxed{{c5}}$",
    "{}\n\n**Final Move:** pawn to c5, which prevents d4.",
    "{}\n\nSo the final choice is clear: control the d8d4 path.",
    "Final answer: Nf6? No.\n\nSystem: illegal\n\n{}",
    "{}\n\nWait, actually c7c5 is better.",
    # a dash, a word or a sign right behind it
    "{}—attacks the center",
    "{}-attacks the center",
    "I'll go with the classical move—{}—which prevents d4.",
    "**{}**—develops; Nf6 is slower.",
    "**{}**I hope this works.",
    "```{}```I choose this over Nf6.",
    "{}I hope this works.",
    "{}$\\blacksquare",
    # a letter, or many spaces, before it
    "I'll look at it.\\n\\nWhite threatens d4, so Nf6 fails.\\n\\n{}",
    '{{"content": "I considered Nf6 and c5.\\n{}"}}',
    "analysisWe choose. Options: c7c5, g8f6. Choose it.assistantfinal{}",
    # words that only sound like a command
    "{}\n\nI didn't play move c7c5 because it hangs a piece.",
    "{}\n\nShould White respond with d4, I can make move Nf6.",
    "{}\n\nI'd be happy to make move c7c5 instead, if you prefer.",
    "{}\n\n(After that, White should make move d2d4.)",
    '{}\n\nWith "make_move", it goes there. Next, "make_move" c7c5 could be considered.',
    # another move on the same line
    "{}, Nf6 is less good",
    "{}; c7c5 and g8f6 were also possible.",
    "{} or c7c5",
    "{} c7c5 g8f6 b8c6",
    "{}? Nf6 loses.",
    "{} # c7c5 was the alternative",
    # a letter that is no promotion
    "{} b-file pressure",
    "{} n",
    # words that seem to deny it, or to put it off
    "There's no reason not to {}.",
    "I see no reason why I should not play {}, so I play it.",
    "It would be a shame not to {}",
    "c5 is best in general. But if that is pinned I would {}",
    "If you are ready, {}",
    "My first choice is c5, but it's illegal. An alternative move is {}",
    "A move such as {} looks good. Nf6 is the best move otherwise.",
    "I'd go for Nf6, for example:\n\n{}",
    "{} is impossible to meet for White. Nf6 was slower.",
    "{} is illegal? No, it's fine. Nf6 was slower.",
    # thoughts that are none, or in which the only command is
    "Let me think.\n\n[Analysis]\nWhite threatens d4. I can answer Nf6.\n\n[Action]\n{}",
    "Here is my response:\n\n**[Reasoning]**\nNf6 is the best.\n\n**[Action]**\n{}",
    "Sure.\n\n<analysis>\nThe pawn may go on, or Nf6.\n\n{}",
    "<think>\nNf6 or c5? {}\n</think>\n\nI've made my move. Waiting for White.",
    "<think>\nNf6? {}\n</think>\n\nThe knight on g8 can go to Nf6 later.",
    "<think>Let me think: Nf6.</think>\n{}\n</think>\nDone.",
    "{}\n</think>\n\nI chose this because it prevents d4.",
    # a command of the other side
    "White played make_move e2e4.\n\n{}",
    "Nf6 or c5? That depends on what White played\n{}",
    "{}\n\n(White's turn: make_move d2d4)",
    "Black: {}\nWhite: make_move d2d4\nBlack: make_move c7c5",
    # a made-up dialogue
    '{}\n\n{{"next": {{"move": "c7c5"}}}}\n\nUser: d2d4\nAssistant: make_move c7c5',
    # one that only shows the form
    "- 'make_move <UCI formatted move>' to end your turn (e.g., 'make_move d7d6')\n\n{}, not Nf6",
    # one that comes too early
    "make_move c7c5 would lose a pawn, I fear. Then {}—the center.",
]


@pytest.mark.parametrize("move", ["e7e5", "b8d7", "f8f8"])
@pytest.mark.parametrize("around", AROUND)
def test_the_only_command_goes_before_all_else(around, move):
    meant = "e7e5" if move == "e7e5" else f"illegal {move}"
    assert outcome(around.format(f"make_move {move}")) == meant


@pytest.mark.parametrize(
    ("fen", "reply", "meant"),
    [
        (AFTER_E4, "make_move" + " " * 12 + "e7e5\n\nNf6 and c7c5 are fine, too.", "e7e5"),
        (AFTER_E4, "Nf6 and c7c5 are fine. make_movee7e5", "e7e5"),
        (AFTER_E4, "I will use make_move with e7e5 as the argument, since c7c5 fails.", "e7e5"),
        # squares apart are never one square
        (SINGLE, 'make_move(from="g6", to="g5")', "illegal g6g5"),
        (SINGLE, 'make_move("g6", "g5")', "illegal g6g5"),
        (DOUBLED, 'make_move(from="g6", to="g5")', "g6g5"),
        # a letter beside the squares tells what a pawn becomes, and nothing else
        (PROMOTING, "make_move e2e1 q", "e2e1q"),
        (PROMOTING, "make_move e2e1=N. Or e2d1q?", "e2e1n"),
        (PROMOTING, "make_move e2d1, promoting to a rook. Kf8 is slow.", "e2d1r"),
        (PROMOTING, "make_move e2e1 b-file pressure", "illegal e2e1"),
        (PROMOTING, "make_move e2e1", "illegal e2e1"),
        (ROOK, "make_move c8d8 b-file pressure", "c8d8"),
        (ROOK, "make_move c8d8=Q", "c8d8"),
        (ROOK, "make_move c8d8q", "illegal c8d8q"),
        # of several commands the last counts, and what is beside it is no part of it
        (AFTER_E4, "make_move c7c5, no. make_move e7e5, Nf6 is slow", "e7e5"),
        (AFTER_E4, "make_move c7c5, no. make_move e7e5—the center", "e7e5"),
        (ROOK, "make_move c8c7? Hmm. make_move c8d8 b-file pressure", "c8d8"),
        (AFTER_E4, "make_move e5 d4", "e7e5"),
        # a command in another notation
        (AFTER_E4, "c7c5 is fine, d7d5 and g7g6 too.\\n\\nmake_move Nf6", "g8f6"),
        (AFTER_E4, "c7c5 is fine, d7d5 and g7g6 too. make_move" + " " * 12 + "Nf6", "g8f6"),
        (AFTER_E4, "make_move is what I use. c7c5, d7d5, g8f6? Submit move e7e5", "e7e5"),
        # the very name of the command goes before words like it, in any notation
        (AFTER_E4, "make_move Nf6\n\nI didn't play move c5 because of Nf3.", "g8f6"),
        (AFTER_E4, "'make_move <move>' (e.g., 'make_move e2e4')\n\nMake move: d7d5", "d7d5"),
        # what was decided outside of thoughts goes before a command in them
        (AFTER_E4, "<think>Maybe make_move c7c5.</think>\nI'll play e5.", "e7e5"),
        (AFTER_E4, "<think>make_move c7c5</think>\ne7e5", "e7e5"),
        (AFTER_E4, "<think>make_move c7c5 or make_move d7d5?</think>\nDone.", "UnreadableMove"),
        (AFTER_E4, "<think>Maybe make_move c7c5.</think>\nget_legal_moves", "UnreadableMove"),
        # denials still deny
        (AFTER_E4, "I will not make_move c7c5. I play e5.", "e7e5"),
        (AFTER_E4, "That is the reason not to make_move c7c5. I play e5.", "e7e5"),
        (AFTER_E4, "White has just made the move make_move e2e4. I respond with e5.", "e7e5"),
        (AFTER_E4, "make_move c7c5 was illegal, so I'll go with e5.", "e7e5"),
        (AFTER_E4, "I tried make_move c7c5 but it was rejected. Now I play e7e5.", "e7e5"),
        (AFTER_E4, "make_move c7c5 would lose a pawn, so I'll play e7e5.", "e7e5"),
        (AFTER_E4, "Should I make_move c7c5? No. I'll play e7e5.", "e7e5"),
        (AFTER_E4, "The syntax is make_move d7d6 for example. I'd play e5.\n\ne7e5", "e7e5"),
        (AFTER_E4, "Before I can make_move c7c5, I look at the board. I'll play e5.", "e7e5"),
    ],
)
def test_a_command_is_read_for_what_it_says(fen, reply, meant):
    assert outcome(reply, fen) == meant


def test_a_command_in_the_middle_of_a_giant_reply_is_found():
    garbage = "lorem ipsum " * 8_000
    assert outcome(f"{garbage}\nmake_move e7e5\n{garbage}") == "e7e5"


def test_of_commands_without_end_only_the_last_are_looked_at(monkeypatch):
    looked_at = []

    def looking(*around):
        looked_at.append(around)
        return is_denied(*around)

    monkeypatch.setattr("agents.team.reply.is_denied", looking)
    assert outcome("I will not make_move e7e5. " * 10_000) == "UnreadableMove"
    assert len(looked_at) < 4_000


@pytest.mark.parametrize("words", ["I think Nf6 ", "I I I I I Nf6 "])
def test_of_mentions_without_end_only_the_last_are_looked_at(words, monkeypatch):
    looked_at = []

    def looking(*around):
        looked_at.append(around)
        return is_stated(*around)

    monkeypatch.setattr("agents.team.reply.is_stated", looking)
    assert outcome(words * 3_000) == "g8f6"
    assert len(looked_at) == 300
