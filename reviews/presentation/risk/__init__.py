"""The learned risk, as pages tell of it."""
