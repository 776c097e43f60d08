"""Language models: the port, the calls and what they cost. Knows nothing of chess."""
