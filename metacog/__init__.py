"""The ground: settings, people, teams, agents, the record, mail, and the frame of pages and API.

Imports neither `patterns` nor `reviews`; `heuristics` imports nothing of the rest.
"""

__version__ = "1.0.0"
