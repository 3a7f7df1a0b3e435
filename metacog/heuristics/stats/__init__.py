"""Intervals, measures of agreement, and the gate that an order must pass."""
