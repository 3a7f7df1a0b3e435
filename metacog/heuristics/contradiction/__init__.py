"""Statements that cannot both hold, and corrections by people."""
