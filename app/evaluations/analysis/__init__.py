"""Analysis: what Stockfish thinks of the games that were played, and of what was advised."""
