"""How tool calls are shown: what they change in files, what an edit changes in them, and why they wait."""
