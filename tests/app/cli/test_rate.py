"""`kibitz rate` and `kibitz sprt`, as people run them."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main
from tests.support.processes import HANGS_AFTER

KIBITZ = Path(sys.executable).with_name("kibitz")
THREE = "opponent_elo,wins,draws,losses\n800,7,1,2\n1000,5,2,3\n1200,2,1,7\n"


def kibitz(*arguments, given=""):
    """Run `kibitz` in this process, with streams of its own."""
    data = given if isinstance(given, bytes) else given.encode()
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(KIBITZ), *map(str, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    out.flush()
    err.flush()
    printed = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(arguments, code, *printed)


def answer(*arguments, given=""):
    run = kibitz(*arguments, "--json", given=given)
    assert (run.returncode, run.stderr) == (0, "")
    return json.loads(run.stdout)


# --- kibitz rate ---


def test_results_are_rated(tmp_path):
    file = tmp_path / "results.csv"
    file.write_text(THREE)
    data = answer("rate", file)
    assert data["elo"] == pytest.approx(1028.276, abs=0.0005)
    assert data["standard_error"] == pytest.approx(70.167, abs=0.0005)
    assert data["sandwich_error"] == pytest.approx(64.655, abs=0.0005)
    assert data["low"] == pytest.approx(890.59, abs=0.005)
    assert data["high"] == pytest.approx(1167.54, abs=0.005)
    assert (data["games"], data["points"], data["bound"]) == (30, 16.0, None)
    assert (data["wins"], data["draws"], data["losses"]) == (14, 4, 12)


def test_standard_input_is_read_with_a_byte_order_mark():
    assert answer("rate", "-", given=b"\xef\xbb\xbf" + THREE.encode()) == answer(
        "rate", "-", given=THREE
    )


def test_a_real_process_does_the_same(tmp_path):
    file = tmp_path / "results.csv"
    file.write_text(THREE)
    run = subprocess.run(
        [KIBITZ, "rate", file], capture_output=True, text=True, timeout=HANGS_AFTER, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == kibitz("rate", file).stdout


def test_people_get_a_table(tmp_path):
    file = tmp_path / "results.csv"
    file.write_text("opponent,opponent_elo,opponent_elo_se,colour,wins,draws,losses\n"
                    "stockfish:5,985,30,w,7,1,2\nstock\x1bfish,1320,0,,1,0,4\n")  # fmt: skip
    out = kibitz("rate", file).stdout
    assert "stockfish:5" in out
    assert "985 ± 30" in out
    assert "white" in out
    assert "\x1b" not in out
    assert "8.5 points of 15 games" in out
    assert "95 % interval" in out


@pytest.mark.parametrize(("counts", "text"), [("10,0,0", "> 1536 Elo"), ("0,0,10", "< 864 Elo")])
def test_who_scored_everything_or_nothing_gets_a_bound(counts, text):
    given = f"opponent_elo,wins,draws,losses\n1200,{counts}\n"
    data = answer("rate", "-", given=given)
    assert data["standard_error"] is None
    assert data["bound"] == ("lower" if text[0] == ">" else "upper")
    assert data["elo"] == pytest.approx(1535.6 if text[0] == ">" else 864.4, abs=0.05)
    out = kibitz("rate", "-", given=given).stdout
    assert text in out
    assert f"a {data['bound']} bound by the likelihood ratio (2 ln L = -2.7055)" in out
    assert "confidence" not in out  # which would be another bound, nearer by 150


def test_counts_may_be_written_as_pandas_writes_them():
    given = THREE.replace("7,1,2", "7.0,1.0,2.0")
    assert answer("rate", "-", given=given) == answer("rate", "-", given=THREE)


def test_millions_of_games_against_an_uncertain_opponent_are_rated():
    given = "opponent_elo,wins,draws,losses,opponent_elo_se\n1000,0,80509052,0,1000000\n"
    assert answer("rate", "-", given=given)["margin"] == pytest.approx(1_959_974, rel=1e-6)


def test_white_has_an_advantage():
    given = "opponent_elo,wins,draws,losses,colour\n-122.27,0,33,0,black\n"
    data = answer("rate", "-", "--white-advantage", "35", given=given)
    assert data["elo"] == pytest.approx(-87.27, abs=0.005)
    assert data["wald_margin"] == pytest.approx(118.54, abs=0.005)
    assert data["white_advantage"] == 35
    assert answer("rate", "-", given=given)["elo"] == pytest.approx(-122.27)


def test_the_errors_of_opponents_ratings_widen_the_interval():
    header, *rows = THREE.split()
    given = "\n".join([header + ",opponent_elo_se", *(row + ",50" for row in rows)])
    sure, unsure = answer("rate", "-", given=THREE), answer("rate", "-", given=given)
    assert unsure["margin"] > sure["margin"] + 5
    for name in ("elo", "standard_error", "sandwich_error"):
        assert unsure[name] == pytest.approx(sure[name], abs=1e-9)


def test_what_is_not_used_is_said():
    given = "opponent_elo,wins,draws,losses,date\n1200,1,1,1,monday\n"
    run = kibitz("rate", "-", "--json", "--white-advantage", "30", given=given)
    assert run.returncode == 0
    assert json.loads(run.stdout)["elo"] == pytest.approx(1200)
    assert run.stderr.splitlines() == [
        "kibitz: the column 'date' of standard input is not used",
        "kibitz: --white-advantage changes nothing where no colour is given",
    ]


def test_glicko_2_on_request():
    given = "opponent_elo,opponent_elo_se,wins,draws,losses\n" + (
        "1400,30,1,0,0\n1550,100,0,0,1\n1700,300,0,0,1\n"
    )
    options = ("rate", "-", "--system", "glicko2", "--deviation", "200")
    data = answer(*options, given=given)
    assert data["rating"] == pytest.approx(1464.0507, abs=5e-5)
    assert data["deviation"] == pytest.approx(151.5165, abs=5e-5)
    assert data["volatility"] == pytest.approx(0.0599960, abs=5e-8)
    assert (data["games"], data["points"]) == (3, 1.0)
    assert "1464.1 Glicko-2, deviation 151.5" in kibitz(*options, given=given).stdout


REFUSED = [
    (("rate", "-"), "", "kibitz: standard input: it is empty\n"),
    (("rate", "-"), "opponent_elo,wins,draws,losses\n800,1,2\n",
     "kibitz: line 2 of standard input: there are 3 fields for 4 columns\n"),
    (("rate", "-"), "opponent_elo,wins,draws,losses\n800,7.5,0,0\n",
     "kibitz: line 2 of standard input: wins must be a whole number of games, not '7.5'\n"),
    (("rate", "-"), "opponent_elo,wins,draws,losses\n800,0,0,0\n",
     "kibitz: a rating needs at least one game\n"),
    (("rate", "-"), b"\xff\xfe", "kibitz: standard input: it is not text in UTF-8\n"),
    (("rate", "/nowhere.csv"), "",
     "kibitz: '/nowhere.csv' cannot be read: No such file or directory\n"),
    (("rate", "/"), "", "kibitz: '/' cannot be read: Is a directory\n"),
    (("rate", "-", "--white-advantage", "nan"), THREE,
     "kibitz: the advantage of White must be a number of Elo points, not nan\n"),
    (("rate", "-", "--system", "glicko2", "--volatility", "-1"), THREE,
     "kibitz: the volatility must be between 0 and 10, not -1\n"),
    (("sprt", "--results", "1,2"), "",
     "kibitz: the counts of results cannot be: there must be 3 (games) or 5 (pairs), not 2\n"),
    (("sprt", "--results", "0,0,0"), "",
     "kibitz: the counts of results cannot be: nothing was played\n"),
    (("sprt", "--results", "1,2,3", "--bounds", "50,0"), "",
     "kibitz: the bounds 50 and 0 cannot be: the first must be the lower one\n"),
    (("sprt", "--results", "1,2,3", "--alpha", "1"), "",
     "kibitz: alpha and beta must be between 0 and 1 and together less than 1, not 1 and 0.05\n"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "given", "sentence"), REFUSED)
def test_a_mistake_gets_one_sentence(arguments, given, sentence):
    run = kibitz(*arguments, given=given)
    assert (run.returncode, run.stdout, run.stderr) == (2, "", sentence)


@pytest.mark.parametrize(
    "arguments",
    [
        ("rate",),
        ("rate", "-", "--system", "trueskill"),
        ("rate", "-", "--system", "glicko2", "--white-advantage", "35"),
        ("sprt",),
        ("sprt", "--results", "1,x,3"),
        ("sprt", "--results", "1,nan,3"),
        ("sprt", "--results", ""),
        ("sprt", "--results", "1,2,3", "--bounds", "0"),
        ("sprt", "--results", "1,2,3", "--bounds", "0,50,100"),
        ("sprt", "--results", "1,2,3", "--model", "bayes"),
    ],
)
def test_a_misuse_is_explained(arguments):
    run = kibitz(*arguments, given=THREE)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("kibitz: ")
    assert "Traceback" not in run.stderr


# --- kibitz sprt ---


def test_pairs_are_tested():
    data = answer("sprt", "--results", "2,8,20,14,6", "--bounds", "0,50", "--model", "logistic")
    assert data["llr"] == pytest.approx(1.870332, abs=1e-6)
    assert (data["lower_bound"], data["upper_bound"]) == pytest.approx((-2.944439, 2.944439))
    assert data["decision"] is None
    assert data["elo"] == pytest.approx(48.9626, abs=1e-4)
    assert data["elo_margin"] == pytest.approx(49.5052, abs=1e-4)
    assert data["los"] == pytest.approx(0.976054, abs=1e-6)
    assert data["nelo"] == pytest.approx(68.7338, abs=1e-4)
    assert (data["games"], data["results"], data["bounds"]) == (100, [2, 8, 20, 14, 6], [0, 50])


def test_games_are_tested_with_bounds_below_zero():
    data = answer("sprt", "--results", "10, 20, 30", "--bounds", "-3,1", "--model", "normalized")
    assert data["model"] == "normalized"
    assert data["llr"] > 0


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        ("10,20,30", "H1 is accepted: 50 Elo"),
        ("30,20,10", "H0 is accepted: 0 Elo"),
        ("10,20,12", "Not decided yet: play on."),
    ],
)
def test_people_are_told_the_decision(results, sentence):
    run = kibitz("sprt", "--results", results, "--bounds", "0,50")
    assert run.returncode == 0
    assert sentence in run.stdout.splitlines()


@pytest.mark.parametrize("results", ["0,0,100", "0,0,7,0,0"])
def test_results_that_are_all_the_same_tell_no_elo(results):
    told = kibitz("sprt", "--results", results).stdout
    assert "all results the same" in told
    assert "LOS" not in told
    assert answer("sprt", "--results", results)["elo_margin"] is not None
