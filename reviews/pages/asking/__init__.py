"""The page of who is asked about a team's held items."""
