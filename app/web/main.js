// The page begins here: its parts are made known, and the view at the address is shown.

import "./core/connection.js";
import "./core/header.js";
import { route, start } from "./core/router.js";

// In the order in which they are tried; the service knows the same addresses (`app/http/page.py`).
route("/", "lobby-view", () => import("./lobby/lobby_view.js"));
route("/new", "start-match-view", () => import("./lobby/start_match_view.js"));
route("/matches/{match_id}", "match-view", () => import("./match/match_view.js"));
route("/evaluations", "evaluations-view", () => import("./evaluations/evaluations_view.js"));
route("/evaluations/new", "start-evaluation-view", () => import("./evaluations/start_evaluation_view.js"));
route("/evaluations/{evaluation_id}", "evaluation-view", () => import("./evaluations/evaluation_view.js"));
route("/leaderboard", "leaderboard-view", () => import("./evaluations/leaderboard_view.js"));
route("/compare", "compare-view", () => import("./evaluations/compare_view.js"));

start();
