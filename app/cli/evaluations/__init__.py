"""Evaluations, as `kibitz eval` starts, shows and finds them."""
