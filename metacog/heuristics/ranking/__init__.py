"""What is learned from decisions."""
