"""Tags and filters of the console's templates; what they say is in `presentation`."""
