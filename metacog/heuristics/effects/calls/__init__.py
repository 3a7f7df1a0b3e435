"""Whole tool calls: what a tool's name says, which of its arguments is what, and what both together would do."""
