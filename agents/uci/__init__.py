"""UCI engines, such as Stockfish, as players and as analysts: programs run beside us."""
