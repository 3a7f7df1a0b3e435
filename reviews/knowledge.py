"""Let new knowledge teach: what it contradicts becomes the proposal of an error pattern (product H10)."""

from __future__ import annotations

from metacog import audit
from metacog.heuristics.contradictions import contradicts
from patterns.memory import open_conflicts
from patterns.models import Memory, MemoryConflict
from reviews.learning import propose
from reviews.teaching import denied


def surest(memory: Memory) -> MemoryConflict | None:
    """Return the surest contradiction of a new memory that nobody has settled; none while it waits itself."""
    if memory.state != Memory.State.CONFIRMED:
        return None
    return open_conflicts().filter(newer=memory).order_by("-confidence", "pk").first()


def teach(conflict: MemoryConflict | None, actor: audit.Actor) -> None:
    """Propose, as an error pattern, the sentence that new knowledge contradicts; in the caller's transaction."""
    found = contradicts(conflict.older.text, conflict.newer.text) if conflict else None
    if conflict is None or found is None:
        return
    newer = conflict.newer
    propose(newer.team, **denied(conflict.older.text, found, newer.agent), row=newer.public_id, actor=actor)
