"""What people write at the board, and what they are told."""

import asyncio
import io
import resource

import chess
import chess.pgn
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.errors import AgentError
from agents.player import Advice, Candidate, Decision
from agents.uci.program import STOCKFISH_VARIABLE
from app.play.deeds import CannotWrite, _write_new
from app.play.session import Manners
from engine import Color, Move
from tests.support.playing import playing, told
from tests.support.processes import until

WHITE, BLACK = Color.WHITE, Color.BLACK
FOOLS_MATE = ("f3", "e5", "g4", "Qh4")
ASKS = Manners()


class Scripted:
    """Does what it was told to do, turn by turn; then it plays the first legal move."""

    name = "scripted"

    def __init__(self, *decisions):
        self.decisions = list(decisions)
        self.turns = []

    async def decide(self, turn):
        self.turns.append(turn)
        decision = self.decisions.pop(0) if self.decisions else None
        if isinstance(decision, Exception):
            raise decision
        return decision or Decision(sorted(turn.position.legal_moves(), key=Move.uci)[0])


def scripted(*decisions):
    return {"scripted": lambda _seed: Scripted(*decisions)}


# --- games ---


def test_two_people_play_to_mate_and_the_board_turns_to_whoever_moves(folder):
    async def work(table):
        await table.write(*FOOLS_MATE)
        assert table.said[-1] == "Black wins by checkmate (0-1)."
        sides = [side for _, _, side in table.screen.boards]
        assert sides == [WHITE, BLACK, WHITE, BLACK, WHITE]
        assert table.screen.boards[-1][1] == Move.from_uci("d8h4")
        assert await table.write("e4") == [
            "The game is over: Black wins by checkmate; write `new` for another."
        ]

    table = playing(work, folder)
    assert table.said[0] == "White and Black are both played here, without clocks."


def test_a_whole_game_against_dice_goes_as_python_chess_has_it(folder):
    async def work(table):
        board = chess.Board()
        while not board.is_game_over(claim_draw=False):
            played = table.match.game.line.moves[len(board.move_stack) :]
            for move in played:
                board.push_uci(move.uci())
            if board.is_game_over():
                break
            captures = sorted(board.legal_moves, key=lambda m: (not board.is_capture(m), m.uci()))
            await table.write(board.san(captures[0]))
            board.push(captures[0])
        assert table.match.is_over
        assert table.match.game.result == board.result()
        await table.write("pgn")
        text = "\n".join(table.said[table.said.index('[Event "Kibitz match"]') :])
        game = chess.pgn.read_game(io.StringIO(text))
        assert game.errors == []
        assert game.end().board().fen() == board.fen()

    playing(work, folder, black="random", seed=4)


def test_kings_cooking_is_played_with_hints_by_its_solver(folder):
    async def work(table):
        assert await table.write("hint") == ["Perfect play is Nxa3: draw in 9."]
        assert await table.write("moves b1") == ["Nxa3 Nxc3"]
        await table.write("Nxa3")
        assert len(table.played) == 2
        assert await table.write("moves b1") == ["Nothing on b1 can move."]
        assert await table.write("moves b9") == ["'b9' is not a square."]

    playing(work, folder, black="random", variant="kings-cooking", seed=1)


MOVES = ["e4", "move e4", "e2e4", "e2-e4", "1. e4", "e4!", "E4"]


@pytest.mark.parametrize("text", MOVES)
def test_moves_in_any_notation(folder, text):
    async def work(table):
        await table.write(text)
        assert table.played == ["e4"]

    playing(work, folder)


WRONG = [
    ("Ke2", "'Ke2' is illegal: a piece of the same side stands on the target square."),
    ("xyzzy", "'xyzzy' is neither a command nor a move; write help to see what can be written"),
    ("resgin", "'resgin' is neither a command nor a move; did you mean resign?"),
    ("move", "Which move? e4, for example."),
    ("undo", "To take back is not possible: Black has not moved yet."),
    ("draw accept", "To accept a draw is not possible: none was offered."),
    ("draw decline", "To decline a draw is not possible: none was offered."),
    ("draw claim", "To claim a draw is not possible: the position has not occurred three times"),
    ("draw claim Ke2", "'Ke2' is illegal: a piece of the same side"),
    ("draw offer e4", "'offer e4' is nothing that can be done about a draw"),
    ("draw nonsense", "'nonsense' is nothing that can be done about a draw"),
    ("resume", "To resume is not possible: the match is running."),
    ("resume x", "'x' is no sum in dollars, such as 0.50."),
    ("resume nan", "'nan' is no sum in dollars"),
    ("resume -1", "'-1' is no sum in dollars"),
    ("new x", "'x' is not a time control"),
    ("load 8/8/8", "'8/8/8' is not a FEN"),
    ("load 8/8/8/8/8/8/8/8 w - -", "'8/8/8/8/8/8/8/8 w - -' is not a legal position"),
    ("load 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "The game is over there: draw by stalemate."),
    ("load nothing", "Nothing is saved as 'nothing'."),
    ("load 3", "Nothing is saved as '3'."),
    ("load " + "9" * 900, "Nothing is saved as '999"),
    ("save", "A save cannot be called that: a name is missing."),
    ("save a/b", "A save cannot be called that: a name has letters"),
    ("save 12", "A save cannot be called that: a number alone"),
    ("pgn /nowhere/game.pgn", "'/nowhere/game.pgn' cannot be written: No such file"),
    ("pgn ~nobody-here/x", "'~nobody-here/x' cannot be written: "),
    ("moves z9", "'z9' is not a square."),
    ("help x", "There is no command 'x'."),
    ("flip x", "'flip' takes nothing after it."),
    ("x" * 2000, "That line has 2000 letters, which is too long for anything."),
]


def test_what_is_wrong_is_told_in_one_line_and_the_game_goes_on(folder):
    async def work(table):
        for line, why in WRONG:
            (said,) = await table.write(line)
            assert said.startswith(why), (line, said)
            assert "rnbqkbnr" not in said
        await table.write("e4")
        assert table.played == ["e4"]

    playing(work, folder)


def test_an_ambiguous_move_is_told_with_those_that_it_may_be(folder):
    async def work(table):
        await table.write("load 7k/8/8/8/8/8/8/RR5K w - - 0 1")
        await table.write("load 4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "Ke2", "Ke7")
        (said,) = await table.write("Rd1")
        assert said == "'Rd1' is ambiguous: is it Rad1 or Rhd1?"

    playing(work, folder)


# --- what is seen ---


def test_what_there_is_to_see(folder):
    async def work(table):
        assert await table.write("history") == ["Nothing was played yet."]
        await table.write("e4", "e5", "Nf3")
        assert await table.write("history") == ["   1. e4       e5", "   2. Nf3"]
        assert await table.write("fen") == [table.match.game.position.fen()]
        assert await table.write("moves d8") == ["Qe7 Qf6 Qg5 Qh4"]
        assert await table.write("moves e8") == ["Ke7"]
        assert await table.write("moves a8") == ["Nothing on a8 can move."]
        assert len((await table.write("moves"))[0].split()) == 29
        assert (await table.write("help draw"))[0].startswith("  draw [offer|accept|decline")
        boards = len(table.screen.boards)
        await table.write("show", "board")
        assert len(table.screen.boards) == boards + 2

    playing(work, folder)


def test_the_score_sheet_begins_with_whoever_began(folder):
    async def work(table):
        await table.write("load 4k3/8/8/8/8/8/4P3/4K3 b - - 0 7", "Kd7", "e4", "Kd6")
        assert await table.write("history") == ["   7. ...      Kd7", "   8. e4       Kd6"]

    playing(work, folder)


def test_flipping_by_hand_stops_the_board_from_turning(folder):
    async def work(table):
        await table.write("flip", "e4", "e5", "flip")
        sides = [side for _, _, side in table.screen.boards]
        assert sides == [WHITE, BLACK, BLACK, BLACK, WHITE]

    playing(work, folder)


@pytest.mark.parametrize(
    ("manners", "white", "sides"),
    [
        (Manners(asks=False), "human", [WHITE, WHITE, BLACK]),
        (Manners(asks=False), "random", [BLACK, BLACK, WHITE]),
        (Manners(asks=False, flipped=True), "human", [BLACK, BLACK, WHITE]),
    ],
)
def test_the_board_is_seen_from_the_side_of_who_plays(folder, manners, white, sides):
    async def work(table):
        move = "e4" if white == "human" else "e5"
        seen = len(table.screen.boards)
        await table.write(move, "flip")
        assert [side for _, _, side in table.screen.boards][seen - 1 :] == sides

    black = "random" if white == "human" else "human"
    playing(work, folder, white=white, black=black, manners=manners)


def test_without_turning_two_people_look_from_one_side(folder):
    async def work(table):
        await table.write("e4", "e5")
        assert {side for _, _, side in table.screen.boards} == {WHITE}

    playing(work, folder, manners=Manners(asks=False, turns=False))


def test_the_game_is_written_to_a_new_file_and_to_no_other(folder):
    async def work(table):
        file = folder / "game.pgn"
        await table.write("e4", f"pgn {file}")
        assert chess.pgn.read_game(io.StringIO(file.read_text())).end().san() == "e4"
        (said,) = await table.write(f"pgn {file}")
        assert said.startswith("There is a file")

    playing(work, folder)


def test_of_a_game_that_could_not_be_written_no_file_is_left(folder):
    file = folder / "game.pgn"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))  # as if the disk were full
    try:
        with pytest.raises(CannotWrite, match="cannot be written: File too large"):
            _write_new(str(file), "1. e4 *\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not file.exists()
    _write_new(str(file), "1. e4 *\n")
    assert file.read_text() == "1. e4 *\n"


# --- taking back, draws, resigning ---


def test_two_people_take_back_one_ply_at_a_time(folder):
    async def work(table):
        await table.write("e4", "e5", "undo")
        assert table.played == ["e4"]
        await table.write("undo")
        assert table.played == []

    playing(work, folder)


@pytest.mark.parametrize("control", [None, "60"])
def test_a_computer_lets_both_plies_be_taken_back_even_with_clocks(folder, control):
    async def work(table):
        await table.write("e4")
        assert len(table.played) == 2
        assert await table.write("undo") == ["Taken back."]
        assert table.played == []
        await table.write("d4")
        assert table.played[0] == "d4"

    playing(work, folder, black="random", time_control=control)


class Thinker(Scripted):
    """Decides when it is let."""

    def __init__(self):
        super().__init__()
        self.may = asyncio.Event()

    async def decide(self, turn):
        self.turns.append(turn)
        await self.may.wait()
        return await super().decide(turn)


def thinking(work, folder, **options):
    """Play against somebody who thinks until they are let decide."""
    thinkers = []

    def make(_seed):
        thinkers.append(Thinker())
        return thinkers[-1]

    async def main(table):
        await work(table, thinkers[-1])

    return playing(main, folder, black="thinker", players={"thinker": make}, **options)


def test_one_may_write_while_the_opponent_thinks(folder):
    async def work(table, thinker):
        session = table.session
        await session.obey("e4")
        assert session.prompt == "> "
        await session.obey("d4")
        assert table.said[-1] == "It is not White's turn: Black is to move."
        await session.obey("hsitory")
        assert table.said[-1].endswith("did you mean history?")
        await session.obey("hint")
        assert table.said[-1] == "It is not White's turn: Black is to move."
        await session.obey("undo")
        assert (table.said[-1], table.played) == ("Taken back.", [])
        assert session.prompt == "white> "
        await session.obey("d4")
        thinker.may.set()
        await session.sitting.settled()
        assert table.played[0] == "d4"

    thinking(work, folder)


def test_saving_while_the_opponent_thinks_lets_it_go_on(folder):
    async def work(table, thinker):
        session = table.session
        await session.obey("e4")
        await until(lambda: thinker.turns)
        await session.obey("save mine")
        assert "Saved as 'mine'." in table.said
        assert not any("clocks stand" in line or "goes on" in line for line in table.said)
        (save,) = await session.shelf.saves.list()
        assert (save.record.status, save.record.ply_count) == ("paused", 1)
        await until(lambda: len(thinker.turns) == 2)
        thinker.may.set()
        await session.sitting.settled()
        assert len(table.played) == 2

    thinking(work, folder, time_control="60")


def test_an_offer_of_the_opponent_is_told_and_taken(folder):
    async def work(table):
        await table.write("e4")
        assert told(table, "Black offers a draw: write `draw accept`")
        await table.write("draw")
        assert table.said[-1] == "Draw by agreement (1/2-1/2)."

    offer = Decision(Move.from_uci("e7e5"), offers_draw=True)
    playing(work, folder, black="scripted", players=scripted(offer))


def test_an_offer_is_declined_by_saying_so_or_by_moving_on(folder):
    async def work(table):
        await table.write("e4")
        assert (await table.write("draw decline"))[-1] == "White declines the draw."
        await table.write("draw")
        assert "White offers a draw." in table.said
        assert "Black declines the draw." in await table.write("d4")
        await table.write("draw", "Nc3")
        assert table.said[-1] == "Draw by agreement (1/2-1/2)."

    offer = Decision(Move.from_uci("e7e5"), offers_draw=True)
    accept = Decision(Move.from_uci("a7a5"), accepts_draw=True)
    playing(work, folder, black="scripted", players=scripted(offer, None, accept))


def test_two_people_agree_on_a_draw(folder):
    async def work(table):
        await table.write("draw offer", "draw accept")
        assert table.said[-1] == "Draw by agreement (1/2-1/2)."

    playing(work, folder)


@pytest.mark.parametrize(("claim", "plies"), [("draw claim", 8), ("draw claim Ng8", 7)])
def test_a_repetition_is_claimed_as_it_stands_or_with_a_move(folder, claim, plies):
    async def work(table):
        await table.write(*(["Nf3", "Nf6", "Ng1", "Ng8"] * 2)[:plies], claim)
        assert table.said[-1] == "Draw: the position occurred three times (1/2-1/2)."

    playing(work, folder)


@pytest.mark.parametrize(
    ("black", "line", "how"),
    [("human", "e4", "White wins: Black resigned (1-0)."),
     ("random", "e4", "Black wins: White resigned (0-1).")],
)  # fmt: skip
def test_who_resigns_has_lost(folder, black, line, how):
    async def work(table):
        await table.write(line, "resign")
        assert table.said[-1] == how

    playing(work, folder, black=black)


# --- clocks ---


def test_a_flag_falls_while_nobody_writes(folder):
    async def work(table):
        await until(lambda: table.match.is_over)
        assert table.said[-2:] == [
            "Black wins on time (0-1).",
            "Another game, with colours swapped? (y or n, or any command)",
        ]
        assert table.session.prompt == "again> "

    playing(work, folder, time_control="0.05", manners=ASKS)


def test_clocks_stand_while_it_is_paused_and_while_a_hint_is_looked_for(folder):
    async def work(table):
        await table.write("e4")
        (said,) = await table.write("pause")
        assert said == "The clocks stand; write `resume` to play on."
        assert table.session.prompt == "paused> "
        assert not table.session.has_running_clock
        assert await table.write("e5") == [
            "To move is not possible: the match is paused; write `resume` to play on."
        ]
        assert await table.write("resume") == ["The game goes on."]
        assert table.session.has_running_clock
        (said,) = await table.write("hint")
        assert said.startswith("Stockfish would play ")
        assert table.session.has_running_clock

    playing(work, folder, time_control="600+5")


def test_new_games_have_the_clocks_that_are_asked_for(folder):
    async def work(table):
        assert (await table.write("new 10 5"))[0].endswith("10 minutes each and 5 seconds a move.")
        assert table.match.clocks() == {"white_ms": 600_000, "black_ms": 600_000}
        assert (await table.write("new"))[0].endswith("10 minutes each and 5 seconds a move.")
        assert (await table.write("new 0"))[0].endswith("without clocks.")

    playing(work, folder)


# --- hints ---


def test_without_stockfish_the_hint_says_what_to_do(folder, monkeypatch):
    monkeypatch.setenv(STOCKFISH_VARIABLE, "/nowhere/stockfish")

    async def work(table):
        (said,) = await table.write("hint")
        assert said.startswith("Stockfish was not found at '/nowhere/stockfish'")
        await table.write("e4")
        assert table.played == ["e4"]

    playing(work, folder)


def test_a_hint_for_a_game_that_is_over(folder):
    async def work(table):
        await table.write(*FOOLS_MATE)
        assert (await table.write("hint"))[0].startswith("The game is over: ")
        assert (await table.write("moves"))[0].startswith("The game is over: ")

    playing(work, folder)


# --- what opponents say and do wrong ---


def test_advice_is_told_and_refused_moves_are(folder):
    advice = (
        Advice("tactical", (Candidate(Move.from_uci("e7e5"), "the  centre\nmatters"),
                            Candidate(Move.from_uci("c7c5"), ""))),
        Advice("positional", words="I " + "think " * 200),
        Advice("idle", abstained="it timed out"),
    )  # fmt: skip
    decision = Decision("e5", advice)

    async def work(table):
        said = await table.write("e4")
        assert said[0] == (
            "Black's attempt 1 of 4 is refused: 'Ke5' is illegal: the piece does not move like that"
        )
        assert said[1:3] == ["  tactical says e5: the centre matters", "  tactical or c5"]
        assert said[3].startswith("  positional says: I think think")
        assert len(said[3]) < 450
        assert said[4:] == ["  idle has no advice: it timed out", "Black plays 1... e5"]

    players = scripted(Decision("Ke5"), decision)
    playing(work, folder, black="scripted", players=players)


def test_a_player_that_cannot_decide_is_told_of_and_tried_again(folder):
    faults = [AgentError("it is tired")] * 5

    async def work(table):
        said = await table.write("e4")
        assert said == [
            *["Black could not decide, and tries again."] * 3,
            "The game is paused: scripted could not decide: it is tired. Write `resume` to try"
            " again.",
        ]
        said = await table.write("resume")
        assert said[:2] == ["The game goes on.", "Black could not decide, and tries again."]
        assert said[-1] == "Black plays 1... a5"

    playing(work, folder, black="scripted", players=scripted(*faults))


class Talker(Thinker):
    """Says something before it decides."""

    async def decide(self, turn):
        turn.listener.said("tactical", "The kni")
        turn.listener.said("tactical", "ght\n is pinned")
        turn.listener.said("positional", "x" * 1000)
        return await super().decide(turn)


def test_words_are_seen_as_they_come_and_go_with_the_move(folder):
    talkers = []

    def make(_seed):
        talkers.append(Talker())
        return talkers[-1]

    async def work(table):
        await table.session.obey("e4")
        await until(lambda: talkers[-1].turns)
        lines = table.session.voices.lines(30)
        assert lines[0] == "tactical: The knight is pinned"
        assert lines[1].startswith("positional: …x")
        assert all(len(line) <= 30 for line in lines)
        talkers[-1].may.set()
        await table.session.sitting.settled()
        assert not table.session.voices.lines(30)

    playing(work, folder, black="talker", players={"talker": make})


# --- what is offered ---

OFFERS = [
    ("hi", "hi", ["history", "hint"]),
    ("Nf", "Nf", ["Nf3"]),
    ("e", "e", ["e3", "e4", "exit"]),
    ("move N", "N", ["Na3", "Nc3", "Nf3", "Nh3"]),
    ("help re", "re", ["resign", "resume"]),
    ("draw c", "c", ["claim"]),
    ("draw claim Nf", "Nf", ["Nf3"]),
    ("moves b", "b", ["b1", "b2"]),
    ("load S", "S", ["Saturday", "Sunday 2"]),
    ("save Sunday ", "Sunday ", ["Sunday 2"]),
    ("flip ", "", []),
    ("xyzzy x", "x", []),
]


def test_words_are_offered_as_a_line_goes_on(folder):
    async def work(table):
        await table.write("save Sunday 2", "save Saturday")
        for text, end, words in OFFERS:
            assert await table.session.offers(text) == (end, words), text
        everything = (await table.session.offers(""))[1]
        assert {"help", "quit", "e4"} <= set(everything)
        assert "bye" not in everything
        await table.write("resign")
        assert (await table.session.offers("Nf"))[1] == []
        assert (await table.session.offers("moves "))[1] == []

    playing(work, folder)


# --- seeds ---


def test_the_same_seed_gives_the_same_games_one_after_the_other(folder):
    def starts():
        found = []

        async def work(table):
            found.append(table.match.game.start.fen())
            await table.write("new")
            found.append(table.match.game.start.fen())

        playing(work, folder, variant="chess960", manners=Manners(asks=False, seed=7))
        return found

    first = starts()
    assert first == starts()
    assert len(set(first)) == 2


# --- laws ---

ODD = st.one_of(
    st.text(max_size=60),
    st.text(st.characters(), min_size=1, max_size=10),
    st.text("\x00\x1b\x7f\x9b\u202e\ud800\udfff\n\r\t /!", max_size=20),
    st.sampled_from(["e4", "e5", "Nf3", "Nc6", "undo", "flip", "draw", "pause", "resume", "show"]),
    st.builds(
        lambda word, rest: f"{word} {rest}",
        st.sampled_from(
            ["move", "new", "draw", "moves", "help", "resume", "load x/", "draw claim"]
        ),
        st.text(max_size=30),
    ),
)


@pytest.mark.usefixtures("without_coverage")
@given(st.lists(ODD, min_size=1, max_size=12))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_is_written_the_game_goes_on(folder, lines):
    async def work(table):
        for line in lines:
            before = len(table.said)
            await table.session.obey(line)
            await table.session.sitting.settled()
            assert all("\n" not in each for each in table.said[before:])
        await table.session.obey("resume")
        if table.match.is_over:
            await table.session.obey("new 0")
        await table.session.sitting.settled()
        await table.session.obey("undo")
        await table.session.obey("load 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
        await table.session.obey("e4")
        assert table.played == ["e4"]

    playing(work, folder)
