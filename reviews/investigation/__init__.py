"""An agent's own second thought: more tool calls, research, the judge, the context of its next cycle."""
