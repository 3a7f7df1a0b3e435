"""Chats in which people decide: what one can do, Slack and Telegram, and how a team sets one up."""
