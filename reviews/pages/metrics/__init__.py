"""The pages of figures: statistics, review time, spot checks."""
