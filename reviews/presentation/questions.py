"""How the question whether a message was a correction is put before people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from metacog.db.prepared import written_once
from metacog.heuristics.contradiction.corrections import SURE
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Role, User
from reviews.models import AgentResponse, PatternOrigin, PossibleCorrection

MOST_SHOWN = 4_000  # characters of each text


class Question(NamedTuple):
    """A question as a page shows it."""

    row: PossibleCorrection
    said_before: str
    message: str
    is_erased: bool
    can_answer: bool
    was_taken: bool  # by the detector; told only once it is answered, as it would sway who answers
    taught: PatternOrigin | None  # what it taught, by its answer or by the detector
    at: str  # where it stands: the id of the response on whose page, "to-do", or nothing on the page of all questions

    @property
    def is_listed(self) -> bool:
        return self.at in ("", "to-do")


def about(user: User, response: AgentResponse) -> list[Question]:
    """Return what is asked about a response: about its message, and whether it was corrected by the one after it."""
    return shown(user, _about([team.pk for team in user.teams], response.pk), at=response.public_id)


@written_once
def _about(teams: Any, response: Any) -> QuerySet[PossibleCorrection]:
    rows = PossibleCorrection.objects.filter(Q(response=response) | Q(before=response), agent__team__in=teams)
    return whole(rows.exclude(answer=PossibleCorrection.Answer.GONE).order_by("id"))


def shown(user: User, rows: Sequence[PossibleCorrection], at: str = "") -> list[Question]:
    """Return questions as the page `at` shows them."""
    taught, found = {}, []
    if answered := [row.response.public_id for row in rows if row.answer]:
        origins = PatternOrigin.objects.filter(kind=PatternOrigin.Kind.CORRECTION, row__in=answered)
        taught = {origin.row: origin for origin in origins.select_related("pattern")}
    for row in rows:
        before, body = row.before.wire_body(), row.response.wire_body()
        found.append(
            Question(
                row,
                masked_text(before["response"])[:MOST_SHOWN],
                masked_text(body.get("user_message") or "")[:MOST_SHOWN],
                bool(row.before.erased_at or row.response.erased_at),
                user.has_role(row.agent.team_id, Role.REVIEWER),
                row.confidence >= SURE,
                taught.get(row.response.public_id),
                at,
            )
        )
    return found


def visible(user: User) -> QuerySet[PossibleCorrection]:
    return whole(PossibleCorrection.objects.filter(agent__team__in=user.teams_as()))


def whole(rows: QuerySet[PossibleCorrection]) -> QuerySet[PossibleCorrection]:
    return rows.select_related("agent__team", "response", "before", "person")
