"""Signs of life of what runs in the background."""

from __future__ import annotations

from django.db import models


class Heartbeat(models.Model):
    """When a part that runs in the background was last seen to work; /readyz reads it."""

    name = models.CharField(max_length=20, unique=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
