"""What language models reply, in every style, and the move that they mean."""

from contextlib import suppress

import pytest

from agents import read_reply
from engine import (
    AmbiguousMove,
    Illegality,
    IllegalMove,
    Move,
    MoveError,
    Position,
    UnreadableMove,
)

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
CASTLING = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"
PROMOTING = "3r2k1/4P3/8/8/8/8/8/4K3 w - - 0 1"
TWO_KNIGHTS = "4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1"
TWO_BISHOPS = "4k3/8/8/8/8/8/8/1NB1KB2 w - - 0 1"
CHESS960 = "1r2k1r1/8/8/8/8/8/6P1/1R2K1R1 w GBgb - 0 1"
COOKING = "rnb/3/RNB w - - - - 1"
LEAVING = "R1b/3/nNB w - - - r 2"

STYLES = [
    (START, "e2e4", "e2e4"),
    (START, "e2-e4", "e2e4"),
    (START, "e2 e4", "e2e4"),
    (START, "E2E4", "e2e4"),
    (START, "e4", "e2e4"),
    (START, "**e4**", "e2e4"),
    (START, "1. e4", "e2e4"),
    (START, "1.e4!", "e2e4"),
    (START, "Nf3", "g1f3"),
    (START, "♘f3", "g1f3"),
    (START, "nf3", "g1f3"),
    (START, "`Nf3`.", "g1f3"),
    (START, "Knight to f3", "g1f3"),
    (START, "knight from g1 to f3", "g1f3"),
    (START, "I move my knight from g1 to f3.", "g1f3"),
    (START, "pawn to e4", "e2e4"),
    (START, "e2 to e4", "e2e4"),
    (START, "e2 → e4", "e2e4"),
    (AFTER_E4, "1... e5", "e7e5"),
    (AFTER_E4, "1...e5", "e7e5"),
    (AFTER_E4, "...e5", "e7e5"),
    (AFTER_E4, "e5", "e7e5"),
    (CASTLING, "O-O", "e1g1"),
    (CASTLING, "0-0", "e1g1"),
    (CASTLING, "o-o-o", "e1c1"),
    (CASTLING, "0-0-0", "e1c1"),
    (CASTLING, "e1g1", "e1g1"),
    (CASTLING, "castle kingside", "e1g1"),
    (CASTLING, "I'll castle kingside.", "e1g1"),
    (CASTLING, "I castle queenside", "e1c1"),
    (CASTLING, "Castling short is safest.", "e1g1"),
    (CASTLING, "kingside castling", "e1g1"),
    (CASTLING, "I will castle on the kingside (O-O).", "e1g1"),
    (CASTLING, "Final answer: castle queenside", "e1c1"),
    (PROMOTING, "e7e8q", "e7e8q"),
    (PROMOTING, "e7e8Q", "e7e8q"),
    (PROMOTING, "e8=Q", "e7e8q"),
    (PROMOTING, "exd8=N", "e7d8n"),
    (PROMOTING, "I play e8 and promote to a queen.", "e7e8q"),
    (PROMOTING, "e7e8, promoting to a knight", "e7e8n"),
    (PROMOTING, "e8=queen", "e7e8q"),
    (PROMOTING, "I promote the pawn to a rook on e8", "e7e8r"),
    (PROMOTING, "e7 to e8, promoting to a queen", "e7e8q"),
    (PROMOTING, "Final answer: e7-e8=Q+", "e7e8q"),
    (START, "Thus \\boxed{e4}", "e2e4"),
    (START, "$\\boxed{\\text{Nf3}}$", "g1f3"),
    (START, "The answer is $$\\boxed{\\mathrm{Nf3}}$$.", "g1f3"),
    (START, "<answer>e2e4</answer>", "e2e4"),
    (START, "<move>Nf3</move>", "g1f3"),
    (START, "blah Nc3 blah <answer>I think d2d4 is good. make_move e2e4</answer>", "e2e4"),
    (START, "<think>e4 or d4? I'll play e4.</think>\nd4", "d2d4"),
    (START, "<think>hm, e4 hm</think>d2d4", "d2d4"),
    (START, "<think>I'll play e4</think>", "e2e4"),
    (START, "I like e4. final answer: Nc3</think>\n\nNf3", "g1f3"),
    (START, "<think>Best is e4. I'll play e2e4", "e2e4"),
    (START, "Let me see.\n\n[Analysis]\nNf3 or d4?\n\n[Action]\nI'll play e4.", "e2e4"),
    (START, "Let me see.\n\n[Thinking]\nI'll play Nf3.\n[/Thinking]\nI play e4.", "e2e4"),
    (START, '{"move": "e2e4"}', "e2e4"),
    (
        START,
        '```json\n{"reasoning": "d4 is fine; final answer: Nf3", "best_move": "e4"}\n```',
        "e2e4",
    ),
    (START, '{"move":"e2e4","reason":"because Nf3', "e2e4"),
    (START, "{'move': 'Nf3'}", "g1f3"),
    (START, '{"candidates":[{"move":"e4"},{"move":"d4"}],"choice":"d4"}', "d2d4"),
    (START, '{"from":"e2","to":"e4"}', "e2e4"),
    (PROMOTING, '{"from":"e7","to":"e8","promotion":"queen"}', "e7e8q"),
    (START, '{"name":"make_move","arguments":{"move":"g1f3"}}', "g1f3"),
    (START, '{"name":"make_move","arguments":"{\\"move\\": \\"g1f3\\"}"}', "g1f3"),
    (START, '{"bestMove": "g1f3"}', "g1f3"),
    (START, '{"answer": "I will play Nf3, and then Bb5."}', "g1f3"),
    (START, "{move: e2e4}", "e2e4"),
    (
        START,
        'Here is my answer:\n{"uci": "e2e4", "san": "e4", "line": ["e4","e5","Nf3"]}\nGood luck!',
        "e2e4",
    ),
    (START, '{"move": {"uci": "e2e4", "san": "e4"}}', "e2e4"),
    (START, '[{"move": "e2e4"}]', "e2e4"),
    (START, '{"action": "make_move e2e4"}', "e2e4"),
    (START, "make_move e2e4", "e2e4"),
    (START, "make_move(e2e4)", "e2e4"),
    (START, 'make_move("e2e4")', "e2e4"),
    (START, "make_move(move='e2e4')", "e2e4"),
    (START, "'action': 'make_move e2e4'", "e2e4"),
    (START, "make_move: e2e4", "e2e4"),
    (START, "make_move\ne2e4", "e2e4"),
    (START, "bestmove e2e4 ponder e7e5", "e2e4"),
    (START, "info depth 3 pv d2d4\nbestmove e2e4", "e2e4"),
    (START, "I'll play Nf3. make_move e2e4", "e2e4"),
    (START, "I thought about it. make_move d2d4 hmm wait, that loses. make_move e2e4", "e2e4"),
    (START, "Action: e2e4", "e2e4"),
    (START, "Final answer: Nf3", "g1f3"),
    (START, "**Final Answer:**\n\n**Nf3**", "g1f3"),
    (START, "My move is e4.", "e2e4"),
    (START, "My move: Nf3, developing the knight.", "g1f3"),
    (START, "I'll play e4", "e2e4"),
    (START, "I'll play e2e4—the best by test, while d2d4 is slow.", "e2e4"),
    (START, "I will play the move e4 to control d5 and f5.", "e2e4"),
    (START, "I choose Nf3 because e4 is risky.", "g1f3"),
    (START, "The best move is e4, which controls d5.", "e2e4"),
    (START, "The best move here is clearly **1. e4**.", "e2e4"),
    (START, "Best move: 1. d4 (d2d4)", "d2d4"),
    (START, "Let's play d4.", "d2d4"),
    (START, "I'm going with Nf3.", "g1f3"),
    (START, "Let me go with c4", "c2c4"),
    (START, "Play e4.", "e2e4"),
    (START, "Ich spiele e4.", "e2e4"),
    (START, "Mein Zug ist Nf3", "g1f3"),
    (START, "Je joue e4", "e2e4"),
    (START, "Juego e4.", "e2e4"),
    (START, "Mi jugada es d4", "d2d4"),
    (START, "Мой ход: e4", "e2e4"),
    (START, "我走e4。", "e2e4"),
    (START, "我选择 e2e4", "e2e4"),
    (START, "最佳走法是 Nf3。", "g1f3"),
    (START, "Gioco d4", "d2d4"),
    (START, "Eu jogo e4", "e2e4"),
    (START, "私の手は e4 です", "e2e4"),
    (START, "Ik speel e4", "e2e4"),
    (START, "Candidates:\n1. e4\n2. d4\n3. Nf3\n\nI choose d4.", "d2d4"),
    (START, "Candidate moves:\n- e4: center\n- Nf3: develops\n\nMy choice: Nf3", "g1f3"),
    (START, "| Move | Score |\n|---|---|\n| e4 | 0.3 |\n| d4 | 0.2 |\n\nI'll go with d4.", "d2d4"),
    (START, "Nf3 Nc6 Bb5", "g1f3"),
    (START, "1. e4 e5 2. Nf3 Nc6", "e2e4"),
    (START, "I play Nf3, and after Nc6 I will play Bb5.", "g1f3"),
    (START, "e4. If Black answers e5, I'll play Nf3.", "e2e4"),
    (START, "I'll play e4, then Nf3 and Bc4.", "e2e4"),
    (START, "I'll play e4. Next move I will play Nf3.", "e2e4"),
    (START, "e2e4 e7e5 g1f3", "e2e4"),
    (START, "Legal moves: e2e3, e2e4, d2d4, g1f3\nI'll take e2e4.", "e2e4"),
    (START, "FEN: rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n\nMove: e4", "e2e4"),
    (
        START,
        "```\nr n b q k b n r\np p p p p p p p\n. . . . . . . .\nP P P P P P P P\nR N B Q K B N R\n```\nNf3",  # noqa: E501
        "g1f3",
    ),
    (START, "I considered e4 but Nf3 is better.", "g1f3"),
    (START, "d4 is better than e4", "d2d4"),
    (START, "I'll play e4. Actually, no: d4 is better.", "d2d4"),
    (START, "I'd rather play Nf3 than e4.", "g1f3"),
    (START, "Not e4. I play d4.", "d2d4"),
    (START, "Nf3\n\nThis develops the knight, controls e5 and d4, and prepares O-O.", "g1f3"),
    (START, "Nf3 - a flexible developing move.", "g1f3"),
    (START, "e4, controlling the center.", "e2e4"),
    (START, "Looking at the position, the knight is best on f3.\n\nNf3", "g1f3"),
    (START, "Move: e2e4\nReason: controls d5; later Nf3", "e2e4"),
    (START, "[[e2e4]]", "e2e4"),
    (START, "UCI: e2e4", "e2e4"),
    (START, "(e2e4)", "e2e4"),
    (START, '"e4"', "e2e4"),
    (START, "My move is 'e2e4'.", "e2e4"),
    (START, "After careful consideration, I'll play e4.", "e2e4"),
    (START, "After analyzing the position, the strongest move is Nf3.", "g1f3"),
    (START, "White to move. I think e4 is the best move.", "e2e4"),
    (AFTER_E4, "White played e4. I'll respond with e5.", "e7e5"),
    (AFTER_E4, "White's last move was e4. My move: c5", "c7c5"),
    (AFTER_E4, "Black's best move is e5.", "e7e5"),
    (AFTER_E4, "1. e4 e5", "e7e5"),
    (AFTER_E4, "I'd answer with 1...c5, the Sicilian.", "c7c5"),
    (
        START,
        "<|channel|>analysis<|message|>e4? d4?<|end|><|start|>assistant<|channel|>final<|message|>Nf3",  # noqa: E501
        "g1f3",
    ),
    (START, "<move>e2e4</move>\n<reason>Prepares Nf3</reason>", "e2e4"),
    (START, "ANSWER: E2E4", "e2e4"),
    (START, "Answer: e4 (King's Pawn)", "e2e4"),
    (START, "### Move\nNf3", "g1f3"),
    (START, "So my final move is to push the pawn to e4.", "e2e4"),
    (START, "I would play 1.e4", "e2e4"),
    (START, "Sure! e4", "e2e4"),
    (START, "Ok, Nf3!", "g1f3"),
    (START, "Let's develop with Nc3.", "b1c3"),
    (START, "I will start with the move pawn to d4", "d2d4"),
    (START, "The move I choose is e2e4.", "e2e4"),
    (START, "The move that I want to play is Nf3.", "g1f3"),
    (START, "Thought: I should control the center.\nAction: make_move\nAction Input: e2e4", "e2e4"),
    (START, "Based on my analysis, **e2e4** is the best move.\n\nFinal move: `e2e4`", "e2e4"),
    (START, "I'll go for the King's Pawn opening: e4.", "e2e4"),
    (START, "e4!! A classic.", "e2e4"),
    (START, "I have decided on Nf3.", "g1f3"),
    (START, "My answer: \n```\ne2e4\n```\n", "e2e4"),
    (START, "```uci\ne2e4\n```", "e2e4"),
    (START, "```\nmove: e2e4\n```\nThis prepares Nf3 and Bc4.", "e2e4"),
    (START, 'Response: {"thoughts": "Consider Nf3", "move": "d2d4"}', "d2d4"),
    (START, "<reasoning>e4 seems best</reasoning><move>d2d4</move>", "d2d4"),
    (START, "[MOVE] e2e4 [/MOVE]", "e2e4"),
    (START, "Move 1: e4", "e2e4"),
    (START, "White plays e4.", "e2e4"),
    (AFTER_E4, "Black plays 1...c5", "c7c5"),
    (AFTER_E4, "As Black, I respond 1... c5 (Sicilian Defense).", "c7c5"),
    (
        START,
        "The strongest continuation is Nf3, attacking nothing yet but preparing Nc3 and e4.",
        "g1f3",
    ),
    (START, "I will advance my pawn from e2 to e4.", "e2e4"),
    (START, "I'd like to play the pawn from d2 to d4 please", "d2d4"),
    (START, "I think I'll start with e4, as it opens lines for my queen and bishop.", "e2e4"),
    (
        START,
        "Therefore, the best move is:\n\n**Nf3**\n\nThis develops a piece and fights for e5.",
        "g1f3",
    ),
    (START, "Therefore the answer is $\\boxed{e2e4}$ since after e7e5 we have Nf3.", "e2e4"),
    (
        START,
        "**Move:** e4  \n**Explanation:** After 1. e4 e5 2. Nf3 Nc6 3. Bb5 White is better.",
        "e2e4",
    ),
    (START, "Selected move -> g1f3", "g1f3"),
    (START, "The move is g1f3", "g1f3"),
    (START, "Answer = e4", "e2e4"),
    (START, "move=e2e4", "e2e4"),
    (START, "I am playing Nf3.", "g1f3"),
    (START, "I'm moving my knight to f3.", "g1f3"),
    (START, "My choice is e4!", "e2e4"),
    (START, "e4 it is.", "e2e4"),
    (START, "Let's go e4!", "e2e4"),
    (START, "Going with d4 here.", "d2d4"),
    (START, "I prefer Nf3 over e4.", "g1f3"),
    (START, "Instead of e4, I'll play d4.", "d2d4"),
    (START, "While e4 is popular, I choose d4.", "d2d4"),
    (START, "Options: e4, d4, Nf3. I pick Nf3.", "g1f3"),
    (
        START,
        "Here are my top candidates:\n\n1. **e4** – controls the center\n2. **d4** – also good\n3. **Nf3** – flexible\n\n**Best move: d4**",  # noqa: E501
        "d2d4",
    ),
    (
        START,
        "Position:\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\nLegal: a2a3 a2a4 b2b3 e2e4\n\nbestmove e2e4",  # noqa: E501
        "e2e4",
    ),
    (START, "get_legal_moves\n\nmake_move e2e4", "e2e4"),
    (START, "I make the move e2e4 by calling make_move e2e4.", "e2e4"),
    (START, "make_move  `e2e4`", "e2e4"),
    (START, "**make_move** e2e4", "e2e4"),
    (START, "Make_Move e2e4", "e2e4"),
    (START, "<make_move>e2e4</make_move>", "e2e4"),
    (START, "make_move <e2e4>", "e2e4"),
    (START, "make_move [e2e4]", "e2e4"),
    (START, "make_move e2-e4", "e2e4"),
    (START, "make_move e2 e4", "e2e4"),
    (START, "make_move Nf3", "g1f3"),
    (START, "make_move 1. e4", "e2e4"),
    (CASTLING, "make_move O-O", "e1g1"),
    (PROMOTING, "make_move e7e8=Q", "e7e8q"),
    (PROMOTING, "make_move e7e8 q", "e7e8q"),
    (PROMOTING, "I push the pawn to e8 and promote it to a queen: e8=Q+", "e7e8q"),
    (PROMOTING, "Promote to a knight: exd8=N", "e7d8n"),
    (PROMOTING, "My move is e7xd8=Q.", "e7d8q"),
    (START, 'tool_call: {"function": {"name": "play", "arguments": {"uci": "e2e4"}}}', "e2e4"),
    (
        START,
        '<tool_call>\n{"name": "make_move", "arguments": {"move": "e2e4"}}\n</tool_call>',
        "e2e4",
    ),
    (START, "<function=make_move>\n<parameter=move>e2e4</parameter>\n</function>", "e2e4"),
    (START, '{"move": "1. e4", "confidence": 0.9}', "e2e4"),
    (START, '{"best_move": "Nf3", "alternatives": ["e4", "d4"]}', "g1f3"),
    (START, "{\n  move: 'e2e4',\n  reason: 'center'\n}", "e2e4"),
    (START, "My final decision: I'll play Nf3 because it's solid. After ...d5 I plan d4.", "g1f3"),
    (START, "1. e4 {best by test}", "e2e4"),
    (START, "1. e4 *", "e2e4"),
    (START, "I play: e2e4\nYour turn!", "e2e4"),
    (START, "e2e4\n\nYour turn!", "e2e4"),
    (
        START,
        "My move: e4\n\nCurrent board:\n8 r n b q k b n r\n7 p p p p p p p p\n6 . . . . . . . .\n4 . . . . P . . .\n  a b c d e f g h",  # noqa: E501
        "e2e4",
    ),
    (START, "Opening theory says e4 or d4, but I choose c4.", "c2c4"),
    (START, "I could play e4 or d4. I will play Nf3.", "g1f3"),
    (START, "Let me think... e4 gives space, d4 too. Final: d4", "d2d4"),
    (START, "Wählen wir e4: Mein Zug: e4", "e2e4"),
    (START, "El mejor movimiento es e4.", "e2e4"),
    (START, "Le meilleur coup est Nf3.", "g1f3"),
    (START, "Der beste Zug ist d4.", "d2d4"),
    (START, "Лучший ход — e2e4.", "e2e4"),
    (START, "我的走法是：**e2e4**", "e2e4"),
    (START, "次の手は e2e4 です。", "e2e4"),
    (START, "My move is ♙e4", "e2e4"),
    (START, "I'll play **N**f3", "g1f3"),
    (AFTER_E4, "White opened with e4, so I will mirror with e5.", "e7e5"),
    (AFTER_E4, "After 1. e4, the best reply is 1... c5.", "c7c5"),
    (AFTER_E4, "In response to e4, I play e5.", "e7e5"),
    (AFTER_E4, "Since White played e2e4, I'll answer e7e5.", "e7e5"),
    (START, "If I play e4, Black can play e5. So I'll play d4.", "d2d4"),
    (START, "I won't play e4. I'll play d4 instead.", "d2d4"),
    (TWO_KNIGHTS, "My move is Nd2 (b1d2).", "b1d2"),
    # commands in other forms
    (TWO_BISHOPS, "B1D2", "b1d2"),
    (TWO_BISHOPS, "make_move B1D2", "b1d2"),
    (TWO_BISHOPS, "I'll play B1-D2", "b1d2"),
    (TWO_BISHOPS, "I'll play B1d2", "c1d2"),
    (START, "d2d4 or c2c4 or g1f3? make\\_move e2e4", "e2e4"),
    (START, "`make-move e2e4`, as d2d4 is met by d7d5.", "e2e4"),
    (START, "I play: Action: make_move\nAction Input: e2e4\nThought: d2d4 or c2c4?", "e2e4"),
    (START, 'make_move("e2", "e4")', "e2e4"),
    (START, "make_move (e2, e4)", "e2e4"),
    (START, 'make_move "e2" "e4"', "e2e4"),
    (START, "make_move(from_square='e2', to_square='e4')", "e2e4"),
    (PROMOTING, "make_move('e7', 'd8', 'n')", "e7d8n"),
    (START, "make_move e2e4make_move e2e4", "e2e4"),
    (START, "make_move e2e4This controls the center.", "e2e4"),
    (PROMOTING, "make_move e7e8queen", "e7e8q"),
    # commands that are not given
    (START, "make_move e2e4 is my answer, not make_move d2d4", "e2e4"),
    (START, "make_move e2e4 instead of make_move d2d4.", "e2e4"),
    (START, "make_move e2e4\n\nI will not use make_move d2d4 or make_move c2c4.", "e2e4"),
    (START, "make_move e2e4 (better than make_move d2d4)", "e2e4"),
    (START, "make_move e2e4\n\nThe form is that of e.g. 'make_move d2d4'.", "e2e4"),
    (START, "'make_move <UCI formatted move>' (e.g., 'make_move d2d4')\n\nmake_move e2e4", "e2e4"),
    (START, "make_move e2e4\n\nI also considered make_move d2d4, but it is slow.", "e2e4"),
    (START, "make_move e2e4\n\nOptions such as make_move d2d4 or make_move c2c4 lose.", "e2e4"),
    (START, "make_move e2e4\n\nIf White replies, I will make_move d2d4 next.", "e2e4"),
    (START, "make_move e2e4\n\nIf this is illegal, use make_move d2d4.", "e2e4"),
    (START, "make_move e2e4\n\nOn my next turn I plan to make_move d2d4.", "e2e4"),
    (START, "make_move e2e4\n\nMy previous attempt make_move e2e5 was illegal.", "e2e4"),
    (START, "make_move e2e5 was illegal, so I'll go with e2e4", "e2e4"),
    (START, "make_move d2d4 hangs a pawn. All things considered, make_move e2e4", "e2e4"),
    (START, "make_move d2d4 hangs a pawn. Why not make_move e2e4", "e2e4"),
    (START, "make_move d2d4 hangs a pawn. I'd like make_move e2e4", "e2e4"),
    (START, "For example: make_move e2e4", "e2e4"),
    # a made-up line of play, or dialogue
    (START, "make_move e2e4\nmake_move e7e5\nmake_move g1f3", "e2e4"),
    (START, "make_move e2e4\n\nUser: Black played e7e5.\nAssistant: make_move g1f3", "e2e4"),
    (START, "make_move e2e4\n\n**Human**: done\n\n**Assistant**: make_move g1f3", "e2e4"),
    (START, "Action: make_move e2e4\nObservation: e7e5\nAction: make_move g1f3", "e2e4"),
    (START, "make_move e2e4<|im_end|>\n<|im_start|>user\nok<|im_end|>make_move g1f3", "e2e4"),
    (START, "make_move e2e4 [INST] Black plays e7e5 [/INST] make_move g1f3", "e2e4"),
    (START, "get_legal_moves\n\nUser: d2d4, e2e4\n\nAssistant: make_move e2e4", "e2e4"),
    # an object is an answer like others: what comes later counts
    (START, '{"move": "d2d4"}\n\nWait, that is a blunder.\n\nmake_move e2e4', "e2e4"),
    (START, '{"action": "make_move e2e4"}\nmake_move e7e5', "e2e4"),
    # more ways to state it
    (START, "It has one go.\n\n**Move (UCI):** `e2e4`. Ideas: d2d4. Or c2c4. And g1f3.", "e2e4"),
    (START, "d2d4 is one. My next move will be e2e4.", "e2e4"),
    (START, "I push the king's pawn. In UCI format, this is e2e4.", "e2e4"),
    (START, "d2d4 is possible, c2c4 too.\n\nMove to make: e2e4", "e2e4"),
]

OTHER_VARIANTS = [
    ("chess960", CHESS960, "O-O", "e1g1"),
    ("chess960", CHESS960, "I castle kingside.", "e1g1"),
    ("chess960", CHESS960, "make_move e1g1", "e1g1"),
    ("chess960", CHESS960, '{"move": "0-0-0"}', "e1b1"),
    ("chess960", CHESS960, "Final answer: castle long", "e1b1"),
    ("chess960", CHESS960, "I'll play e1c1", "e1b1"),
    ("chess960", CHESS960, "The best move is Kd2.", "e1d2"),
    ("kings-cooking", COOKING, "Ra2", "a1a2"),
    ("kings-cooking", COOKING, "a1-a2", "a1a2"),
    ("kings-cooking", COOKING, "I play Nxa3.", "b1a3"),
    ("kings-cooking", COOKING, "make_move a1a2", "a1a2"),
    ("kings-cooking", COOKING, "My move: knight takes c3", "b1c3"),
    ("kings-cooking", COOKING, "I'd love Roff. No wait, Ra2 is the only move.", "a1a2"),
    ("kings-cooking", COOKING, '{"reasoning": "Rxa3 loses", "move": "Bb2"}', "c1b2"),
    ("kings-cooking", LEAVING, "Roff", "a3off"),
    ("kings-cooking", LEAVING, "a3off", "a3off"),
    ("kings-cooking", LEAVING, "a3 - off", "a3off"),
    ("kings-cooking", LEAVING, "make_move a3off", "a3off"),
    ("kings-cooking", LEAVING, "make_move Roff", "a3off"),
    ("kings-cooking", LEAVING, "The best move is Roff, which scores.", "a3off"),
    ("kings-cooking", LEAVING, "I move my rook off the board.", "a3off"),
    ("kings-cooking", LEAVING, "My rook leaves the board.", "a3off"),
    ("kings-cooking", LEAVING, "<move>a3-off</move>", "a3off"),
]

UNCLEAR = [
    (START, "either e4 or d4"),
    (START, "I'd play e4 or d4."),
    (START, "Final answer: e4. Final answer: d4."),
    (START, "My move is e4. My move is d4."),
    (START, "e4 or d4"),
    (START, "e4 / d4"),
    (START, "make_move e2e4\nmake_move d2d4"),
    (START, "<move>e4</move><move>d4</move>"),
    (START, "e4, d4"),
    (START, "I resign"),
    (START, ""),
    (START, "   "),
    (START, "I cannot help with that."),
    (START, "I can't play moves like e2e4."),
    (START, "Legal moves: e2e3, e2e4, d2d4"),
    (START, "I'll play e4... Actually, I resign."),
    (START, "hello world"),
    (START, "Both Nf3 and Nc3 are good: Nf3 or Nc3."),
    (START, "The e4 square is weak."),
    (START, "make_move e9e5"),
    (START, "I could play e4. I could play d4."),
    (START, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"),
    (START, "1. e4\n2. d4\n3. Nf3"),
    (START, '{"moves": ["e4","d4"]}'),
    (START, '{"move": null}'),
    (START, '[{"move":"e4"},{"move":"d4"}]'),
    (START, '{"move": "e4"} {"move": "d4"}'),
    (START, "One could play e2e4, d2d4, c2c4 or g1f3."),
    (START, "<think>I'll play e4.</think> I would rather not say."),
    (START, "Let me see.\n<think>\nPerhaps I'll play e4, or"),
    (TWO_KNIGHTS, "I'll play Nd2."),
    (START, "I will not make_move e2e4."),
    (START, "I would do anything rather than make_move e2e4."),
    (START, "My pawns are close to promotion and the white king on e4 is far away."),
]

ILLEGAL = [
    (START, "make_move e7e5", "e7e5"),
    (START, "e7e5", "e7e5"),
    (START, "I like Nf3, but make_move e2e5", "e2e5"),
    (START, "Nf3 is fine. Final answer: Ke2", "e1e2"),
    (START, "I'll play Qh5", "d1h5"),
    (START, "O-O", "e1g1"),
    (START, '{"move":"e2e5","alternative":"e2e4"}', "e2e5"),
    (START, "<answer>Bc4</answer> or maybe e4", "f1c4"),
    (START, "e5", "e2e5"),
    (START, "exd5", "e2d5"),
    (PROMOTING, "e7e8", "e7e8"),
    (START, "Legal moves: e2e4, d2d4. I'll play e2e5.", "e2e5"),
    (START, "My move is e2-e5. A safer one would be e2e4.", "e2e5"),
    (START, "Nd5", "Nd5"),
    (AFTER_E4, "I will play 1. e4", "e7e4"),
    (START, "Nf3 was considered.\n\nBb5", "f1b5"),
    (START, "\\boxed{Ra3}", "a1a3"),
    (START, "make_move e2e5, not make_move e2e4", "e2e5"),
    (START, "make_move e2e5\n\nFor example, make_move e2e4 is the form.", "e2e5"),
]


@pytest.mark.parametrize(("fen", "reply", "uci"), STYLES)
def test_every_style_of_chess(fen, reply, uci):
    assert read_reply(reply, Position.from_fen(fen)).uci() == uci


@pytest.mark.parametrize(("variant", "fen", "reply", "uci"), OTHER_VARIANTS)
def test_every_style_of_other_variants(variant, fen, reply, uci):
    position = Position.from_fen(fen, variant)
    assert read_reply(reply, position) is position.parse(uci)


@pytest.mark.parametrize(("fen", "reply"), UNCLEAR)
def test_an_unclear_reply_is_no_move(fen, reply):
    with pytest.raises((AmbiguousMove, UnreadableMove)):
        read_reply(reply, Position.from_fen(fen))


@pytest.mark.parametrize(
    "reply", ["e4 or d4", "I'd play e4 or d4.", "Final answer: e4. Final answer: d4."]
)
def test_what_contradicts_itself_names_its_candidates(reply):
    with pytest.raises(AmbiguousMove) as refused:
        read_reply(reply, Position.start())
    assert refused.value.candidates == (Move.from_uci("e2e4"), Move.from_uci("d2d4"))


@pytest.mark.parametrize(("fen", "reply", "move"), ILLEGAL)
def test_no_other_move_takes_the_place_of_an_illegal_one(fen, reply, move):
    with pytest.raises(IllegalMove) as refused:
        read_reply(reply, Position.from_fen(fen))
    assert refused.value.move == move
    assert refused.value.fen == fen


@pytest.mark.parametrize(
    ("variant", "reply", "move", "reason"),
    [
        ("standard", "make_move e7e5", "e7e5", Illegality.WRONG_SIDE),
        ("standard", "make_move e4e5", "e4e5", Illegality.NO_PIECE),
        ("standard", "Final answer: Bb5", "f1b5", Illegality.BLOCKED),
        ("standard", "I castle kingside.", "e1g1", Illegality.CASTLING_BLOCKED),
        ("kings-cooking", "I'll play Roff", "a1off", Illegality.BLOCKED),
        ("kings-cooking", "make_move a1c3. Ra2 is worse", "a1c3", Illegality.NOT_HOW_IT_MOVES),
    ],
)
def test_the_reason_is_that_of_the_rules(variant, reply, move, reason):
    with pytest.raises(IllegalMove) as refused:
        read_reply(reply, Position.start(variant))
    assert (refused.value.move, refused.value.reason) == (move, reason)


@pytest.mark.parametrize("reply", [None, 7, b"e2e4", ["e2e4"]])
def test_what_is_no_text_is_unreadable(reply):
    with pytest.raises(UnreadableMove):
        read_reply(reply, Position.start())


@pytest.mark.parametrize(
    "piece", ["x", "{", '{"a":', "<answer>", "make_move ", "\\boxed{", "<think>", "\n", "- e4\n"]
)
def test_giant_replies_are_read_and_their_end_counts(piece):
    garbage = piece * (150_000 // len(piece))
    with suppress(MoveError):
        read_reply(garbage, Position.start())
    if piece != "<think>":
        reply = f"{garbage}\n</answer>\nmake_move e2e4"
        assert read_reply(reply, Position.start()).uci() == "e2e4"


@pytest.mark.parametrize(
    ("text", "uci"),
    [
        ("Nf3 would be a mistake; e4.", "e2e4"),
        ("Nf3 is illegal. e4", "e2e4"),
        ("Nf3 is bad, so e4", "e2e4"),
        ("Nf3 cannot be played; therefore e4", "e2e4"),
        ("Sorry, Ke2 was illegal. e4.", "e2e4"),
        ("Sorry, Ke2 was illegal. Nc3.", "b1c3"),
        ("I apologize, Ke2 isn't legal. I'll go e4.", "e2e4"),
        ("Previously I tried Ke2 which was refused. Now: e4", "e2e4"),
        ("I apologize for the mistake. e4", "e2e4"),
    ],
)
def test_a_move_that_is_taken_back_is_not_the_answer(text, uci):
    assert read_reply(text, Position.start()).uci() == uci


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Ke2 is illegal.", IllegalMove),  # nothing else is said
        ("Nf3: illegal. e4: legal.", UnreadableMove),
        ("The knight controls d4, e5.", UnreadableMove),
    ],
)
def test_what_is_left_is_not_guessed_at(text, error):
    with pytest.raises(error):
        read_reply(text, Position.start())


#: White can mate on f7.
SCHOLARS = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"


@pytest.mark.parametrize(
    ("text", "uci"),
    [
        ("Nf3 is solid, but I will play Qxf7#, which is terrible for Black.", "h5f7"),
        ("Nf3 defends. I play Qxf7, which is impossible to stop.", "h5f7"),
        ("Nf3 is possible. My move is Qxf7+, which is bad for Black", "h5f7"),
        ("Nf3 is quiet. I choose a4, which isn't bad.", "a2a4"),
        ("Nf3 is quiet. I will play a4, which isn't a mistake.", "a2a4"),
        ("I looked at Nf3. I will play a4! Which is bad news for Black.", "a2a4"),
        ("Nf3 is fine too. I will play a4\nIllegal moves so far: none.", "a2a4"),
        ("d4 is fine. I will play a4: invalid replies are no concern.", "a2a4"),
        ("d4 is my move. Then I let the rook go to a4 in time.", "d2d4"),
        ("Nf3 develops. The key square? d4.", "g1f3"),
    ],
)
def test_what_is_said_of_a_move_in_passing_does_not_take_it_back(text, uci):
    assert read_reply(text, Position.from_fen(SCHOLARS)).uci() == uci
