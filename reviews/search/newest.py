"""The newest responses of some agents, however many others posted since."""

from __future__ import annotations

from django.db.models import OuterRef, QuerySet, Subquery

from metacog.models import Agent
from reviews.models import AgentResponse


def newest(rows: QuerySet[AgentResponse], agents: QuerySet[Agent], most: int) -> list[int]:
    """Return the primary keys of the newest of `rows` of these agents, read along each agent's index; two queries.

    Narrow `rows` by primary key alone: any other condition would be looked for row by row.
    """
    of_agent = rows.filter(agent=OuterRef("pk")).order_by("-pk").values("pk")
    found = dict(agents.order_by().annotate(nth=Subquery(of_agent[most - 1 : most])).values_list("pk", "nth"))
    # Whoever has so many alone has them from there on: what is older is not among the newest of all.
    since = max((pk for pk in found.values() if pk), default=0)
    # Not in order: to be given them so, SQLite would read all teams' rows from the end.
    pks = rows.filter(agent__in=list(found), pk__gte=since).order_by().values_list("pk", flat=True)
    return sorted(pks, reverse=True)[:most]
