"""Django's SQLite backend, with what several processes on one file need."""
