"""Where Django finds the admin of lessons, memories and threads. That of error patterns is in reviews."""

from patterns.lessons.admin import LessonAdmin
from patterns.memory.admin import MemoryAdmin
from patterns.threads.admin import ThreadAdmin

__all__ = ["LessonAdmin", "MemoryAdmin", "ThreadAdmin"]
