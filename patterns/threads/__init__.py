"""Thought threads: their life, their posts, their Markdown in and out, their forms."""
