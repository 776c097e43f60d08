"""Whoever can fill a seat. Knows the rules (`engine`), but nothing of HTTP or databases."""
