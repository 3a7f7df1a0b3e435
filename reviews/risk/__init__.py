"""What people decide, learned: an order of risk, a review budget, and why an item stands where it does."""
