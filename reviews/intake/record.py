"""What the audit log says of a post."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from metacog.audit import audit
from metacog.heuristics.wire.assessment import Assessment
from metacog.models import Agent, AuditEvent
from reviews.models import AgentResponse

_DONE = {"hold": "held", "mark": "marked", "note": "noted", "reject": "denied"}


def events_of(agent: Agent, response: AgentResponse, verdict: Assessment, held: Collection[str]) -> list[AuditEvent]:
    """Return the record of what happened: the response, then each item that did not simply pass.

    `held` are the ids of the items that are new. The actions are the seed's words (`chat-held`), and score, signals and
    cycle those of its log.
    """
    hesitation = verdict["hesitation"]
    versions: dict[str, Any] = {
        "policy": response.policy_version,
        "patterns": response.patterns_version,
        "engine": response.engine,
        "cycle": response.cycle,
    }
    if hesitation:
        versions["score"] = hesitation["score"]
        versions["signals"] = [signal["type"] for signal in hesitation["signals"] if signal["weight"]]

    def event(action: str, object_id: str, after: str, **data: Any) -> AuditEvent:
        return audit.event(
            action, object_id, actor=agent, team=agent.team_id, agent=agent, after=after, **versions, **data
        )

    events = [event("response-accepted", response.public_id, "accepted", body_sha256=response.body_sha256)]
    events += [event(name, response.public_id, "accepted") for name in verdict["events"]]
    for item in verdict["items"]:
        if item["disposition"] == "hold" and item["held"] not in held:
            continue  # asked for again
        if done := _DONE.get(item["disposition"]):
            events.append(
                event(
                    audit.of_item(item["kind"], done),
                    item["held"] or response.public_id,
                    "pending" if done == "held" else done,
                    index=item["index"],
                    **({"waits_for": item["waits_for"]} if item.get("waits_for") else {}),
                )
            )
        elif item["recognised"]:
            by = {"grant": item["grant"]} if "grant" in item else {}
            events.append(
                event(
                    audit.of_item(item["kind"], "grant-used" if by else "recognised"),
                    response.public_id,
                    "passed",
                    index=item["index"],
                    held=item["recognised"],
                    **by,
                )
            )
    return events
