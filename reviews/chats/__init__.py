"""Held items as messages of chats in which people decide: what a message says, and the outbox of it."""
