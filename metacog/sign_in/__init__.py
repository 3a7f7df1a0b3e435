"""How people sign in: throttling, second factors, providers and their groups. May import accounts, audit and models."""
