"""How people and chats are told: channels, mail and chat. What is said in a notice is `reviews.outbox`'s."""
