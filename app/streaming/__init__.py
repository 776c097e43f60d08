"""Streams: the event log of a match, or of all of them, sent to any number of watchers."""
