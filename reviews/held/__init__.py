"""Held items: the list, decisions, who looks at what. Nothing here knows of HTTP."""
