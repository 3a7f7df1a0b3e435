"""The forms on which people write lessons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from metacog.accounts.forms import ShownField, StoredForm
from metacog.models import Agent, Team
from metacog.pages.agent_choice import Choice
from patterns.lessons.lessons import NotDone, read_topics
from patterns.models import Lesson

EACH = "each-"  # and a team's number: every agent of it


class LessonForm(StoredForm):
    """What a lesson says, and what calls for it; cleaned, `topics` is a list."""

    text = ShownField(
        label=gettext_lazy("Lesson"),
        max_length=Lesson.MAX_TEXT,
        help_text=gettext_lazy("One sentence to the agent, in the agent's language, read before its next response."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    topics = forms.CharField(
        label=gettext_lazy("Topics"),
        required=False,
        max_length=(Lesson.MAX_TOPIC + 2) * Lesson.MAX_TOPICS,
        help_text=gettext_lazy(
            "Words, separated by commas: responses about them get this lesson first. Leave empty for any topic."
        ),
    )

    def clean_topics(self) -> list[str]:
        try:
            return read_topics(self.cleaned_data["topics"])
        except NotDone as error:
            raise ValidationError(str(error)) from None


class NewLessonForm(LessonForm):
    """A lesson that a person writes for one agent, or for each of a team."""

    field_order = ["whose", "text", "topics"]

    def __init__(self, agents: Choice, teams: Sequence[Team], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._agents = {agent.public_id: agent for agent in agents.named}
        self._teams = {f"{EACH}{team.pk}": team for team in teams}
        choices = [(public_id, agents.name_of(agent)) for public_id, agent in self._agents.items()]
        choices += [(key, _("all agents of %(team)s") % {"team": team}) for key, team in self._teams.items()]
        self.fields["whose"] = forms.ChoiceField(label=_("For"), choices=choices)
        self.order_fields(self.field_order)

    def whose(self) -> tuple[Team, Agent | None]:
        """Return the team and, unless it is for each, the agent that were chosen."""
        chosen = self.cleaned_data["whose"]
        agent = self._agents.get(chosen)
        return (agent.team, agent) if agent else (self._teams[chosen], None)
