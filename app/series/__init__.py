"""Series: games that two players play in this process, one after another or side by side."""
