"""Let new knowledge teach: what it contradicts becomes the proposal of an error pattern (product H10)."""

from __future__ import annotations

from metacog import audit
from metacog.heuristics.contradictions import contradicts
from patterns.memory import open_conflicts
from patterns.models import ErrorPattern, Memory, MemoryConflict
from reviews.learning import propose
from reviews.models import PatternOrigin
from reviews.teaching import in_words


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
    said = found.first.text if found.first else conflict.older.text
    propose(
        conflict.newer.team,
        keywords=[said.strip().rstrip(".!。；; ")],
        description=in_words(PatternOrigin.Kind.MEMORY, found.second.text, conflict.newer.agent),
        source=ErrorPattern.Source.EXTERNAL,
        kind=PatternOrigin.Kind.MEMORY,
        row=conflict.newer.public_id,
        said=said,
        told=found.second.text,
        actor=actor,
    )
