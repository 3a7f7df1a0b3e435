"""Let new knowledge teach: what it contradicts becomes the proposal of an error pattern (product H10)."""

from __future__ import annotations

from metacog import audit
from metacog.heuristics.contradictions import contradicts
from patterns.memory import open_conflicts
from patterns.models import ErrorPattern, Memory
from reviews.learning import propose
from reviews.models import PatternOrigin


def teach(memory: Memory, actor: audit.Actor) -> None:
    """Propose, as an error pattern, the sentence that a confirmed memory contradicts most surely.

    Call it in the transaction that lets the memory in.
    """
    if memory.state != Memory.State.CONFIRMED:
        return
    conflict = open_conflicts().filter(newer=memory).order_by("-confidence", "pk").first()
    found = contradicts(conflict.older.text, memory.text) if conflict else None
    if conflict is None or found is None:
        return
    said = found.first.text if found.first else conflict.older.text
    propose(
        memory.team,
        keywords=[said.strip().rstrip(".!。；; ")],
        description=f"{memory.public_id}: {found.second.text}",
        source=ErrorPattern.Source.EXTERNAL,
        kind=PatternOrigin.Kind.MEMORY,
        row=memory.public_id,
        said=said,
        told=found.second.text,
        actor=actor,
    )
