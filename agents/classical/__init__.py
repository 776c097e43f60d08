"""The offline team: specialists that decide by search and evaluation, without any model."""
