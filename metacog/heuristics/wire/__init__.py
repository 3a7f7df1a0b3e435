"""The shapes that go in and out: posted bodies, and verdicts."""
