"""Processes: how a command runs, is asked to end by signals, and leaves nothing behind."""
