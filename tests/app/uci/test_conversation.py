"""What an engine says to what a GUI says, line by line, in this process."""

import asyncio
import re
from datetime import timedelta
from decimal import Decimal

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import app.matches.owner
from agents.catalogue import Catalogue
from agents.errors import UnknownPlayer
from agents.player import Advice, Candidate, Decision
from agents.uci.info import Info, Score
from agents.uci.limits import Limit
from app.uci.errors import NobodyMoves, PlayerRefused
from engine import Evaluation, Move
from fuzz.uci_seeds import INPUTS
from tests.support.players import (
    ACCEPTS,
    CLAIMS,
    NEVER,
    RESIGNS,
    Fault,
    ScriptedPlayer,
    Waits,
    offers,
)
from tests.support.processes import PATIENT, program, steps_of_the_loop, until
from tests.support.processes import told as told_to
from tests.support.uci_gui import gui

CHECKMATE = "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
STALEMATE = "position fen 7k/8/6QK/8/8/8/8/8 b - - 0 1"
CASTLING = "position startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 g8f6"


def advises(by, *moves, reason="because"):
    return Advice(by, tuple(Candidate(Move.from_uci(each), reason) for each in moves))


class Advising(ScriptedPlayer):
    """Lets advice be known first, and then does what its script says."""

    def __init__(self, *script, advice=(), **fields):
        super().__init__(*script, **fields)
        self.advice = advice

    async def decide(self, turn):
        for each in self.advice:
            turn.listener.advised(each)
            turn.listener.said(each.by, "words")
        return await super().decide(turn)


class Lasting(Fault):
    is_lasting = True


# --- before a game ---


@pytest.mark.asyncio
async def test_it_introduces_itself():
    async with gui() as it:
        it.say("uci")
        await it.hear("uciok")
    assert re.fullmatch(r"id name Kibitz \d+\.\d+\.\d+ \(random\)", it.lines[0])
    assert it.lines[1] == "id author the Kibitz authors"
    assert it.lines[2:-1] == [
        "option name Player type string default random",
        "option name Retries type spin default 3 min 0 max 20",
        "option name Budget USD type string default <empty>",
        "option name Budget Calls type spin default 0 min 0 max 1000000000",
        "option name Budget Tokens type spin default 0 min 0 max 1000000000",
        "option name Move Overhead type spin default 0 min 0 max 10000",
        "option name Emergency Moves type check default true",
        "option name Ponder type check default false",
        "option name UCI_Chess960 type check default false",
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("setoption name Hash value 16", "the option 'Hash' is not set: there are Player, Retries"),
        ("setoption name Retries value 99", "is no whole number from 0 to 20"),
        ("setoption name Retries value many", "is no whole number from 0 to 20"),
        ("setoption name Emergency Moves value 1", "'1' is neither true nor false"),
        ("setoption name Budget USD value lots", "'lots' is no sum in dollars"),
        ("setoption name Budget USD value nan", "'nan' is no sum in dollars"),
        ("setoption name Budget USD value -1", "'-1' is no sum in dollars"),
        ("setoption name Player value", "it names nobody"),
        ("setoption name Player value nobody", "'nobody' is not a player; known are random"),
        ("setoption name Player value solver", "'solver' cannot play standard"),
        ("setoption name Player value human", "needs no UCI engine"),
        ("position", "the position stays as it was: neither startpos nor a FEN is named"),
        ("position fen", "the position stays as it was: '' is not a FEN"),
        ("position fen moves e2e4", "the position stays as it was: '' is not a FEN"),
        ("position fen 8/8/8 w - - 0 1", "is not a FEN"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "is not a legal position"),
        ("position startpos moves e2e5", "is illegal: the piece does not move like that"),
        ("position startpos moves e2e4 0000", "cannot be read as a move"),
        ("go away please", None),
        ("\x1b[31mred", "unknown command: '\\x1b[31mred'"),
        (None, "a line was too long"),
        ("debug", "unknown command: 'debug'"),
        ("register later", None),
        ("stop", None),
        ("ponderhit", None),
        ("", None),
    ],
)
@pytest.mark.asyncio
async def test_what_cannot_be_done_is_told(line, told):
    async with gui() as it:
        it.say(line)
        await it.settled()
    strings = it.strings()
    assert len(strings) == (told is not None)
    assert told is None or told in strings[0]


@pytest.mark.asyncio
async def test_the_player_can_be_changed():
    player = ScriptedPlayer("e4", name="scripted")
    other = ScriptedPlayer("d4", name="other")
    async with gui(player, other) as it:
        assert await it.best("go") == "e2e4"
        assert await it.best("SetOption  name  PLAYER  value other", "go") == "d2d4"
        it.say("uci")
        assert (await it.hear("id name")).endswith("(other)")


@pytest.mark.asyncio
async def test_a_player_that_is_nobody_ends_it():
    with pytest.raises(UnknownPlayer):
        async with gui(player="nobody", ends="(end)"):
            pass
    with pytest.raises(PlayerRefused):
        async with gui(player="human", ends="(end)"):
            pass


@pytest.mark.asyncio
async def test_what_a_player_lacks_is_told_once_and_does_not_end_it():
    async with gui(player="team:default") as it:
        await it.settled()
        await it.settled()
    (lack,) = it.strings()
    assert "OPENAI_API_KEY is not set" in lack


# --- positions ---


@pytest.mark.asyncio
async def test_a_position_that_is_refused_leaves_the_last_one():
    player = ScriptedPlayer("d5")
    async with gui(player) as it:
        it.say("position startpos moves e2e4", "position startpos moves d2d4 d2d4")
        it.say("position startpos moves e2e4 d7d5 e4d5 e8e5")  # nor is it gone on with half way
        assert await it.best("go") == "d7d5"


@pytest.mark.asyncio
async def test_the_player_gets_the_whole_game():
    player = ScriptedPlayer("Nf3", "Nf6", "Nf3", "Nf3")
    async with gui(player) as it:
        shuffle = "g1f3 g8f6 f3g1 f6g8"
        await it.best("position startpos", "go")
        first = player.turns[-1]
        await it.best(f"position startpos moves {shuffle.split()[0]}", "go")
        await it.best(f"position startpos moves {shuffle} {shuffle}", "go wtime 60000 btime 50000")
        await it.best("position startpos moves e2e4 e7e5", "go")  # a game taken back
    game = player.turns[2]
    assert first.plies == ()
    assert [ply.uci for ply in game.plies] == (shuffle.split() * 2)
    assert sum(each.key() == game.position.key() for each in game.positions) == 3
    assert game.clock.remaining(game.position.turn) == timedelta(seconds=60)
    assert game.clock.remaining(game.position.turn.opponent) == timedelta(seconds=50)
    assert [ply.uci for ply in player.turns[3].plies] == ["e2e4", "e7e5"]


@pytest.mark.asyncio
async def test_moves_beyond_where_the_laws_end_a_game_are_played():
    shuffle = "g1f3 g8f6 f3g1 f6g8 " * 5  # the fifth repetition ends it
    player = ScriptedPlayer("e4")
    async with gui(player) as it:
        assert await it.best(f"position startpos moves {shuffle}", "go") == "e2e4"
    assert len(player.turns[0].plies) == 20


@pytest.mark.parametrize(
    ("position", "told"), [(CHECKMATE, "score mate 0"), (STALEMATE, "score cp 0")]
)
@pytest.mark.asyncio
async def test_where_there_is_no_move_it_says_so(position, told):
    async with gui() as it:
        assert await it.best(position, "go") == "(none)"
    assert it.lines[-2] == f"info depth 0 {told}"


@pytest.mark.parametrize(
    ("is_960", "said", "told"),
    [
        (False, "O-O", "e1g1"),
        (True, "O-O", "e1h1"),
        (False, Move.from_uci("e1g1"), "e1g1"),
        (True, Move.from_uci("e1h1"), "e1h1"),
    ],
)
@pytest.mark.asyncio
async def test_castling_is_told_as_the_gui_writes_it(is_960, said, told):
    async with gui(ScriptedPlayer(said)) as it:
        it.say(f"setoption name UCI_Chess960 value {str(is_960).lower()}")
        assert await it.best(CASTLING, "go") == told


@pytest.mark.parametrize("castles", ["e1g1", "e1h1", "O-O"])
@pytest.mark.parametrize("is_960", [True, False])
@pytest.mark.asyncio
async def test_castling_is_understood_either_way(castles, is_960):
    player = ScriptedPlayer("d6")
    async with gui(player) as it:
        it.say(f"setoption name UCI_Chess960 value {str(is_960).lower()}")
        assert await it.best(f"{CASTLING} {castles}", "go") == "d7d6"
    assert player.turns[0].plies[-1].uci == ("e1h1" if is_960 else "e1g1")


@pytest.mark.asyncio
async def test_the_position_goes_with_the_variant():
    player = ScriptedPlayer("d6", "d3")
    shuffled = "bqnbrkr1/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKR1 w GEge - 0 1"
    async with gui(player, chess960=True) as it:
        assert await it.best(f"position fen {shuffled} moves f1g1", "go") == "d7d6"
        # A game of the one is none of the other, so it begins anew.
        assert await it.best("setoption name UCI_Chess960 value false", "go") == "d2d3"
    assert [turn.position.variant for turn in player.turns] == ["chess960", "standard"]


@pytest.mark.asyncio
async def test_a_new_game_forgets_the_last_one():
    player = ScriptedPlayer("e5", "e4")
    async with gui(player) as it:
        assert await it.best("position startpos moves e2e4", "go") == "e7e5"
        assert await it.best("ucinewgame", "go") == "e2e4"


# --- limits ---


@pytest.mark.asyncio
async def test_only_the_moves_asked_for_are_played():
    async with gui() as it:
        for _ in range(5):
            assert await it.best("go searchmoves a2a3 e1e8") == "a2a3"
    assert "searchmoves: 'e1e8'" in it.strings()[0]


@pytest.mark.asyncio
async def test_where_no_move_asked_for_is_legal_all_are():
    async with gui(ScriptedPlayer("e4")) as it:
        assert await it.best("go searchmoves e1e8 xyz") == "e2e4"
    assert "none of the moves to search can be played" in it.strings()[-1]


@pytest.mark.asyncio
async def test_a_move_that_was_not_asked_for_is_refused():
    player = ScriptedPlayer("e4", Move.from_uci("d2d4"), "a3")
    async with gui(player) as it:
        assert await it.best("go searchmoves a2a3 h2h3") == "a2a3"
    assert it.strings() == [
        "refused: e4 (it is none of those asked for (a2a3, h2h3)); try 1 of 4",
        "refused: d2d4 (it is none of those asked for (a2a3, h2h3)); try 2 of 4",
    ]
    assert [each.move for each in player.turns[2].rejections] == ["e4", "d2d4"]


@pytest.mark.asyncio
async def test_the_best_move_of_an_infinite_search_is_held_back():
    player = Advising("e4", advice=[advises("tactical", "e2e4")])
    async with gui(player) as it:
        it.say("go infinite")
        await it.hear("info string tactical: e4")
        await it.settled()
        await it.settled()
        assert not [each for each in it.lines if each.startswith("bestmove")]
        assert await it.best("stop") == "e2e4"


@pytest.mark.asyncio
async def test_pondering_is_held_back_until_the_move_comes():
    async with gui(ScriptedPlayer("e5", "d5")) as it:
        it.say("position startpos moves e2e4", "go ponder wtime 60000 btime 60000")
        await it.settled()
        await it.settled()
        assert not [each for each in it.lines if each.startswith("bestmove")]
        assert await it.best("ponderhit", "ponderhit") == "e7e5"
        # And if another one comes, the answer counts for nothing, but there is one.
        assert await it.best("go ponder", "stop") == "d7d5"


@pytest.mark.asyncio
async def test_what_is_infinite_is_held_back_after_the_ponderhit_too():
    async with gui(ScriptedPlayer("e4")) as it:
        it.say("go ponder infinite", "ponderhit")
        await it.settled()
        await it.settled()
        assert not [each for each in it.lines if each.startswith("bestmove")]
        assert await it.best("stop") == "e2e4"


@pytest.mark.asyncio
async def test_the_clock_runs_while_players_are_still_looked_for():
    found, loop = asyncio.Event(), asyncio.get_running_loop()

    class Slow(Catalogue):
        async def __aenter__(self):
            await found.wait()
            return await super().__aenter__()

    async with gui(catalogue=Slow) as it:
        began = loop.time()
        it.say("go movetime 60000")
        await steps_of_the_loop(20)
        waited = loop.time() - began
        found.set()
        info = await it.hear("info time ")
    assert int(info.split()[2]) >= int(1000 * waited)


@pytest.mark.asyncio
async def test_the_clock_runs_from_the_ponderhit():
    player = Advising(advice=[advises("tactical", "g1f3")])
    async with gui(player) as it:
        it.say("go ponder movetime 20")
        await player.asked()
        await it.settled()
        await it.settled()
        assert not [each for each in it.lines if each.startswith("bestmove")]
        assert await it.best("ponderhit") == "g1f3"
    assert "its time was over; Nf3 is the best on its table" in it.strings()[-1]


@pytest.mark.asyncio
async def test_a_search_is_ended_by_the_next_command():
    player = Advising(advice=[advises("tactical", "e2e4")])
    async with gui(player) as it:
        for command in ("go", "position startpos", "ucinewgame"):
            it.say("go")
            await it.hear("info string tactical: ")
            assert await it.best(command) == "e2e4"
    await asyncio.sleep(0)
    assert player.cancelled == len(player.turns)


@pytest.mark.asyncio
async def test_it_is_ready_while_it_thinks():
    player = Advising(advice=[advises("tactical", "e2e4")])
    async with gui(player) as it:
        it.say("go")
        await it.hear("info string tactical: ")
        it.say("isready", "isready", "setoption name Retries value 1", "uci")
        await it.hear("readyok")
        await it.hear("readyok")
        await it.hear("uciok")
        assert await it.best("stop", "stop") == "e2e4"


@pytest.mark.asyncio
async def test_the_end_of_the_lines_gets_an_answer_and_quit_does_not():
    for ends, answers in (("(end)", 1), ("quit", 0)):
        player = Advising(advice=[advises("tactical", "e2e4")])
        async with gui(player, ends=ends) as it:
            it.say("go")
            await player.asked()
        assert len([each for each in it.lines if each.startswith("bestmove")]) == answers


# --- what the player says ---


@pytest.mark.asyncio
async def test_advice_is_told_once():
    advice = [advises("tactical", "g1f3", "e2e4"), Advice("positional", abstained="it is tired")]
    player = Advising(Decision("Nf3", tuple(advice)), advice=advice)
    async with gui(player) as it:
        await it.best("go")
    assert it.strings() == [
        "tactical: Nf3 (because); e4 (because)",
        "positional: no move (it is tired)",
    ]


class Belated(Advising):
    """Says something more when it is told to stop."""

    async def decide(self, turn):
        try:
            return await super().decide(turn)
        finally:
            turn.listener.advised(advises("belated", "d2d4"))
            turn.informed(Info(depth=1, score=Score(centipawns=1), pv=("d2d4",)))


@pytest.mark.asyncio
async def test_nothing_is_told_of_a_search_that_is_over():
    player = Belated(advice=[advises("tactical", "e2e4")])
    async with gui(player) as it:
        it.say("go")
        await it.hear("info string tactical: ")
        await it.best("stop")
        await it.settled()
        await it.settled()
    assert player.cancelled == 1
    assert it.lines[-3:] == ["bestmove e2e4", "readyok", "readyok"]


@pytest.mark.asyncio
async def test_words_cannot_be_taken_for_another_line():
    reason = "x\nbestmove a2a3\r\n\x1b[2J\x00" + "y" * 2000
    player = Advising("e4", advice=[advises("tactical", "e2e4", reason=reason)])
    async with gui(player) as it:
        assert await it.best("go") == "e2e4"
    (line,) = it.strings()
    assert line.startswith("tactical: e4 (x bestmove a2a3 ")
    assert line.isprintable()
    assert len(line) < 200


@pytest.mark.parametrize(
    ("evaluation", "white", "black"),
    [
        (Evaluation(centipawns=35), "score cp 35 ", "score cp -35 "),
        (Evaluation(mate=-2), "score mate -2 ", "score mate 2 "),
        (None, "", ""),
    ],
)
@pytest.mark.asyncio
async def test_a_score_is_that_of_the_side_to_move(evaluation, white, black):
    player = ScriptedPlayer(*(Decision(each, evaluation=evaluation) for each in ("e4", "e5")))
    async with gui(player) as it:
        await it.best("go")
        await it.best("position startpos moves e2e4", "go")
    infos = [each for each in it.lines if each.startswith("info ")]
    assert re.fullmatch(rf"info {white}time \d+ pv e2e4", infos[0])
    assert re.fullmatch(rf"info {black}time \d+ pv e7e5", infos[1])


# --- what goes wrong ---


@pytest.mark.asyncio
async def test_an_illegal_move_is_told_back_to_the_player():
    player = ScriptedPlayer("Ke2", "castle now!", None, "e4")
    async with gui(player) as it:
        assert await it.best("go") == "e2e4"
    told = it.strings()
    assert [each.split(" (")[0] for each in told] == [
        "refused: Ke2",
        "refused: castle now!",
        "refused: nothing",
    ]
    assert "a piece of the same side stands on the target square" in told[0]
    assert "try 3 of 4" in told[2]
    assert [each.reason for each in player.turns[3].rejections][2] == "there was no move"


@pytest.mark.asyncio
async def test_after_the_last_try_the_best_on_the_table_is_played():
    advice = [advises("tactical", "g1f3"), advises("positional", "e2e4"), advises("third", "e2e4")]
    player = Advising("Ke2", "Ke2", advice=advice)
    async with gui(player, retries=1) as it:
        assert await it.best("go") == "e2e4"
    assert "none of its moves can be played; e4 is the best on its table" in it.strings()[-1]
    assert len(player.turns) == 2


@pytest.mark.parametrize(
    ("decision", "told"),
    [(RESIGNS, "resigns"), (CLAIMS, "claims a draw"), (ACCEPTS, "offers a draw")],
)
@pytest.mark.asyncio
async def test_what_uci_cannot_say_is_told_and_played_on(decision, told):
    player = Advising(decision, advice=[advises("tactical", "g1f3")])
    async with gui(player) as it:
        assert await it.best("go") == "g1f3"
    assert it.strings()[1] == f"scripted {told}, which UCI cannot say: it plays on"
    assert len(player.turns) == 1


@pytest.mark.asyncio
async def test_a_draw_is_offered_in_vain():
    async with gui(ScriptedPlayer(offers("e4"))) as it:
        assert await it.best("go") == "e2e4"
    assert it.strings() == ["scripted offers a draw, which UCI cannot say: it plays on"]


@pytest.mark.asyncio
async def test_a_fault_is_tried_again(monkeypatch):
    monkeypatch.setattr("app.uci.thinking.FIRST_PAUSE", timedelta(milliseconds=1))
    player = ScriptedPlayer(Fault(), Fault(), "e4")
    async with gui(player) as it:
        assert await it.best("go") == "e2e4"
    assert it.strings() == ["no decision: the provider is out of reach; next try in 0.0 s"] * 2


@pytest.mark.parametrize(
    ("script", "go", "tries", "why"),
    [
        ([Fault()] * 9, "go", app.matches.owner.FAULTS, "the provider is out of reach"),
        ([Lasting()], "go", 1, "the provider is out of reach"),
        ([Fault()], "go movetime 5", 1, "the provider is out of reach"),  # no time for another
        ([ZeroDivisionError()], "go", 1, "it broke with ZeroDivisionError"),
        (["Ke2"], "go", 1, "none of its moves can be played"),
        ([RESIGNS], "go", 1, "it resigns, and names no move"),
        ([Waits()], "go movetime 30", 1, "its time was over"),
    ],
)
@pytest.mark.asyncio
async def test_where_the_player_has_no_move_kibitz_moves_and_says_so(
    monkeypatch, script, go, tries, why
):
    monkeypatch.setattr("app.uci.thinking.FIRST_PAUSE", timedelta(milliseconds=10))
    player = ScriptedPlayer(*script)
    async with gui(player, retries=0) as it:
        move = await it.best("position startpos moves e2e4 d7d5", "go searchmoves e4d5 a2a3 " + go)
    assert move in ("e4d5", "a2a3")
    assert len(player.turns) == tries
    emergency = it.strings()[-1]
    assert "is NOT a move of scripted, but of Kibitz offline" in emergency
    assert emergency.endswith(f"since {why}")


@pytest.mark.asyncio
async def test_stopped_before_anything_was_said_it_still_has_a_move():
    player = ScriptedPlayer()
    async with gui(player) as it:
        it.say("go infinite")
        await player.asked()
        move = await it.best("stop")
    assert chess.Move.from_uci(move) in chess.Board().legal_moves
    assert it.strings()[-1].endswith("since it was stopped")


@pytest.mark.parametrize(
    ("step", "go", "why"),
    [(Lasting(), "go", "out of reach"), (NEVER, "go movetime 10", "its time was over")],
)
@pytest.mark.asyncio
async def test_without_emergency_moves_who_has_none_ends_it(step, go, why):
    lines = []

    async def converse():
        async with gui(ScriptedPlayer(step), ends="(end)") as it:
            lines.append(it.lines)
            it.say("setoption name Emergency Moves value false", go)
            await it.hear("info string scripted has no move")

    with pytest.raises(NobodyMoves, match=f"nobody may move in its place.*{why}"):
        await converse()
    assert not [each for each in lines[0] if each.startswith("bestmove")]


@pytest.mark.parametrize("go", ["go infinite", "go ponder wtime 60000 btime 60000", "go"])
@pytest.mark.asyncio
async def test_without_emergency_moves_a_search_that_a_gui_stops_has_an_answer(go):
    player = ScriptedPlayer()
    async with gui(player, emergency=False) as it:
        it.say(go)
        await player.asked()
        move = await it.best("stop")
        await it.settled()
    assert chess.Move.from_uci(move) in chess.Board().legal_moves
    assert it.strings()[-1].endswith("since it was stopped")


@pytest.mark.asyncio
async def test_without_emergency_moves_what_specialists_advise_is_still_played():
    player = Advising(Lasting(), advice=[advises("tactical", "e2e4")])
    async with gui(player, emergency=False) as it:
        assert await it.best("go") == "e2e4"


@pytest.mark.asyncio
async def test_a_reserve_whose_process_cannot_start_thinks_here(monkeypatch):
    monkeypatch.setattr("agents.classical.workers.sys.executable", "/nowhere/python")
    async with gui(ScriptedPlayer(Lasting())) as it:
        assert await it.best("position fen 7k/8/8/8/8/8/q7/K7 w - - 0 1", "go") == "a1a2"


# --- players of our own ---


@pytest.mark.asyncio
async def test_classical_tells_its_score():
    async with gui(player="classical", own=Limit(nodes=300)) as it:
        assert await it.best("position fen k7/8/K7/8/8/8/8/7R w - - 0 1", "go depth 3") == "h1h8"
    assert "classical thinks by nodes or time, not to a depth" in it.strings()
    assert any("score mate 1 " in each and each.endswith("pv h1h8") for each in it.lines)


@pytest.mark.asyncio
async def test_classical_keeps_to_the_moves_asked_for():
    async with gui(player="classical", own=Limit(nodes=300)) as it:
        there = "position fen k7/8/K7/8/8/8/8/7R w - - 0 1"
        assert await it.best(there, "go searchmoves h1g1 h1f1") in ("h1g1", "h1f1")


@pytest.mark.asyncio
async def test_stockfish_tells_what_it_sees():
    async with gui(player="stockfish:8") as it:
        await it.settled()
        assert (await it.best("go infinite", "stop")) != "(none)"  # before it has said anything
        assert it.strings() == []
        it.say("go infinite")
        info = await it.hear("info depth 8 ")
        best = await it.best("stop")
        assert await it.best("go searchmoves a2a3 h2h3 depth 3") in ("a2a3", "h2h3")
        assert not [each for each in it.strings() if each.startswith("refused")]
    board = chess.Board()
    for move in info.split(" pv ")[1].split():
        board.push_uci(move)
    assert chess.Move.from_uci(best) in chess.Board().legal_moves
    assert " score cp " in info


@pytest.mark.asyncio
async def test_an_engine_that_starts_too_slowly_for_one_search_is_there_for_the_next(tmp_path):
    log = tmp_path / "log"
    slow = program("LateAtStart", log=log)
    async with gui(player="uci:slow", catalogue=lambda: Catalogue({"slow": slow})) as it:
        await it.best("go movetime 10")
        assert it.strings()[-1].endswith("since its time was over")
        assert await it.best("go movetime 60000") == "e2e4"
        assert it.strings()[-1] == "uci:slow: e4 (+0.13, depth 1)"
    assert told_to(log).count("started") == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("lines", [["go"], ["isready"], ["go", "isready"], ["isready", "go"]])
async def test_an_engine_that_never_starts_does_not_hold_up_the_end(tmp_path, monkeypatch, lines):
    monkeypatch.setattr("app.uci.conversation._SOON_READY", 0.0)
    log = tmp_path / "log"
    silent = program("Silent", log=log, **PATIENT)
    async with gui(player="uci:silent", catalogue=lambda: Catalogue({"silent": silent})) as it:
        it.say(*lines)
        await until(lambda: log.exists() and "uci" in told_to(log))


@pytest.mark.asyncio
async def test_who_is_being_started_is_not_started_once_more(monkeypatch):
    """Also if the start fails: who waits for it is told so, and does not try anew."""
    started, go = [], asyncio.Event()

    async def warm(_self, name):
        started.append(name)
        await go.wait()
        raise Fault("no such program")

    monkeypatch.setattr(Catalogue, "warm", warm)
    monkeypatch.setattr("app.uci.conversation._SOON_READY", 0.0)
    async with gui(player="random") as it:
        it.say("isready", "isready", "setoption name Player value classical", "isready")
        await until(lambda: started)
        await steps_of_the_loop(100)
        assert started == ["random"]
        go.set()
        for _ in range(3):
            await it.hear("readyok")
        assert started == ["random", "classical"]


@pytest.mark.asyncio
async def test_who_gets_ready_slowly_is_waited_for_at_the_end(monkeypatch):
    go = asyncio.Event()

    async def warm(_self, _name):
        await go.wait()

    monkeypatch.setattr(Catalogue, "warm", warm)
    monkeypatch.setattr("app.uci.conversation._SOON_READY", 0.0)
    async with gui(player="random", ends="(end)") as it:
        it.say("isready", "debug on")
        await steps_of_the_loop(100)
        asyncio.get_running_loop().call_later(0.1, go.set)
    assert it.lines == ["readyok"]


@pytest.mark.asyncio
async def test_a_player_that_cannot_even_be_started_ends_nothing(monkeypatch):
    async def broken(_self, _name):
        raise ZeroDivisionError

    monkeypatch.setattr(Catalogue, "warm", broken)
    async with gui(player="random") as it:
        move = await it.best("go")
    assert chess.Move.from_uci(move) in chess.Board().legal_moves
    assert it.strings()[-1].endswith("since it broke with ZeroDivisionError")


@pytest.mark.asyncio
async def test_a_search_without_an_end_has_no_end(monkeypatch):
    monkeypatch.setattr("app.uci.thinking.PATIENCE", timedelta(milliseconds=10))
    engine = program("UntilStop")
    async with gui(player="uci:mine", catalogue=lambda: Catalogue({"mine": engine})) as it:
        it.say("go infinite")
        await it.hear("info depth 1")
        await it.settled()
        assert await it.best("stop") == "e2e4"
        assert it.strings() == []


@pytest.mark.asyncio
async def test_who_takes_too_long_is_asked_again_and_that_is_said(monkeypatch):
    monkeypatch.setattr("app.uci.thinking.PATIENCE", timedelta(milliseconds=10))
    async with gui(ScriptedPlayer(NEVER, "e4")) as it:
        assert await it.best("go") == "e2e4"
    assert it.strings() == ["no decision: it took too long; next try in 0.2 s"]


@pytest.mark.asyncio
async def test_an_engine_that_is_made_ready_again_is_not_started_again(tmp_path):
    log = tmp_path / "log"
    engine = program(log=log)
    async with gui(player="uci:mine", catalogue=lambda: Catalogue({"mine": engine})) as it:
        for _ in range(3):
            await it.settled()
            await it.best("go")
    assert told_to(log).count("started") == 1


@pytest.mark.asyncio
async def test_a_player_keeps_its_seat_during_a_game():
    seated = []

    class Counting(Catalogue):
        def seat(self, *arguments):
            seated.append(arguments)
            return super().seat(*arguments)

    async with gui(catalogue=Counting) as it:
        await it.settled()
        del seated[:]
        for _ in range(3):
            await it.best("go")
        assert len(seated) == 1
        await it.best("ucinewgame", "go")
        assert len(seated) == 2


# --- budgets ---


@pytest.mark.asyncio
async def test_budgets_are_set():
    async with gui() as it:
        it.say(
            "setoption name Budget USD value $2.50",
            "setoption name Budget Calls value 12",
            "setoption name Budget Tokens value 3000",
            "setoption name Move Overhead value 40",
            "setoption name Ponder value true",
            "uci",
        )
        await it.hear("uciok")
        it.say("setoption name Budget USD value <empty>", "uci")
        await it.hear("uciok")
    dollars = [each for each in it.lines if "Budget USD" in each]
    assert [each.rpartition(" ")[2] for each in dollars] == ["2.5", "<empty>"]
    assert "option name Budget Calls type spin default 12 min 0 max 1000000000" in it.lines
    assert "option name Budget Tokens type spin default 3000 min 0 max 1000000000" in it.lines
    assert "option name Move Overhead type spin default 40 min 0 max 10000" in it.lines
    assert Decimal(dollars[0].rpartition(" ")[2]) == Decimal("2.5")


# --- whatever comes ---

LINES = st.sampled_from(
    [line for text in INPUTS for line in text.splitlines() if "quit" not in line]
    + ["stop", "ponderhit", "isready", "ucinewgame", "go", "go infinite", "go ponder", "uci"]
    + ["position startpos moves e2e4", CHECKMATE, "go searchmoves a2a3 movetime 1", "stop"]
)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.lists(LINES | st.text(max_size=20) | st.none(), max_size=25))
def test_every_search_gets_one_legal_answer(said):
    from app.uci.commands import Go, Quit, SetOption, read

    said = [
        each
        for each in said
        # Whoever plays is random, so that no example waits for others.
        if each is None or not isinstance(read(each), Quit | SetOption)
    ]

    async def talk():
        async with gui(ends="(end)") as it:
            it.say(*said)
        return it.lines

    lines = asyncio.run(talk())
    searches = [each for each in said if each is not None and isinstance(read(each), Go)]
    answers = [each.split()[1] for each in lines if each.startswith("bestmove ")]
    assert len(answers) == len(searches)
    assert all(re.fullmatch(r"[a-h][1-8][a-h][1-8][qrbn]?|\(none\)", each) for each in answers)
    assert all(each.isprintable() and len(each) < 500 for each in lines)
