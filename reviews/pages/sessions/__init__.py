"""The pages of an agent's sessions: one of them, and the day that they make."""
