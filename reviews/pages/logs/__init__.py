"""The pages about logs that people upload."""
