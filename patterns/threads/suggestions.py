"""Keep the threads that agents' last cycles suggest (seed 001), for people to make or dismiss."""

from __future__ import annotations

from django.db import transaction

from metacog.audit import audit
from metacog.models import Agent, AgentState, User
from patterns.models import ThoughtThread, ThreadSuggestion
from patterns.threads import texts

MAX_TOPIC = ThreadSuggestion.MAX_TOPIC


def refresh(agent: Agent) -> None:
    """Write down what the agent's last cycles suggest now. One that was dismissed stays so while its topic lasts."""
    state = AgentState.objects.get(pk=agent.pk)
    found = texts.suggestion(agent, state)
    known = ThreadSuggestion.objects.filter(agent=agent)
    topic = found.topic[:MAX_TOPIC] if found else ""
    if found is None:
        known.delete()
    elif not known.filter(topic=topic).update(cycles=found.cycles):
        ThreadSuggestion.objects.update_or_create(
            agent=agent, defaults={"topic": topic, "cycles": found.cycles, "is_dismissed": False}
        )


def dismiss(suggestion: ThreadSuggestion, actor: User) -> bool:
    """Say that a suggested thread is not wanted; return whether that was still open."""
    return _set(suggestion, actor, "thread-suggestion-dismissed", is_dismissed=True)


def take_up(suggestion: ThreadSuggestion, actor: User) -> bool:
    """Take back that a suggested thread is not wanted; return whether it was dismissed."""
    return _set(suggestion, actor, "thread-suggestion-restored", is_dismissed=False)


def _set(suggestion: ThreadSuggestion, actor: User, action: str, *, is_dismissed: bool) -> bool:
    with transaction.atomic():
        row = ThreadSuggestion.objects.filter(pk=suggestion.pk, topic=suggestion.topic, is_dismissed=not is_dismissed)
        changed = row.update(is_dismissed=is_dismissed)
        if changed:
            agent = suggestion.agent
            audit.record(action, agent.public_id, actor=actor, team=agent.team_id, agent=agent)
    return bool(changed)


def done_with_draft(thread: ThoughtThread, actor: User) -> bool:
    """Say that the article which a resolved thread proposes was looked at; return whether it still waited."""
    with transaction.atomic():
        changed = ThoughtThread.objects.filter(pk=thread.pk, has_draft=True).update(has_draft=False)
        if changed:
            agent = thread.agent
            audit.record("thread-article-done", thread.public_id, actor=actor, team=agent.team_id, agent=agent)
    return bool(changed)
