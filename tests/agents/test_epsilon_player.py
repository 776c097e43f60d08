"""The player that now and then plays any legal move: how often, which, and how to repeat it."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence

import pytest

from agents.epsilon_player import EpsilonPlayer
from agents.player import Advice, Candidate, Decision, Turn
from engine import VARIANTS, Game, Move

#: Beyond so many standard deviations it is no bad luck any more: one run in 1.7 million.
Z = 5


class Clockwork:
    """Plays the last legal move in the order of the alphabet, and counts how often it is asked."""

    name = "clockwork"

    def __init__(self) -> None:
        self.asked = 0

    async def decide(self, turn: Turn) -> Decision:
        self.asked += 1
        move = max(turn.position.legal_moves(), key=Move.uci)
        return Decision(move, (Advice(self.name, (Candidate(move, "as ever"),)),))


def shuffle(plies: int, start: str | None = None) -> list[Turn]:
    """Return so many turns of one game, in which knights go to and fro."""
    game = Game(start)
    for number in range(plies):
        # By itself a game would end with the fifth repetition.
        move = Move.from_uci(("g1f3", "g8f6", "f3g1", "f6g8")[number % 4])
        game.line.append(move, game.position.play(move))
    return [Turn(game.start, game.plies[:number]) for number in range(plies)]


TURNS = shuffle(1000)


def decisions(player: EpsilonPlayer, turns: Sequence[Turn] = TURNS) -> list[Decision]:
    async def main() -> list[Decision]:
        return [await player.decide(turn) for turn in turns]

    return asyncio.run(main())


def is_random(decision: Decision) -> bool:
    return decision.advice[0].candidates[0].reason == "at random"


def at_random(found: Sequence[Decision]) -> dict[int, Move]:
    """Return the plies that were played at random, and what was."""
    return {ply: each.move for ply, each in enumerate(found) if is_random(each)}


# --- how often, and which ---


@pytest.mark.parametrize("epsilon", [0, 0.1, 0.45, 0.6, 0.95, 1])
@pytest.mark.parametrize("seed", [0, -7, 2**64 + 1, None])
def test_the_share_of_random_moves_is_epsilon(epsilon, seed):
    other = Clockwork()
    found = decisions(EpsilonPlayer(other, epsilon, seed))
    count = len(at_random(found))
    expected = epsilon * len(TURNS)
    assert abs(count - expected) <= Z * math.sqrt(expected * (1 - epsilon))
    assert other.asked == len(TURNS) - count


def test_any_legal_move_is_as_likely():
    turns = TURNS[0::4]  # the same position, at different plies
    moves = Counter[Move]()
    for seed in range(40):
        moves.update(each.move for each in decisions(EpsilonPlayer(Clockwork(), 1, seed), turns))
    legal = turns[0].position.legal_moves()
    expected = moves.total() / len(legal)
    bound = Z * math.sqrt(expected * (1 - 1 / len(legal)))
    assert set(moves) == set(legal)
    assert all(abs(count - expected) <= bound for count in moves.values())


@pytest.mark.parametrize("variant", VARIANTS)
def test_its_moves_are_legal_in_every_variant(variant):
    async def main() -> Game:
        game = Game(variant=variant, claims_draws=True)
        player = EpsilonPlayer(Clockwork(), 0.5, seed=3)
        while not game.is_over and len(game.line) < 200:
            game.play((await player.decide(Turn.of(game))).move)
        return game

    assert len(asyncio.run(main()).plies) > 4


# --- what it tells ---


def test_it_is_one_with_the_other_player():
    player = EpsilonPlayer(Clockwork(), 0.5, seed=1)
    found = decisions(player)
    assert player.name == "clockwork"
    for turn, decision in zip(TURNS, found, strict=True):
        (advice,) = decision.advice
        (candidate,) = advice.candidates
        assert (advice.by, candidate.move) == ("clockwork", decision.move)
        if not is_random(decision):
            assert decision == asyncio.run(Clockwork().decide(turn))


def test_what_the_other_player_raises_goes_on():
    class Broken(Clockwork):
        async def decide(self, turn: Turn) -> Decision:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        decisions(EpsilonPlayer(Broken(), 0, seed=1), TURNS[:1])
    assert decisions(EpsilonPlayer(Broken(), 1, seed=1), TURNS[:1])


# --- repeating it ---


def test_a_seed_repeats_it():
    once, twice, other = (decisions(EpsilonPlayer(Clockwork(), 0.3, seed)) for seed in (8, 8, 9))
    assert once == twice
    assert at_random(once).keys() != at_random(other).keys()


def test_a_seed_means_the_same_on_every_machine_and_in_every_version():
    # Whatever Python does with hashes and orders: a match of last year can be played again.
    found = decisions(EpsilonPlayer(Clockwork(), 0.3, seed=2026), TURNS[:12])
    assert {ply: move.uci() for ply, move in at_random(found).items()} == {
        0: "b2b4", 2: "b1a3", 3: "a7a6", 4: "h2h3", 6: "e2e3", 8: "g1f3",
    }  # fmt: skip


ORDERS = {
    "backwards": list(reversed(range(40))),
    "each three times": [ply for ply in range(40) for _ in range(3)],
    "from the middle": [*range(20, 40), *range(20)],
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_it_depends_on_the_ply_and_not_on_what_was_asked_before(order):
    expected = decisions(EpsilonPlayer(Clockwork(), 0.5, seed=4), TURNS[:40])
    found = decisions(EpsilonPlayer(Clockwork(), 0.5, seed=4), [TURNS[ply] for ply in order])
    assert found == [expected[ply] for ply in order]


def test_when_it_is_random_does_not_depend_on_the_position():
    others = shuffle(100, "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1")
    one, other = (
        decisions(EpsilonPlayer(Clockwork(), 0.5, seed=4), turns) for turns in (TURNS[:100], others)
    )
    assert at_random(one).keys() == at_random(other).keys()


def test_without_a_seed_nobody_knows_it():
    one, other = (decisions(EpsilonPlayer(Clockwork(), 0.5)) for _ in range(2))
    assert at_random(one).keys() != at_random(other).keys()


def test_without_a_seed_a_turn_can_be_retried():
    player = EpsilonPlayer(Clockwork(), 0.5)
    assert decisions(player, TURNS[:100]) == decisions(player, TURNS[:100])


# --- what is no chance ---


@pytest.mark.parametrize("epsilon", [-0.01, 1.01, math.nan, math.inf, -math.inf])
def test_a_chance_is_from_0_to_1(epsilon):
    with pytest.raises(ValueError, match=r"a chance is from 0 to 1, not "):
        EpsilonPlayer(Clockwork(), epsilon)
