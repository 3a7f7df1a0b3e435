"""Commands for error patterns and threads."""
