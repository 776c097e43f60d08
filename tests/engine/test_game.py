"""Games: history, repetition, claims, endings, clocks and undo."""

from datetime import timedelta

import pytest

from engine import (
    Clock,
    Color,
    DrawNotClaimable,
    Evaluation,
    Game,
    GameOver,
    IllegalMove,
    Move,
    NothingToUndo,
    Outcome,
    Position,
    Status,
    Termination,
    TimeControl,
    UnreadableMove,
)

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")
GAME_OF_THE_CENTURY = (
    "Nf3 Nf6 Pc4 Pg6 Nc3 Bg7 Pd4 O-O Bf4 Pd5 Qb3 dc4 Qc4 Pc6 Pe4 Nbd7 Rd1 Nb6 Qc5 Bg4 Bg5 Na4 "
    "Qa3 Nc3 bc3 Ne4 Be7 Qb6 Bc4 Nc3 Bc5 Rfe8 Kf1 Be6 Bb6 Bc4 Kg1 Ne2 Kf1 Nd4 Kg1 Ne2 Kf1 Nc3 "
    "Kg1 ab6 Qb4 Ra4 Qb6 Nd1 Ph3 Ra2 Kh2 Nf2 Re1 Re1 Qd8 Bf8 Ne1 Bd5 Nf3 Ne4 Qb8 Pb5 Ph4 Ph5 "
    "Ne5 Kg7 Kg1 Bc5 Kf1 Ng3 Ke1 Bb4 Kd1 Bb3 Kc1 Ne2 Kb1 Nc3 Kc1 Rc2"
)


def game_of(moves, **options):
    game = Game(**options)
    for move in moves.split() if isinstance(moves, str) else moves:
        game.play(move)
    return game


# --- whole games ---

FAMOUS = [
    ("Scholar's mate", "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#", "1-0", Status.CHECKMATE),
    ("Fool's mate", "f3 e5 g4 Qh4#", "0-1", Status.CHECKMATE),
    ("Game of the Century", GAME_OF_THE_CENTURY, "0-1", Status.CHECKMATE),
    (
        "the shortest stalemate",
        "e3 a5 Qh5 Ra6 Qxa5 h5 h4 Rah6 Qxc7 f6 Qxd7+ Kf7 Qxb7 Qd3 Qxb8 Qh7 Qxc8 Kg6 Qe6",
        "1/2-1/2",
        Status.STALEMATE,
    ),
]


@pytest.mark.parametrize(("moves", "result", "status"), [row[1:] for row in FAMOUS])
def test_famous_games(moves, result, status):
    game = game_of(moves)
    assert (game.result, game.status) == (result, status)
    assert game.is_over
    assert game.winner == {"1-0": Color.WHITE, "0-1": Color.BLACK}.get(result)
    with pytest.raises(GameOver, match="the game is over"):
        game.play("e4")


def test_a_game_tells_where_it_stands():
    game = Game()
    assert (game.status, game.result, game.describe()) == (Status.ACTIVE, "*", "White to move")
    assert (game.winner, game.outcome, game.is_over) == (None, None, False)
    game = game_of("e4 f5 Qh5+")
    assert (game.status, game.describe()) == (Status.CHECK, "Black is in check")
    assert repr(game) == "<Game standard, 3 plies, Black is in check>"


def test_plies_tell_everything_about_themselves():
    game = game_of("e4 e5 Nf3")
    assert [ply.san for ply in game.plies] == ["e4", "e5", "Nf3"]
    assert [ply.uci for ply in game.plies] == ["e2e4", "e7e5", "g1f3"]
    assert [ply.number for ply in game.plies] == [1, 2, 3]
    assert [ply.move_number for ply in game.plies] == [1, 1, 2]
    assert [ply.color for ply in game.plies] == [Color.WHITE, Color.BLACK, Color.WHITE]
    assert game.plies[0].before == game.start
    assert game.plies[-1].after == game.position
    assert (game.plies[0].clock, game.plies[0].evaluation, game.plies[0].source) == (None,) * 3
    assert (game.plies[0].comment, game.plies[0].comment_before, game.plies[0].nags) == ("", "", ())
    assert repr(game.plies[1]) == "<Ply 1...e5>"


def test_a_ply_stays_what_it_was():
    game = game_of("e4")
    ply = game.plies[0]
    game.undo()
    game.play("d4")
    assert (ply.san, ply.after.fen().split()[3]) == ("e4", "e3")


def test_notes_are_kept_with_the_ply():
    game = Game()
    game.play("e4", clock=timedelta(seconds=9), evaluation=Evaluation(centipawns=30), source="team")
    ply = game.plies[0]
    assert ply.clock == timedelta(seconds=9)
    assert ply.evaluation == Evaluation(centipawns=30)
    assert ply.source == "team"


@pytest.mark.parametrize("fields", [{}, {"centipawns": 1, "mate": 2}])
def test_an_evaluation_is_one_thing(fields):
    with pytest.raises(ValueError, match="either"):
        Evaluation(**fields)


def test_an_illegal_move_leaves_the_game_as_it_was():
    game = game_of("e4")
    for bad, error in (
        ("e4", IllegalMove),
        ("xyz", UnreadableMove),
        (Move.from_uci("e2e4"), IllegalMove),
    ):
        with pytest.raises(error):
            game.play(bad)
    assert len(game.plies) == 1


def test_games_start_anywhere():
    assert Game("4k3/8/8/8/8/8/8/4K2R w K - 0 1").play("O-O").uci() == "e1g1"
    game = Game(Position.start("chess960", 5))
    assert (game.variant, game.turn) == ("chess960", Color.WHITE)
    assert Game(variant="chess960").start.fen() == Position.start().fen()


# --- repetition and claims ---


def test_threefold_repetition_can_be_claimed_and_undo_takes_it_back():
    game = game_of(SHUFFLE)
    assert game.repetitions() == 2
    assert game.claimable_draws() == []
    for move in SHUFFLE:
        game.play(move)
    assert game.repetitions() == 3
    assert game.claimable_draws() == [Termination.THREEFOLD_REPETITION]
    assert game.outcome is None  # nobody claimed
    game.undo()
    assert game.repetitions() == 2
    assert game.claimable_draws() == []
    game.play("Ng8")
    assert game.repetitions() == 3
    assert game.claim_draw() == Outcome(None, Termination.THREEFOLD_REPETITION)
    assert (game.result, game.status) == ("1/2-1/2", Status.DRAW)


def test_a_draw_can_be_claimed_with_a_move_that_is_only_intended():
    game = game_of((*SHUFFLE, *SHUFFLE[:3]))
    assert game.claimable_draws() == []
    assert game.claimable_draws("Ng8") == [Termination.THREEFOLD_REPETITION]
    assert game.claimable_draws("e5") == []
    with pytest.raises(DrawNotClaimable, match="no draw can be claimed"):
        game.claim_draw("e5")
    game.claim_draw("Ng8")
    assert len(game.plies) == 7  # the move was intended, not made
    assert game.is_over


def test_moves_that_would_let_a_draw_be_claimed():
    game = game_of((*SHUFFLE, *SHUFFLE[:3]))
    assert [move.uci() for move in game.claiming_moves()] == ["f6g8"]
    game.undo()
    assert game.claiming_moves() == []
    assert Game().claiming_moves() == []
    game = Game("7k/8/8/8/8/p7/8/KR6 w - - 99 80")
    assert set(game.claiming_moves()) == set(game.position.legal_moves())
    game = Game("7k/8/8/8/8/p7/8/KR6 b - - 99 80")
    assert {move.uci() for move in game.claiming_moves()} == {"h8g7", "h8g8", "h8h7"}


def test_the_fifth_repetition_ends_the_game():
    game = game_of(SHUFFLE * 4)
    assert game.outcome == Outcome(None, Termination.FIVEFOLD_REPETITION)
    with pytest.raises(GameOver):
        game.play("e4")
    game.undo()
    assert game.outcome is None
    game.play("Ng8")
    assert game.is_over


def test_draws_are_claimed_at_once_on_request():
    game = game_of(SHUFFLE * 2, claims_draws=True)
    assert game.outcome == Outcome(None, Termination.THREEFOLD_REPETITION)
    with pytest.raises(GameOver):
        game.play("e4")


def test_castling_rights_make_a_position_another_one():
    game = Game("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    for move in ("Kd1", "Kd8", "Ke1", "Ke8") * 2:
        game.play(move)
    assert game.repetitions() == 2  # the first time White could still castle


def test_fifty_moves_can_be_claimed_and_seventy_five_end_the_game():
    game = Game("7k/8/8/8/8/8/8/KR6 w - - 99 80")
    assert game.claimable_draws() == []
    assert game.claimable_draws("Rb2") == [Termination.FIFTY_MOVES]
    game.play("Rb2")
    assert game.claimable_draws() == [Termination.FIFTY_MOVES]
    assert game.outcome is None
    game = Game("7k/8/8/8/8/8/8/KR6 w - - 149 99")
    game.play("Rb2")
    assert game.outcome == Outcome(None, Termination.SEVENTY_FIVE_MOVES)
    with pytest.raises(GameOver):
        game.play("Kg8")


def test_a_capture_into_a_dead_position_ends_the_game():
    game = Game("8/8/8/8/8/8/2k5/Kn6 b - - 0 1")
    assert game.outcome == Outcome(None, Termination.INSUFFICIENT_MATERIAL)
    with pytest.raises(GameOver, match="neither side can checkmate"):
        game.play("Kc3")


def test_nothing_can_be_claimed_once_the_game_is_over():
    game = game_of(SHUFFLE * 2)
    game.resign()
    assert game.claimable_draws() == []
    mate = Game("7k/5Q2/6K1/8/8/8/8/8 w - - 99 80")
    assert mate.claimable_draws("Qg7#") == []
    assert mate.claimable_draws("Qf8#") == []
    assert mate.claimable_draws("Qe7") == [Termination.FIFTY_MOVES]


# --- endings by people ---


def test_resignation():
    game = game_of("e4")
    assert game.resign() == Outcome(Color.WHITE, Termination.RESIGNATION)
    assert (game.status, str(game.outcome)) == (Status.RESIGNATION, "White wins: Black resigned")
    for act in (game.resign, game.agree_draw, game.claim_draw, game.forfeit_on_time):
        with pytest.raises(GameOver):
            act()
    game.undo()
    assert game.outcome is None
    assert Game().resign("black") == Outcome(Color.WHITE, Termination.RESIGNATION)
    assert Game().resign(Color.WHITE).winner is Color.BLACK


def test_agreement():
    game = Game()
    assert str(game.agree_draw()) == "draw by agreement"
    assert game.status is Status.DRAW


def test_running_out_of_time_loses_unless_the_opponent_cannot_mate():
    game = Game()
    assert game.forfeit_on_time().winner is Color.BLACK
    assert (game.status, str(game.outcome)) == (Status.TIME_FORFEIT, "Black wins on time")
    game = Game("4k3/8/8/8/8/8/8/QQQ1K3 w - - 0 1")
    outcome = game.forfeit_on_time()
    assert outcome == Outcome(None, Termination.TIME_FORFEIT)
    assert game.status is Status.DRAW
    assert "cannot win" in str(outcome)


def test_a_referee_may_end_a_game():
    game = Game()
    game.end(Outcome(Color.BLACK, Termination.UNKNOWN))
    assert (game.status, game.result, str(game.outcome)) == (Status.ENDED, "0-1", "Black wins")
    with pytest.raises(GameOver):
        game.end(Outcome(None, Termination.UNKNOWN))


# --- undo ---

THROUGH_EVERY_SPECIAL_MOVE = [
    ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", ("O-O", "O-O-O")),
    ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", ("exd6", "Kd7")),
    ("3r4/4P2k/8/8/8/8/8/4K3 w - - 5 60", ("exd8=Q", "Kg7")),
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", ("e4", "d5", "exd5", "Qxd5")),
]


@pytest.mark.parametrize(("fen", "moves"), THROUGH_EVERY_SPECIAL_MOVE)
def test_undo_restores_everything(fen, moves):
    game = Game(fen)
    seen = []
    for move in moves:
        seen.append((game.position.fen(), game.position.key(), game.repetitions()))
        game.play(move, source="someone")
    for before in reversed(seen):
        assert game.undo() in game.position.legal_moves()
        assert (game.position.fen(), game.position.key(), game.repetitions()) == before
    assert game.plies == ()
    assert game.line.notes == {}
    with pytest.raises(NothingToUndo, match="no move to take back"):
        game.undo()


# --- clocks ---


def test_thinking_is_charged_and_undo_gives_it_back():
    game = Game(time_control="60+2")
    game.play("e4", elapsed=timedelta(seconds=10))
    game.play("e5", elapsed=timedelta(seconds=1))
    assert game.clock.remaining(Color.WHITE) == timedelta(seconds=52)
    assert game.clock.remaining(Color.BLACK) == timedelta(seconds=61)
    assert [ply.clock for ply in game.plies] == [timedelta(seconds=52), timedelta(seconds=61)]
    game.undo()
    assert game.clock.remaining(Color.BLACK) == timedelta(seconds=60)
    game.undo()
    assert game.clock.remaining(Color.WHITE) == timedelta(seconds=60)


def test_a_move_made_too_late_loses():
    game = Game(time_control="60")
    with pytest.raises(GameOver, match="Black wins on time"):
        game.play("e4", elapsed=timedelta(seconds=61))
    assert game.plies == ()
    assert game.status is Status.TIME_FORFEIT


def test_an_ending_can_be_taken_back_alone():
    game = Game()
    game.resign()
    game.reopen()
    assert game.outcome is None
    game = Game(time_control="10")
    game.play("e4")
    with pytest.raises(GameOver):
        game.play("e5", elapsed=timedelta(seconds=11))
    assert game.clock.is_flagged(Color.BLACK)
    game.reopen()
    assert (len(game.plies), game.outcome) == (1, None)
    assert not game.clock.is_flagged(Color.BLACK)


def test_a_game_without_time_control_has_no_clock():
    assert Game().clock is None


def test_a_claiming_move_is_named_once():
    # Two positions that occurred twice differ by a castling right alone.
    moves = "Nf3 Nc6 Ng1 Nb8 Rh2 Nc6 Rh1 Nb8 Nf3 Nc6 Ng1 Nb8 Nf3 Nc6 Ng1"
    game = game_of(moves, start="rn2k3/8/8/8/8/8/8/4K1NR w K - 0 1")
    assert [move.uci() for move in game.claiming_moves()] == ["c6b8"]


def test_plies_are_those_of_the_game_as_it_is_now():
    game = Game()
    game.play("e4")
    game.play("e5")
    before = game.plies
    assert game.plies == before  # the same objects, not made again
    game.undo()
    game.undo()
    game.play("d4")
    game.play("d5")
    assert [ply.san for ply in game.plies] == ["d4", "d5"]
    assert [ply.san for ply in before] == ["e4", "e5"]
    game.line.note(0).comment = "a remark made afterwards"
    assert [ply.comment for ply in game.plies] == ["a remark made afterwards", ""]


def test_a_clock_that_starts_after_an_opening_knows_nothing_of_it():
    game = Game()
    for move in ("e4", "e5", "Nf3"):
        game.play(move)
    game.start_clock(TimeControl.parse("2/60+5:30"))
    assert game.clock == Clock.start(TimeControl.parse("2/60+5:30"))
    game.play("Nc6", elapsed=timedelta(seconds=10))
    assert game.clock.remaining(Color.BLACK) == timedelta(seconds=55)
    assert game.clock.moves_to_go(Color.BLACK) == 1
    for _ in range(4):
        game.undo()
    assert game.clock == Clock.start(TimeControl.parse("2/60+5:30"))


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (
            Outcome(Color.WHITE, Termination.RULES_INFRACTION),
            "White wins: Black made no legal move",
        ),
        (Outcome(Color.BLACK, Termination.ADJUDICATION), "Black wins by adjudication"),
        (Outcome(None, Termination.ADJUDICATION), "draw by adjudication"),
        (Outcome(None, Termination.MAX_PLIES), "draw: the match is as long as it may be"),
    ],
)
def test_what_a_referee_decides_is_a_sentence(outcome, sentence):
    assert str(outcome) == sentence


@pytest.mark.parametrize(
    ("winner", "termination"),
    [(None, Termination.RULES_INFRACTION), (Color.WHITE, Termination.MAX_PLIES)],
)
def test_a_referee_does_not_contradict_itself(winner, termination):
    with pytest.raises(ValueError, match="winner"):
        Outcome(winner, termination)
