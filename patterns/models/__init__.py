"""What lasts about an agent and what its team curates; a module for each subject."""

from patterns.models.errors import (
    MAX_KEYWORD_LENGTH,
    MAX_KEYWORDS,
    MAX_PATTERNS,
    ErrorPattern,
    PatternInForce,
    PatternRecord,
    keyword_problems,
    pattern_id,
    touch,
)
from patterns.models.lessons import Lesson, lesson_id
from patterns.models.memory import Memory, MemoryConflict, MemoryTerm, memory_id
from patterns.models.problems import Problem, ThinkTwice, problem_id
from patterns.models.threads import ThoughtThread, ThreadStep, ThreadSuggestion, thread_id

__all__ = [
    "MAX_KEYWORDS", "MAX_KEYWORD_LENGTH", "MAX_PATTERNS", "ErrorPattern", "Lesson", "Memory", "MemoryConflict",
    "MemoryTerm", "PatternInForce", "PatternRecord", "Problem", "ThinkTwice", "ThoughtThread", "ThreadStep",
    "ThreadSuggestion", "keyword_problems", "lesson_id", "memory_id", "pattern_id", "problem_id", "thread_id", "touch",
]  # fmt: skip
