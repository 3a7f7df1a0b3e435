"""What is done with the queue's list beside reading it: saved views, its export, and a person's own day."""
