"""Spans of time as people type and read them, and time zones by their cities."""
