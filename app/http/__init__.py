"""The service over HTTP: routes translate requests into calls, and answers and errors into JSON."""
