"""What the console adds to a tool call beside its decision."""
