"""Chinese dates."""
