"""Keyboard: what a person writes or presses, on a terminal or through a pipe."""
