"""Celery's brokers: the file that is one, what is mended in kombu's transport to Redis, and whether one is reached."""
