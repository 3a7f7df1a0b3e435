"""What a team knows: error patterns, lessons, memory and thought threads. Imports `metacog`, never `reviews`."""
