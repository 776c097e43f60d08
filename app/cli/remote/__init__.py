"""Remote: a service of Kibitz over HTTP, as a terminal asks and watches it."""
