"""The record of changes: events written with each change, sealed in a chain, and put into words."""
