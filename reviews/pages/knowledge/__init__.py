"""The pages of what is learned: patterns, lessons, memory, reflections, research."""
