// The page begins here: its parts are made known, and the view at the address is shown.

import "./core/connection.js";
import "./core/header.js";
import { route, start } from "./core/router.js";
import "./lobby/lobby_view.js";
import "./lobby/start_match_view.js";
import "./match/match_view.js";
import "./evaluations/evaluations_view.js";
import "./evaluations/evaluation_view.js";
import "./evaluations/start_evaluation_view.js";
import "./evaluations/leaderboard_view.js";
import "./evaluations/compare_view.js";

// In the order in which they are tried; the service knows the same addresses (`app/http/page.py`).
route("/", "lobby-view");
route("/new", "start-match-view");
route("/matches/{match_id}", "match-view");
route("/evaluations", "evaluations-view");
route("/evaluations/new", "start-evaluation-view");
route("/evaluations/{evaluation_id}", "evaluation-view");
route("/leaderboard", "leaderboard-view");
route("/compare", "compare-view");

start();
