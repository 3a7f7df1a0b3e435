"""What a notice says of a webhook that was switched off. It is read when it is sent."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext, ngettext

from metacog.models import Agent, Notice, PersonNotices, Role, User
from metacog.notices import notices
from metacog.notices.mail import Mail
from reviews.models import Delivery, Endpoint, TeamWebhook
from reviews.outbox.deliveries import deliveries_of, mark_of
from reviews.outbox.notification_texts import Letter, NothingNew, Told, at, headers, plain, spoken_to, url


def mail_of(notice: Notice, told: PersonNotices, now: datetime) -> Mail:
    """Return the mail that tells an owner that a webhook is off. Raises NothingNew."""
    person = told.person
    health = _health_for(notice, person)
    with spoken_to(person, told.language):
        letter = _letter(health, person)
        html = render_to_string("reviews/notice.html", {"letter": letter, "language": translation.get_language()})
        text = letter.text
    mail = Mail(letter.subject, text, settings.MAIL_FROM, [person.email], headers=headers(notice, letter.stop_url))
    mail.attach_alternative(html, "text/html")
    return mail


def title_of(notice: Notice, person: User) -> tuple[str, str, str]:
    """Return which webhook is off, why, and the path of the page where it is switched on. Raises NothingNew."""
    health = _health_for(notice, person)
    return _title(health), health.get_off_reason_display(), _place(health).removeprefix(settings.PUBLIC_URL)


def _letter(health: Endpoint | TeamWebhook, person: User) -> Letter:
    to = _to(health)
    kept = deliveries_of(to).exclude(state=Delivery.State.DELIVERED).exclude(body="").count()
    if isinstance(to, TeamWebhook):
        subject = gettext("metacog: the webhook of the team %(name)s was switched off") % _names(health)
    else:
        subject = gettext("metacog: the webhook of the agent %(name)s was switched off") % _names(health)
    assert health.off_at
    counted = ngettext("%(count)s delivery is kept.", "%(count)s deliveries are kept.", kept)
    return Letter(
        subject=subject,
        headline=gettext("A webhook was switched off on %(at)s. Nothing is sent to it any more.")
        % {"at": at(health.off_at)},
        oldest="",
        told=[
            Told(
                title=_title(health),
                reason=health.get_off_reason_display(),
                does="",
                odd="",
                since=counted % {"count": f"{kept:,}"} if kept else "",
                excerpt="",
                url=_place(health),
                link="",
            )
        ],
        rest=gettext("Switch it on there once the receiver works again. You can then send the kept deliveries."),
        requests="",
        requests_url="",
        queue_url="",
        preferences_url=url("preferences"),
        stop_url=notices.stop_link(person),
    )


def _to(health: Endpoint | TeamWebhook) -> Agent | TeamWebhook:
    return health if isinstance(health, TeamWebhook) else health.agent


def _names(health: Endpoint | TeamWebhook) -> dict[str, str]:
    to = _to(health)
    name = to.team.name if isinstance(to, TeamWebhook) else to.name
    return {"host": plain(urlsplit(health.url).netloc), "name": plain(name), "team": plain(to.team.name)}


def _title(health: Endpoint | TeamWebhook) -> str:
    if isinstance(health, TeamWebhook):
        return gettext("Webhook %(host)s of the team %(name)s") % _names(health)
    return gettext("Webhook %(host)s of the agent %(name)s (%(team)s)") % _names(health)


def _place(health: Endpoint | TeamWebhook) -> str:
    to = _to(health)
    is_of_team = isinstance(to, TeamWebhook)
    return url("webhook", to.public_id) if is_of_team else f"{url('deliveries')}?agent={to.public_id}"


def _health_for(notice: Notice, person: User) -> Endpoint | TeamWebhook:
    health = _health(notice)
    if not person.teams_as(Role.OWNER).filter(pk=_to(health).team_id).exists():
        raise NothingNew
    return health


def _health(notice: Notice) -> Endpoint | TeamWebhook:
    """Read what a notice is about. Raises NothingNew: it is on again, or removed, or was switched off once more."""
    public_id = notice.about.partition("/")[0]
    webhook = TeamWebhook.objects.filter(public_id=public_id, removed_at=None).select_related("team").first()
    endpoint = Endpoint.objects.filter(agent__public_id=public_id).select_related("agent__team").first()
    found: Endpoint | TeamWebhook | None = webhook or endpoint
    if found is None or not found.is_off or mark_of(found) != notice.about:
        raise NothingNew
    return found
