"""Reports: what an evaluation found, as data, as a page and as tables; the leaderboard of all."""
