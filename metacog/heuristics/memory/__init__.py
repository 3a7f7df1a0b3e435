"""What is kept and found again: recall, lessons, thought threads, reflection, research, requests for more calls."""
