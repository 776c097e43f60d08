"""Completion: what a shell is answered when somebody presses Tab."""
