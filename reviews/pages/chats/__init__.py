"""Chats that decide: what comes in from them, who is whom there, and how an owner sets one up."""
