"""What near-duplicates have in common, and what they differ in."""
