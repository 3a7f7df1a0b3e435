"""The page of a session: one line of time, kept up to date while it is open; and the same as a file."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from metacog.heuristics.tool_calls.pack import workspace_of
from metacog.http.sealed import opened, sealed
from metacog.models import Agent, Policy
from metacog.pages.unknown_filters import unknown_filters
from reviews.held.filters import word
from reviews.pages.person import PersonRequest
from reviews.presentation.sessions import files
from reviews.presentation.sessions.line import Row, facts, of_kind, rows_of, signature
from reviews.presentation.sessions.posts import Post, posts_of
from reviews.records import effect_names
from reviews.records.sessions import SHOW, Asked, Page, Session

MOST_OPEN = 60  # items that a page asks after at once
FORMATS = {"md": "text/markdown", "json": "application/json"}


@require_safe
def show(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Show a session from its beginning, or around the post that `at` names; with htmx, what follows `after`."""
    if "session" not in request.GET:
        return redirect("agent-day", agent_id)
    session = _session(request, agent_id)
    asked, unknown = _asked(request)
    page = session.page(asked)
    posts = list(of_kind(posts_of(page.rows), asked))
    shown = _shown(session, asked, page, rows_of(posts, request.user))
    if request.htmx and asked.after:
        return render(request, "reviews/_session_more.html", shown)
    summary = session.summary()
    if summary is None:
        raise Http404
    kept = {name: value for name, value in (("show", asked.show), ("effect", asked.effect)) if value}
    return render(
        request,
        "reviews/session.html",
        shown
        | {
            "summary": summary,
            "facts": facts(summary),
            "has_no_workspace": any(part.is_outside for post in posts for part in post.parts)
            and not workspace_of(_packs(session.agent)),
            "pills": [(name, title, _address(session, show=name)) for name, (title, _) in SHOW.items()],
            "effects": effect_names.choices(),
            "asked": asked,
            "last": shown["last"] or summary.last,
            "all_url": _address(session),
            "first_url": _address(session, **kept),
            "latest_url": _address(session, at=summary.last) + f"#{summary.last}",
            "earlier_url": _address(session, **kept, before=page.rows[0].public_id)
            if page.has_earlier and page.rows
            else "",
            "files": [(form, f"{_of(session, 'session-export')}&{urlencode({'format': form})}") for form in FORMATS],
            "day_url": f"{reverse('agent-day', args=[session.agent.public_id])}?"
            + urlencode({"day": timezone.localtime(summary.last_at).date().isoformat()}),
            "unknown_filters": unknown,
            "section": "responses",
        },
    )


@require_safe
def changes(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Give what a page at the end of a session lacks since `after`, and what changed of items that it has `open`."""
    session = _session(request, agent_id)
    asked, _ = _asked(request)
    known = " ".join(request.GET.getlist("open")).split()[-MOST_OPEN:]
    ids = [each.partition(".")[0][:40] for each in known]
    parts = [(post, held) for post in posts_of(session.named(ids)) for held in post.held]
    changed = {post.id: post for post, held in parts if held.public_id in ids and signature(held) not in known}
    last = _last(session, asked)
    page = session.page(asked) if last else Page([])
    new = list(of_kind(posts_of(page.rows), asked, last))
    if not (changed or page.rows):
        return HttpResponse(status=204)
    context = _shown(session, asked, page, rows_of(new, request.user, before=last))
    summary = session.summary()
    context["facts"] = facts(summary) if summary else ()
    context["changed"] = [row for post in changed.values() for row in rows_of([post], request.user)]
    return render(request, "reviews/_session_changes.html", context)


def _packs(agent: Agent) -> list[dict[str, Any]]:
    policy = Policy.objects.filter(agent=agent, version=agent.policy_version)
    return next(iter(policy.values_list("packs", flat=True)), [])


def _last(session: Session, asked: Asked) -> Post | None:
    """Return the post after which a page asks for more; None: it asks for none, or there is none of that id."""
    rows = session.every().filter(public_id=asked.after) if asked.after else ()
    return next(iter(posts_of(list(rows))), None)


@require_safe
def export(request: PersonRequest, agent_id: str) -> StreamingHttpResponse:
    """Send the whole session as one file."""
    session, form = _session(request, agent_id), request.GET.get("format", "md")
    if form not in FORMATS or not session.rows.exists():
        raise Http404
    chunks = files.as_markdown(session, request.user) if form == "md" else files.as_json(session)
    return StreamingHttpResponse(
        chunks,
        content_type=f"{FORMATS[form]}; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="session-{timezone.now():%Y-%m-%d}.{form}"',
            "Cache-Control": "no-store",
        },
    )


def _session(request: PersonRequest, agent_id: str) -> Session:
    """Return the session that an address names, of an agent of the person's own teams."""
    seen = Agent.objects.filter(team__in=request.user.teams_as()).select_related("team")
    agent = get_object_or_404(seen, public_id=agent_id)
    return Session(agent, opened(request.GET.get("session", ""))[:255])


def _asked(request: PersonRequest) -> tuple[Asked, list[str]]:
    asked = {name: word(request.GET, name) for name in Asked._fields}
    unknown = unknown_filters(request.GET, show=SHOW, effect=effect_names.NAMES)
    asked["show"] = asked["show"] if asked["show"] in SHOW else ""
    asked["effect"] = asked["effect"] if asked["effect"] in effect_names.NAMES else ""
    return Asked(**asked), unknown


def _of(session: Session, name: str) -> str:
    return f"{reverse(name, args=[session.agent.public_id])}?{urlencode({'session': sealed(session.name)})}"


def _address(session: Session, **asked: str) -> str:
    given = {name: value for name, value in asked.items() if value}
    return _of(session, "session") + (f"&{urlencode(given)}" if given else "")


def _shown(session: Session, asked: Asked, page: Page, rows: list[Row]) -> dict[str, Any]:
    kept = {"show": asked.show, "effect": asked.effect}
    given = {name: value for name, value in kept.items() if value}
    return {
        "session": session,
        "rows": rows,
        "at": asked.at,
        "next_url": _address(session, **kept, after=page.after) if page.after else "",
        "changes_url": _of(session, "session-changes") + (f"&{urlencode(given)}" if given else ""),
        "last": page.rows[-1].public_id if page.rows else asked.after,
    }
