"""What the service of evaluations tells: manifests, reports, answers, analyses, and refusals."""

import json
from decimal import Decimal

import pytest
from structlog.testing import capture_logs

from agents.player import Decision
from app.catalogue import make_catalogue
from app.evaluations.errors import TooManyEvaluations, UnplayablePlan
from app.evaluations.plan import read_plan
from app.matches.errors import KeyReused
from app.matches.openings import OPENINGS, Opening
from app.settings import Settings
from engine import Color, Termination, read_games
from tests.support.evaluating import QUICK, evaluating, hurry
from tests.support.model_server import Hangs, ModelServer
from tests.support.players import RESIGNS, ScriptedPlayer
from tests.support.team_matches import GOOD, MODEL, PROVIDER, solo

pytestmark = pytest.mark.asyncio

MATE = '6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id "back rank"; c0 "difficulty=400.0 se=50.0";'
BLACK_MATES = 'r5k1/5ppp/8/8/8/8/5PPP/6K1 b - - bm Ra1#; id "other back rank";'
DUEL = {"kind": "duel", "agents": ["strong", "weak"], "games": 2, **QUICK}


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    hurry(monkeypatch)
    with capture_logs():
        yield


async def test_positions_are_asked_and_judged(database_url, tmp_path):
    def guesser(seed):
        return ScriptedPlayer("Ra8", "Ra1", name="guesser")

    def babbler(seed):
        return ScriptedPlayer(*["e9"] * 3, name="babbler")

    players = {"guesser": guesser, "babbler": babbler}
    async with evaluating(database_url, tmp_path, players) as play:
        evaluation_id = await play.start(
            kind="positions",
            agents=["guesser", "babbler"],
            positions=[MATE, BLACK_MATES],
            match={"illegal_moves": {"retries": 1}},
        )
        record = await play.finished(evaluation_id)
        assert record.detail == "all 2 positions were asked"
        data = await play.evaluations.data(evaluation_id)
        assert not data.games
        answers = {(each.agent, each.position_id): each for each in data.answers}
        assert len(answers) == 4
        first = answers["guesser", "back rank"]
        assert (first.answer, first.is_right, first.side.plies) == ("a1a8", True, 1)
        assert (first.difficulty, first.difficulty_se) == (400.0, 50.0)
        # Each position has a player of its own. In the second, Ra8 is illegal, and Ra1 mates.
        second = answers["guesser", "other back rank"]
        assert (second.answer, second.is_right, second.side.illegal) == ("a8a1", True, 1)
        assert second.difficulty is None
        refused = answers["babbler", "back rank"]
        assert (refused.answer, refused.is_right, refused.side.unreadable) == (None, False, 2)
        report = await play.evaluations.report(evaluation_id)
        assert json.loads(json.dumps(report, allow_nan=False)) == report
        legality = report["agents"][1]["legality"]
        assert (legality["plies"], legality["turns"]) == (0, 2)
        assert legality["unreadable_per_1000"] == 2000
        # A match of one ply has no result, unless its ply mates.
        asked = list(read_games(await play.evaluations.pgn(evaluation_id)))
        assert [game.result for game in asked] == ["1-0", "*", "0-1", "*"]


async def test_an_answer_that_does_not_mate_has_no_result(database_url, tmp_path):
    async with evaluating(database_url, tmp_path) as play:
        evaluation_id = await play.start(kind="positions", agents=["strong"], positions=[MATE])
        await play.finished(evaluation_id)
        (game,) = read_games(await play.evaluations.pgn(evaluation_id))
        assert (len(game.plies), game.result) == (1, "*")
        assert (game.tags["White"], game.tags["Black"]) == ("strong", "nobody")


async def test_players_of_a_pgn_are_told_apart_by_their_limits(database_url, tmp_path):
    async with evaluating(database_url, tmp_path) as play:
        agents = [{"name": "classical", "nodes": nodes} for nodes in (100, 400)]
        plan = {**DUEL, "name": "depth", "agents": agents, "match": {"max_plies": 2}}
        evaluation_id = await play.start(**plan)
        await play.finished(evaluation_id)
        games = list(read_games(await play.evaluations.pgn(evaluation_id)))
        labels = ["classical at 100 nodes", "classical at 400 nodes"]
        assert [game.tags["White"] for game in games] == labels
        assert [game.tags["Black"] for game in games] == labels[::-1]
        assert {game.tags["Event"] for game in games} == {"depth"}
        assert [game.tags["Round"] for game in games] == ["1", "2"]
        played = await play.games(evaluation_id)
        assert [game.tags["MatchId"] for game in games] == [each.match_id for each in played]


# --- money ---

ASKING = {**DUEL, "agents": ["team:one", "random"]}


def with_models(server, database_url, tmp_path):
    folder = tmp_path / "teams"
    folder.mkdir()
    (folder / "one.toml").write_text(solo())
    values = {
        "model": MODEL,
        "teams_folder": folder,
        "providers": {PROVIDER: {"base_url": server.base_url}},
        "data_folder": tmp_path,
        "prices": {MODEL: {"input": 1, "output": 10}},
    }
    catalogue = make_catalogue(Settings(**values))
    return evaluating(database_url, tmp_path, catalogue=catalogue, **values)


async def test_what_games_took_that_do_not_count_is_told(database_url, tmp_path):
    """The first game has two calls; the second is broken off while its second call hangs."""
    async with (
        ModelServer([GOOD, GOOD, GOOD, Hangs()]) as server,
        with_models(server, database_url, tmp_path) as play,
    ):
        evaluation_id = await play.start(**ASKING, match={"max_plies": 4}, concurrency=1)
        await server.received(4)
        await play.evaluations.cancel(evaluation_id)
        report = await play.evaluations.report(evaluation_id)
        games = await play.games(evaluation_id)
        assert [game.status for game in games] == ["scored", "void"]
        counted, spent = report["agents"][0]["usage"], report["spent"]
        assert counted["calls"] == 2
        assert spent["void"]["calls"] >= 1
        for unit in ("calls", "tokens"):
            assert spent[unit] == counted[unit] + spent["void"][unit]
        costs = [Decimal(each["cost_usd"]) for each in (spent, counted, spent["void"])]
        assert costs[0] == costs[1] + costs[2]
        assert costs[2] > 0
        (note,) = (note for note in report["notes"] if note["code"] == "broken_off")
        assert "1 game was broken off as the evaluation was cancelled" in note["text"]


async def test_a_game_that_the_budget_broke_off_is_no_fault(database_url, tmp_path, monkeypatch):
    monkeypatch.setattr("app.evaluations.costs.MOVES", 5)
    async with ModelServer(GOOD) as server, with_models(server, database_url, tmp_path) as play:
        # Twice as long as a game is thought to be.
        plan = {**ASKING, "match": {"max_plies": 20}, "budget": {"calls": 6}}
        evaluation_id = await play.start(**plan)
        record = await play.finished(evaluation_id)
        report = await play.evaluations.report(evaluation_id)
        assert report["counts"]["void_games"] == 1
        spent = report["spent"]
        void = spent.pop("void")
        assert void == spent
        assert spent["calls"] == 6
        told = json.loads(record.progress)["spent"]
        assert (told["calls"], told["tokens"]) == (spent["calls"], spent["tokens"])
        assert Decimal(told["cost_usd"]) == Decimal(spent["cost_usd"]) > 0
        assert "void_games" not in [note["code"] for note in report["notes"]]
        (note,) = (note for note in report["notes"] if note["code"] == "broken_off")
        assert note["text"] == "1 game was broken off since the budget was spent, and not scored."


async def test_games_are_told_with_all_that_happened_in_them(database_url, tmp_path):
    def clumsy(seed):
        return ScriptedPlayer("e2e5", "nonsense", "e4", RESIGNS, name="clumsy")

    async with evaluating(database_url, tmp_path, {"clumsy": clumsy}) as play:
        plan = {**DUEL, "agents": ["clumsy", "strong"], "openings": "table"}
        plan["match"] = {"illegal_moves": {"retries": 3}}
        evaluation_id = await play.start(**plan)
        await play.finished(evaluation_id)
        data = await play.evaluations.data(evaluation_id)
        assert [game.number for game in data.games] == [1, 2]
        assert [game.pair for game in data.games] == [1, 1]
        one, other = data.games
        assert one.opening == other.opening != ""
        assert one.opening_plies > 0
        side = one.side(one.color_of("clumsy"))
        assert side.illegal + side.unreadable >= 2
        assert side.unreadable >= 1
        assert side.calls == 0
        games = list(read_games(await play.evaluations.pgn(evaluation_id)))
        assert [game.tags["Round"] for game in games] == ["1", "2"]


async def test_forfeits_are_told_apart(database_url, tmp_path):
    def mute(seed):
        return ScriptedPlayer(*[Decision(None)] * 9, name="mute")

    async with evaluating(database_url, tmp_path, {"mute": mute}) as play:
        plan = {**DUEL, "agents": ["mute", "strong"], "match": {"illegal_moves": {"retries": 0}}}
        evaluation_id = await play.start(**plan)
        await play.finished(evaluation_id)
        data = await play.evaluations.data(evaluation_id)
        assert {game.termination for game in data.games} == {Termination.RULES_INFRACTION}
        assert all(game.is_forfeit for game in data.games)
        assert [game.winner for game in data.games] == [Color.BLACK, Color.WHITE]


async def test_games_are_analysed_within_the_nodes_there_are(database_url, tmp_path):
    """Of six short games, as many are analysed as fit; the others are left out, and it ends."""
    async with evaluating(database_url, tmp_path) as play:
        plan = {
            **DUEL,
            "agents": ["random", "strong"],
            "games": 6,
            "match": {"max_plies": 4},
            "analysis": {"nodes": 100, "most_nodes": 1_300},
        }
        evaluation_id = await play.start(**plan)
        record = await play.finished(evaluation_id)
        data = await play.evaluations.data(evaluation_id)
        assert len(data.games) == 6
        # A game of four plies has five positions.
        assert len(data.analyses) == 2
        assert json.loads(record.progress)["analysed"] == 2
        assert sum(each.searches * 100 for each in data.analyses.values()) <= 1_300


async def test_generated_openings_are_the_same_for_the_same_seed(database_url, tmp_path):
    async with evaluating(database_url, tmp_path) as play:
        openings = []
        for seed in (5, 5, 6):
            plan = {
                **DUEL,
                "seed": seed,
                "openings": {"source": "balanced", "plies": 4, "nodes": 200},
            }
            evaluation_id = await play.start(**plan)
            await play.finished(evaluation_id)
            one, other = (await play.evaluations.data(evaluation_id)).games
            assert one.opening == other.opening
            assert one.opening_plies == 4
            openings.append(one.opening)
        assert openings[0] == openings[1] != openings[2]


async def test_chess960_is_evaluated_from_one_start_for_a_pair(database_url, tmp_path):
    async with evaluating(database_url, tmp_path) as play:
        evaluation_id = await play.start(**{**DUEL, "variant": "chess960", "games": 4})
        await play.finished(evaluation_id)
        games = (await play.evaluations.data(evaluation_id)).games
        starts = [game.opening for game in games]
        assert starts[0] == starts[1] != starts[2] == starts[3]


async def test_a_manifest_tells_what_it_was_made_with(database_url, tmp_path):
    async with evaluating(database_url, tmp_path) as play:
        plan = {"kind": "pool", "agents": ["weak", {"name": "stockfish:8", "nodes": 50}], **QUICK}
        plan |= {"anchors": ["stockfish:1"], "seed": 77, "match": {"max_plies": 2}}
        started = await play.evaluations.create(read_plan(plan), client="test")
        manifest = json.loads(started.record.manifest)
        assert manifest["seed"] == 77
        assert manifest["kibitz"]
        assert manifest["python"]
        (engine,) = manifest["engines"]
        assert engine["title"].startswith("Stockfish")
        assert engine["digest"].startswith("sha256:")
        assert [each["label"] for each in manifest["players"]] == [
            "weak",
            "stockfish:8 at 50 nodes",
            "stockfish:1",
        ]
        assert manifest["anchors"][0]["elo"] < 500
        assert manifest["plan_digest"].startswith("sha256:")
        assert manifest["openings"] == {"source": "none"}
        await play.evaluations.cancel(started.record.id)


async def test_a_manifest_tells_openings_by_their_digest(database_url, tmp_path, monkeypatch):
    async with evaluating(database_url, tmp_path) as play:

        async def openings(how):
            plan = read_plan({**DUEL, "openings": how})
            started = await play.evaluations.create(plan, client="test")
            await play.evaluations.cancel(started.record.id)
            return json.loads(started.record.manifest)["openings"]

        table = await openings("table")
        assert (table["source"], table["lines"]) == ("table", len(OPENINGS))
        assert table["digest"].startswith("sha256:")
        assert await openings("table") == table
        other = (*OPENINGS[:-1], Opening("Grob", "A00", ("g4", "d5")))
        monkeypatch.setattr("app.evaluations.manifest.OPENINGS", other)
        assert (await openings("table"))["digest"] != table["digest"]
        made = {"source": "balanced", "plies": 6, "window": 30, "nodes": 200}
        assert await openings(made) == made


async def test_the_same_request_starts_one_evaluation(database_url, tmp_path):
    async with evaluating(database_url, tmp_path) as play:
        plan = read_plan(DUEL)

        async def create(digest, key="key"):
            return await play.evaluations.create(
                plan, client="me", idempotency_key=key, request_digest=digest
            )

        first, again = await create("a"), await create("a")
        assert (first.is_repeated, again.is_repeated) == (False, True)
        assert first.record.id == again.record.id
        with pytest.raises(KeyReused):
            await create("b")
        assert (await create("b", "other")).record.id != first.record.id


async def test_a_client_has_so_many_evaluations_open_and_no_more(database_url, tmp_path):
    def thinker(seed):
        return ScriptedPlayer(name="thinker")

    players = {"thinker": thinker}
    async with evaluating(
        database_url, tmp_path, players, max_evaluations_per_client=2, concurrent_evaluations=1
    ) as play:
        plan = {**DUEL, "agents": ["thinker", "strong"]}
        first = await play.start(**plan)
        second = await play.start(**plan)
        with pytest.raises(TooManyEvaluations):
            await play.start(**plan)
        await play.until(first, lambda it: it.status == "running")
        # One is conducted at a time; the other waits for its turn.
        assert (await play.evaluations.find(second)).status == "created"
        await play.evaluations.cancel(first)
        await play.until(second, lambda it: it.status == "running")
        await play.evaluations.cancel(second)
        newest = await play.evaluations.list(None, None, 10)
        assert [record.id for record in newest] == [second, first]
        assert await play.evaluations.list("running", None, 10) == []


async def test_a_plan_that_cannot_be_played_starts_nothing(database_url, tmp_path):
    async with evaluating(database_url, tmp_path) as play:
        for plan, field in (
            ({**DUEL, "agents": ["strong", "nobody"]}, "agents"),
            ({**DUEL, "variant": "kings-cooking", "agents": ["random", "stockfish:1"]}, "agents"),
            ({**DUEL, "match": {"max_plies": 1}, "openings": "table"}, "match.max_plies"),
        ):
            with pytest.raises(UnplayablePlan) as caught:
                await play.start(**plan)
            assert caught.value.field == field
        assert await play.evaluations.list(None, None, 10) == []
