"""Readers of what other programs log, a module a format, and the turns that they read it into."""
