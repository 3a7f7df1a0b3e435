"""What agents call about error patterns and thought threads."""
