"""The pages about a team: its people and its settings."""
