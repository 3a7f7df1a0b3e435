"""Whether an agent goes round in circles, and the brief for a fresh start."""
