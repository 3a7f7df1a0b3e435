"""Intervals and measures of agreement."""
