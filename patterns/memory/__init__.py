"""The team's memory: what is remembered, found, settled; its forms and admin."""
