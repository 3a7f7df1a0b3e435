"""What is owed to agents and people: callbacks and notices, written with the change and sent by sweeps."""
