"""Logs that other programs keep of agents: read, scored as if each turn had been posted, reported, kept if wanted."""
