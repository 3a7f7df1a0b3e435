"""How good an answer is, and how sure one may be of it."""
