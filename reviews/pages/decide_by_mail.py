"""The page behind a link in a mail: opening it shows, posting decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from metacog.models import Role
from reviews.held import decisions
from reviews.models import DecisionVerdict, HeldItem
from reviews.outbox import notification_texts
from reviews.outbox.mail_links import Link, path, read
from reviews.pages import call_desk
from reviews.pages.deciding import approvals_of, reason_form, reason_given, wants_answer, why_not
from reviews.presentation.calls import answer_form
from reviews.presentation.explanation import RECORD_OF, apart_from_score, explain, response_flags
from reviews.presentation.marks import marked
from reviews.records import reasons
from reviews.serializers import hesitation_for_people

State = HeldItem.State
VIA = "mail"

View = Callable[[HttpRequest, Link], HttpResponse]


def of_link(view: View) -> Callable[[HttpRequest, str, str], HttpResponse]:
    """Read the link, see that its person may still decide, and speak their language.

    No cookie plays a part, so that there is nothing for another site to ride on: a browser that is told to send no
    referrer sends no origin either, and Django's check of it would refuse every form.
    """

    @csrf_exempt  # no cookie plays a part, as said above; the signed address is what allows it
    @login_not_required
    @never_cache
    @wraps(view)
    def answer(request: HttpRequest, held_id: str, token: str) -> HttpResponse:
        link = read(held_id, token, timezone.now())
        if link is None:
            response = _page(request, status=404)
        else:
            with notification_texts.spoken_to(link.person, translation.get_language()):
                if link.person.has_role(link.held.team_id, Role.REVIEWER) and link.held.team.mail_links:
                    response = view(request, link)
                else:
                    response = _page(request, link, shut=True, status=403)
        response["Referrer-Policy"] = "no-referrer"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@of_link
def by_mail(request: HttpRequest, link: Link) -> HttpResponse:
    """Show the item a mail told of; decide it as the form says."""
    if request.method != "POST":
        return _page(request, link)
    verdict = request.POST.get("verdict", "")
    reason = reason_given(request, link.held.agent) if verdict == DecisionVerdict.REJECT else ""
    if problem := why_not(verdict, None, reason):
        return _page(request, link, problem=problem, given=reason_form(request), status=422)
    is_answer = verdict == DecisionVerdict.ANSWER and link.held.kind == HeldItem.Kind.QUESTION
    answered = answer_form.read(link.held, request.POST) if is_answer else None
    if answered and answered.errors:
        problem = gettext("Nothing was decided: the answer is not complete or not valid yet.")
        return _page(request, link, problem=problem, answered=answered, status=422)
    try:
        decisions.decide_or_approve(
            link.held,
            link.person,
            verdict,
            edit=decisions.Answer(answered.value) if answered else None,
            reason=reason,
            circumstances=decisions.Circumstances(link.version, request.POST.get("sha256", ""), via=VIA),
        )
    except decisions.Standing:
        link.held.refresh_from_db()
        return _page(request, link, conflict=True, given=reason_form(request), status=409)
    except decisions.WantsAnswer:
        return _page(request, link, problem=wants_answer(), status=422)
    except decisions.NotApprover:
        return _page(request, link, status=403)  # the page says who must
    return redirect(path(link))


@require_POST
@of_link
def undo_by_mail(request: HttpRequest, link: Link) -> HttpResponse:
    """Take back what was decided by this link, and show the item again, under a new one that ends no later."""
    decision = link.held.decisions.filter(person=link.person, item_version=link.version, undone_at=None).first()
    approval = link.held.approvals.filter(person=link.person, ended_at=None).select_related("held").first()
    if decision is None and approval and decisions.withdraw_approval(approval, VIA):
        link.held.refresh_from_db()
        return redirect(path(replace(link, version=link.held.version)))
    if decision is None or not decisions.undo(decision, link.person, VIA):
        return _page(request, link, too_late=decision is not None, status=409)
    link.held.refresh_from_db()
    return redirect(path(replace(link, version=link.held.version)))


def _page(request: HttpRequest, link: Link | None = None, *, status: int = 200, **shown: Any) -> HttpResponse:
    # Whoever may be signed in here is not who decides: the page is nobody's but the link's.
    context: dict[str, Any] = {"user": AnonymousUser(), "link": link, **shown}
    if link and not shown.get("shut"):
        context |= _item(link, shown.get("answered"))
    return render(request, "reviews/by_mail.html", context, status=status)


def _item(link: Link, answered: answer_form.Posted | None = None) -> dict[str, Any]:
    held, now = link.held, timezone.now()
    verdict, body = held.response.wire_verdict(), held.response.wire_body()
    hesitation = hesitation_for_people(held, verdict, body)
    is_call = held.kind == HeldItem.Kind.TOOL_CALL
    standing = held.decisions.select_related("person", "agent").filter(undone_at=None).first()
    can_undo = bool(
        standing
        and (standing.person, standing.item_version) == (link.person, link.version)
        and standing.can_be_undone(now)
    )
    return {
        "held": held,
        "hesitation": hesitation,
        "parts": explain(hesitation, held.response.signals.select_related("pattern__record"), held.agent_id)
        if hesitation
        else [],
        "record_of": f"{RECORD_OF:,}",
        "text": None if is_call else marked(held, verdict, body),
        "apart_from_score": () if is_call else apart_from_score(held),
        **(call_desk.shown(held) if is_call else {}),
        "asked": answer_form.shown(held, answered, standing) if held.kind == HeldItem.Kind.QUESTION else None,
        "response_flags": response_flags(verdict),
        "user_message": body.get("user_message"),
        "standing": standing,
        "can_undo": can_undo,
        "can_decide": held.state == State.PENDING and held.version == link.version,
        "approvals": approvals_of(held, link.person),
        "presets": reasons.PRESETS.items(),
        "item_url": reverse("item", args=[held.public_id]),
        "path": path(link),
        "undo_path": f"{path(link)}/undo",
    }
