"""Show agents' Markdown rendered, with every highlighted character kept."""
