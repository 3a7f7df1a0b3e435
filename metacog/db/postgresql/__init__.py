"""Django's PostgreSQL backend, with fewer messages to the server for each request."""
