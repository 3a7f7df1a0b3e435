"""Lessons: proposed, confirmed, given to agents; their forms and admin."""
