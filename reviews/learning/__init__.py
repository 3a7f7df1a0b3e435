"""What decisions teach: proposals, records of patterns, backtests, reflections. A sweep behind the writes."""
