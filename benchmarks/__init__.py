"""Benchmarks: how fast the project's parts are, beside something well known."""
