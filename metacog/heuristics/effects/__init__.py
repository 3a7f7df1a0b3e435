"""What a tool call would do, to what, and where: its arguments read as commands, SQL, paths, addresses and amounts."""
