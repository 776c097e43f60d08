"""Evaluations of strength: who played whom, from which openings, and what ratings follow."""
