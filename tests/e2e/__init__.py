"""Tests of the whole: the service as a process, and its clients."""
