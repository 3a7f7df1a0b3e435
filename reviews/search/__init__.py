"""Search in what is stored, and the newest responses of some agents."""
