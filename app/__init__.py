"""The service: matches, persistence, streams, evaluation, HTTP, the page, the command line."""
