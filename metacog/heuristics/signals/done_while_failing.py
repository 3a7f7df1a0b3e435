"""A claim that something is done, in a step in which a command or tests failed."""

from ..text.spans import Span
from .spec import Evidence, SignalSpec, gettext_noop


def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
    if not evidence.done:
        return None
    return f"says “{evidence.done[0].text}” while {evidence.failing}", evidence.done


SPEC = SignalSpec(
    type="done-while-failing",
    order=80,
    weight=30,
    sees=("done",),
    find=find,
    title=gettext_noop("Claims to be done while it fails"),
    color="done",
    speaks="something is said to be done (*done*, *fixed*, 完成) in a step whose `command_failed` is true, or with "
    "`tests` that fail",
    evidence="every such claim, in chats and memories beside the response too",
    details=((r"says “(?P<words>.*)” while (?P<failing>.+)", gettext_noop("says “%(words)s” while %(failing)s")),),
)
