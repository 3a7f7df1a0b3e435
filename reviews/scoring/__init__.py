"""Scoring with what is stored: an agent's history, replay of a verdict, preview of a policy."""
