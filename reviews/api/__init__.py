"""What agents call: posting responses, decisions, memory, investigations, research. Imports anything but `pages`
and `presentation`.
"""
