"""Standings: who is whom on the leaderboard of a database."""

from app.evaluations.reports.standings import identities_of


def manifest(digest, **player):
    return {
        "engines": [{"name": "stockfish", "digest": digest}],
        "players": [{"label": "the level", "name": "stockfish:5", **player}],
    }


def identity(digest, **player):
    return identities_of(manifest(digest, **player))["the level"]


def test_a_level_is_another_player_by_another_stockfish():
    assert identity("sha256:1") == identity("sha256:1")
    assert identity("sha256:1") != identity("sha256:2")
    assert identity("sha256:1") != identity("sha256:1", nodes=100)


def test_prices_do_not_make_another_player():
    cheap, dear = ({"a/b": {"input": price}} for price in ("1", "2"))
    assert identity("sha256:1", models=cheap) == identity("sha256:1", models=dear)
    assert identity("sha256:1", models=cheap) != identity("sha256:1", models={"a/c": None})
