"""Boards: what is to be seen of a match in a terminal, drawn or told in lines."""
