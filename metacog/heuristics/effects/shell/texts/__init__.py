"""What a text says by itself, whatever ran before: scripts of sed and awk, what `find` looks for, odd bash."""
