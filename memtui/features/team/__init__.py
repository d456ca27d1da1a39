"""Teams: shared state on a PostgreSQL server."""
