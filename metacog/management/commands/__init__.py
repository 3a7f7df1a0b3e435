"""Commands for processes, agents, the record and back-ups."""
