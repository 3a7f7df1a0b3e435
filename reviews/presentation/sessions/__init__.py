"""What pages and files tell of an agent's sessions: one of them post by post, a day of them, the last days in lines."""
