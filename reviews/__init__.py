"""What agents post and people decide. Imports `patterns` and `metacog`."""
