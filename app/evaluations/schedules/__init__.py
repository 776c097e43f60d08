"""Schedules: which game of an evaluation comes next, for each kind of plan."""
