"""What people say about an item, whose it is, and its snooze: a part of the item's page, and the forms in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext
from django.views.decorators.http import require_POST

from metacog.http import undoable
from metacog.http.undoable import Undo
from metacog.models import Role, User
from reviews.asking.words import asked_now
from reviews.held import listing, presence, talk
from reviews.held.filters import FILTERS, Filters
from reviews.models import Comment, HeldItem
from reviews.pages.person import PersonRequest, forbidden, number, visible_item_or_404

MORNING = 9  # o'clock, where the person is


class Preset(NamedTuple):
    """A time to snooze until."""

    value: str
    label: str
    is_too_late: bool  # the item expires before


def of_desk(request: PersonRequest, held: HeldItem) -> dict[str, Any]:
    """Return what the item's page shows of this."""
    now = timezone.now()
    row, members = talk.of(held), talk.members_of(held.team_id)
    may_decide = request.user.has_role(held.team_id, Role.REVIEWER)
    said = talk.comments_of(held)
    is_pending = held.state == HeldItem.State.PENDING
    return {
        "talk": row,
        "talk_version": row.version if row else 0,
        "comments": [
            (each, talk.pieces(each.text, members), talk.may_delete(each, request.user, now)) for each in said
        ],
        "comment_count": sum(not each.deleted_at for each in said),
        "members": list(members),
        "may_comment": may_decide and not held.response.erased_at,
        "may_assign": may_decide and is_pending,
        "assignable": [member for member, decides in members.items() if decides],
        "is_mine": row is not None and row.assignee_id == request.user.pk,
        "is_snoozed": talk.is_snoozed(row, held, now),
        "asked_now": asked_now(held, row),
        "snoozes": _presets(held, now) if may_decide and is_pending else (),
        "snooze_from": timezone.localtime(now).strftime("%Y-%m-%dT%H:%M"),
        "snooze_to": timezone.localtime(held.expires_at).strftime("%Y-%m-%dT%H:%M"),
        "max_comment": talk.MAX_COMMENT,
        "deletable_minutes": int(talk.DELETABLE_FOR.total_seconds()) // 60,
    }


def _presets(held: HeldItem, now: datetime) -> list[Preset]:
    labels = {"hour": gettext("In 1 h"), "tomorrow": gettext("Tomorrow 9:00")}
    return [Preset(value, label, _until(value, now) >= held.expires_at) for value, label in labels.items()]


def _until(preset: str, now: datetime) -> datetime:
    if preset == "hour":
        return now + timedelta(hours=1)
    there = timezone.localtime(now)
    return (there + timedelta(days=1)).replace(hour=MORNING, minute=0, second=0, microsecond=0, fold=0)


@dataclass(frozen=True)
class View:
    """A part of the queue that can be looked at by itself."""

    name: str | Promise
    url: str
    count: int
    is_on: bool


def views(filters: Filters, to_do: Mapping[str, int], person: User) -> list[View]:
    """Return what of what is held is one's own, mentions one, or is snoozed; as far as there is any, or it is shown."""
    me, none, found = str(person.pk), filters.but(**dict.fromkeys(filters.pilled, "")), []
    for field, chosen in filters.pilled.items():
        pills = FILTERS[field].pills
        for value, name in pills.items():
            wanted = value or me
            is_on, count = chosen == wanted, to_do.get(field if len(pills) == 1 else f"{field}_{value}", 0)
            shown = none if is_on else none.in_list("held", **{field: wanted})
            if is_on or (count and filters.state == "held"):
                found.append(View(name, reverse("queue") + shown.query, count, is_on))
    others = [FILTERS[field].others for field, chosen in filters.pilled.items() if chosen not in ("", me)]
    return [*found, *(View(name, reverse("queue") + none.query, 0, True) for name in others if name)]


@require_POST
def comment(request: PersonRequest, held_id: str) -> HttpResponse:
    """Say something about an item."""
    held = visible_item_or_404(request, held_id)
    if not request.user.has_role(held.team_id, Role.REVIEWER) or held.response.erased_at:
        return forbidden(request)
    text = request.POST.get("text", "")
    try:
        _made, unknown = talk.comment(held, request.user, text)
    except talk.Empty:
        return _answer(request, held, wrong=gettext("Nothing was saved. Write something first."), typed=text)
    except talk.TooLong:
        wrong = gettext(
            "A comment has at most %(most)s characters, and an item %(comments)s comments: nothing was saved."
        )
        most = {"most": f"{talk.MAX_COMMENT:,}", "comments": talk.MAX_COMMENTS}
        return _answer(request, held, wrong=wrong % most, typed=text)
    if not unknown:
        return _answer(request, held)
    names = pgettext("list", ", ").join(f"@{name}" for name in unknown[:5])
    note = gettext("Nobody in the team is called %(names)s, so nobody was notified. The comment is saved.")
    return _answer(request, held, note=note % {"names": names})


@require_POST
def comment_delete(request: PersonRequest, held_id: str, comment_id: str) -> HttpResponse:
    """Delete one's own comment."""
    held = visible_item_or_404(request, held_id)
    said = get_object_or_404(Comment.objects.select_related("held__agent"), held=held, public_id=comment_id)
    if said.author != request.user:
        return forbidden(request)
    if talk.delete(said, request.user):
        return _answer(request, held)
    return _answer(request, held, wrong=gettext("Too late to delete it: it may have been answered."))


@require_POST
def assign(request: PersonRequest, held_id: str) -> HttpResponse:
    """Give an item to oneself, to a member, or to nobody."""
    held = visible_item_or_404(request, held_id)
    if not request.user.has_role(held.team_id, Role.REVIEWER):
        return forbidden(request)
    to_me = request.POST.get("me") == "1"
    name = request.user.username if to_me else request.POST.get("assignee", "")[:150].replace("\0", "")
    person = request.user if to_me else User.objects.filter(username=name).first() if name else None
    seen = number(request.POST.get("version", ""))
    try:
        if name and person is None:
            raise talk.MayNotDecide
        done = talk.assign(held, person, request.user, seen if seen >= 0 else None)
        undo = [("assignee", done.before.username if done.before else "")] if done.before != person else []
    except talk.NotPending:
        return _answer(
            request, held, wrong=gettext("The item is no longer held: nothing was assigned."), state_only=True
        )
    except talk.MayNotDecide:
        wrong = gettext("“%(name)s” is not a reviewer of this team. Nothing was assigned.") % {"name": name}
        return _answer(request, held, wrong=wrong, state_only=True)
    note = _told(done, person, request.user)
    return _answer(request, held, note=note, undo=Undo(reverse("assign", args=[held_id]), undo), state_only=True)


def _told(done: talk.Assigned, person: User | None, me: User) -> str:
    """Say whose an item is now, and who had changed that meanwhile."""
    now = (
        gettext("It is assigned to nobody now.")
        if person is None
        else gettext("It is assigned to you now.")
        if person == me
        else gettext("It is assigned to %(person)s now.") % {"person": person}
    )
    if done.overtaken is None:
        return now
    said = {"by": done.overtaken, "before": done.before}
    meanwhile = (
        gettext("%(by)s had assigned it to %(before)s meanwhile.")
        if done.before
        else gettext("%(by)s had unassigned it meanwhile.")
    )
    return gettext("%(meanwhile)s %(now)s") % {"meanwhile": meanwhile % said, "now": now}


@require_POST
def snooze(request: PersonRequest, held_id: str) -> HttpResponse:
    """Snooze an item and go on to the next, or end a snooze."""
    held, filters = visible_item_or_404(request, held_id), Filters.of(request.GET, request.user.teams, request.user.pk)
    if not request.user.has_role(held.team_id, Role.REVIEWER):
        return forbidden(request)
    chosen, now = request.POST.get("until", ""), timezone.now()
    if chosen == "now":
        if talk.wake(held, request.user):
            messages.success(request, gettext("The snooze is over: the item is in the queue again."))
        return _to(held_id, filters)
    until = _until(chosen, now) if chosen in ("hour", "tomorrow") else _moment(request.POST.get("at", ""))
    if until is None:
        return _answer(request, held, wrong=gettext("Nothing was snoozed. Enter a date and a time."), state_only=True)
    try:
        talk.snooze(held, request.user, until)
    except talk.NotPending:
        return _answer(
            request, held, wrong=gettext("The item is no longer held: nothing was snoozed."), state_only=True
        )
    except talk.Past:
        wrong = gettext("That time is in the past: nothing was snoozed.")
        return _answer(request, held, wrong=wrong, state_only=True)
    except talk.PastExpiry:
        wrong = gettext("The item expires before that time, on %(at)s: nothing was snoozed.") % {
            "at": _at(held.expires_at)
        }
        return _answer(request, held, wrong=wrong, state_only=True)
    said = gettext("Snoozed until %(until)s. It still expires on %(expires)s.")
    told = said % {"until": _at(until), "expires": _at(held.expires_at)}
    undoable.say(request, told, reverse("snooze", args=[held_id]), ("until", "now"))
    following = listing.neighbour(filters, request.user.teams, held, presence.of(request.user))
    return _to(following if following != held.public_id else None, filters)


def _moment(typed: str) -> datetime | None:
    """Read what a field for a date and a time sends, in the person's time zone."""
    try:
        return timezone.make_aware(datetime.fromisoformat(typed[:16])) if len(typed) >= 16 else None
    except (ValueError, OverflowError):
        return None


def _at(moment: datetime) -> str:
    local = timezone.localtime(moment)
    return f"{date_format(local, 'DATE_FORMAT')} {local:%H:%M}"


def _to(held_id: str | None, filters: Filters, part: str = "") -> HttpResponse:
    page = reverse("item", args=[held_id]) if held_id else reverse("queue")
    return HttpResponseRedirect(page + filters.query + part)


def _answer(
    request: PersonRequest,
    held: HeldItem,
    *,
    note: str = "",
    undo: Undo | None = None,
    wrong: str = "",
    typed: str = "",
    state_only: bool = False,
) -> HttpResponse:
    """Show the part of the page anew, or the page; with what is to be said."""
    filters = Filters.of(request.GET, request.user.teams, request.user.pk)
    if not request.htmx:
        if undo and undo.fields:
            undoable.say(request, note, undo.path, *undo.fields)
        elif note or wrong:
            (messages.error if wrong else messages.success)(request, wrong or note)
        return _to(held.public_id, filters, "#talk")
    told = {"held": held, "filters": filters, "talk_note": note, "talk_undo": undo, "talk_wrong": wrong, "typed": typed}
    template = "reviews/_talk_state.html" if state_only else "reviews/_talk.html"
    context = of_desk(request, held) | told
    return render(request, template, context, status=422 if wrong else 200)
