"""What a press in a chat does: the same decision as in the console, by the person whom the chat user is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils import translation
from django.utils.translation import gettext

from metacog.chats import setup
from metacog.chats.shapes import Done, Field, Form, Option, Press, Reply, Told, Wrong
from metacog.models import ChatApp, Role, User
from metacog.sign_in import vouching
from reviews.held import decisions
from reviews.models import Decision, DecisionVerdict, HeldItem
from reviews.outbox.notification_texts import plain, spoken_to, url
from reviews.pages.deciding import wants_answer, why_not
from reviews.presentation.approvals import whom
from reviews.presentation.calls import answer_form
from reviews.presentation.phrases import decided
from reviews.records import reasons

Kind, State = HeldItem.Kind, HeldItem.State

MOST_TITLE = 24  # characters of a form's title that every chat shows

Filled = Mapping[str, Sequence[str]]


class Asked(NamedTuple):
    """A press on a button of an item, by a person who may decide it."""

    app: ChatApp
    press: Press
    person: User
    held: HeldItem
    version: int  # of the item as the message showed it
    chosen: str  # which option the button stands for; "" of none


def answer(app: ChatApp, press: Press) -> Reply:
    """Do what was pressed, in the language of whoever did, and return what they are told."""
    person = setup.person_of(app, press.user)
    if person is None:
        with translation.override(app.language):
            return Told(
                gettext("Show once who you are in metacog: open this link while you are signed in there."),
                setup.connect_link(app, press.user, press.name),
                gettext("Connect to metacog"),
                is_theirs=True,
            )
    with spoken_to(person, app.language):
        if press.action not in ACTIONS:
            return Told(gettext("You are connected to metacog as %(name)s.") % {"name": person.get_username()})
        asked = _asked(app, press, person)
        return asked if isinstance(asked, Told) else ACTIONS[press.action](asked)


def _asked(app: ChatApp, press: Press, person: User) -> Asked | Told:
    public_id, version, chosen = [*press.about.split(":"), "", ""][:3]
    items = HeldItem.objects.select_related("response__problem", "agent__team", "call", "question", "terms")
    held = items.filter(team=app.team_id, public_id=public_id).first() if version.isdecimal() else None
    if held is None:
        return Told(gettext("This item no longer exists."))
    if not vouching.may_use_tokens(person) or vouching.lacks_second_factor(person):  # as the console and its API
        return Told(gettext("Nothing was decided. Sign in to metacog first: it shows what else is required."))
    if not person.has_role(app.team_id, Role.REVIEWER):
        return Told(gettext("Nothing was decided: only reviewers of the team can decide."))
    return Asked(app, press, person, held, int(version[:9]), chosen)


# -- what can be pressed -----------------------------------------------------------------------------------


def _approve(asked: Asked) -> Reply:
    return _decide(asked, DecisionVerdict.APPROVE)


def _reject(asked: Asked) -> Reply:
    fields = [
        Field(
            "preset", gettext("Reason"), "choice", options=[Option(name, str(each)) for name, each in PRESETS.items()]
        ),
        Field("reason", gettext("In your own words"), "text"),
    ]
    filled = _filled(asked, fields)
    if filled is None:
        return _form(asked, gettext("Reject"), fields, gettext("Reject"))
    preset, more = (next(iter(filled.get(name, ())), "") for name in ("preset", "reason"))
    reason = reasons.compose(preset, more.replace("\r\n", "\n").strip(), asked.held.agent.language)
    if problem := why_not(DecisionVerdict.REJECT, None, reason):
        return Wrong({"reason": problem})
    return _decide(asked, DecisionVerdict.REJECT, reason=reason)


def _answer(asked: Asked) -> Reply:
    if asked.held.kind != Kind.QUESTION:
        return Told(wants_answer())
    fields = list(_fields(answer_form.fields_of(asked.held)))
    filled = _filled(asked, fields)
    if filled is None:
        return _form(asked, gettext("Answer"), fields, gettext("Send answer"))
    posted = QueryDict(mutable=True)
    for name, values in filled.items():
        posted.setlist(f"a{name}", list(values))
    read = answer_form.read(asked.held, posted)
    if read.errors:
        known = {each.name for each in fields}
        return Wrong({place if place in known else fields[0].name: " ".join(why) for place, why in read.errors.items()})
    return _decide(asked, DecisionVerdict.ANSWER, edit=decisions.Answer(read.value))


def _undo(asked: Asked) -> Reply:
    held, person, via = asked.held, asked.person, str(asked.app.kind)
    decision = held.decisions.filter(person=person, undone_at=None).first()
    approval = held.approvals.filter(person=person, ended_at=None).select_related("held").first()
    if held.version == asked.version and decision and decisions.undo(decision, person, via):
        return Done(gettext("Your decision is undone."))
    if decision is None and approval and decisions.withdraw_approval(approval, via):
        return Done(gettext("Your approval is withdrawn."))
    if decision is None:
        return Told(gettext("Nothing was undone: only the person who decided can undo it."))
    return Told(gettext("Nothing was undone: it is too late."))


ACTIONS: Mapping[str, Callable[[Asked], Reply]] = {
    "approve": _approve,
    "reject": _reject,
    "answer": _answer,
    "undo": _undo,
}
PRESETS = reasons.PRESETS


# -- deciding --------------------------------------------------------------------------------------------


def _decide(asked: Asked, verdict: str, **how: Any) -> Reply:
    """Decide by the one way there is; what stands is told to whoever came too late."""
    circumstances = decisions.Circumstances(asked.version, asked.held.sha256, via=str(asked.app.kind))
    try:
        taken, _is_new = decisions.decide_or_approve(
            asked.held, asked.person, verdict, circumstances=circumstances, **how
        )
    except decisions.Standing as standing:
        return Told(_stands(asked, standing.decision))
    except decisions.NotApprover as refused:
        return Told(
            gettext("Approving this takes %(whom)s. You can still reject it.")
            % {"whom": plain(whom(refused.approvers))}
        )
    except decisions.WantsAnswer:
        return Told(wants_answer())
    except decisions.StillMasked:
        return Told(gettext("It contains a masked part. Write the value itself."))
    except decisions.OutOfSchema as refused:
        return Told("\n".join(each["detail"] for each in refused.errors))
    if isinstance(taken, Decision):
        return Done(plain(decided(taken, asked.person)))
    return Done(gettext("You approved this. Another person must approve it, too."))


def _stands(asked: Asked, decision: Decision | None) -> str:
    if decision is None:
        asked.held.refresh_from_db(fields=["state"])
        rows = asked.held.decisions.select_related("person", "agent", "changed_by")
        decision = rows.filter(undone_at=None).first()
    if decision is None:
        return gettext("Nothing was decided: the item has changed since this message. Open it to decide it.")
    told = plain(decided(decision, asked.person))
    return gettext("Nothing was changed. It is already decided: %(decision)s.") % {"decision": told}


# -- forms -----------------------------------------------------------------------------------------------


def _form(asked: Asked, title: str, fields: Sequence[Field], submit: str) -> Reply:
    if asked.held.state != State.PENDING:
        return Told(_stands(asked, None))
    link = url("item", asked.held.public_id)
    otherwise = Told(
        gettext("The answer needs more fields than fit here. Open the item to answer."), link, gettext("Open")
    )
    about = f"{asked.held.public_id}:{asked.version}"
    return Form(title[:MOST_TITLE], asked.press.action, about, fields, submit, otherwise)


def _filled(asked: Asked, fields: Sequence[Field]) -> Filled | None:
    """Return what was filled in, by a form, by a button that is one of its options, or in words; None: nothing yet."""
    if asked.press.filled is not None:
        return asked.press.filled
    choice, words = (next((each.name for each in fields if bool(each.options) is has), "") for has in (True, False))
    if asked.chosen:
        return {choice: [asked.chosen]}
    return {words: [asked.press.written]} if asked.press.written else None


def _fields(form: Sequence[answer_form.Field], under: str = "") -> Iterator[Field]:
    """Return the fields of an answer, those within an object under its name."""
    for each in form:
        label = " · ".join(part for part in (under, each.label) if part)
        if each.kind == "group":
            yield from _fields(each.fields, label)
            continue
        options = [Option(str(option.number), plain(option.label)[:75] or "–") for option in each.options]
        chosen = [str(option.number) for option in each.options if option.is_chosen]
        yield Field(
            name=each.pointer,
            label=plain(label) or gettext("Answer"),
            kind=_KINDS.get(each.input if each.kind == "line" else each.kind, "text"),
            hint=plain(" ".join(part for part in (each.hint, each.limits) if part)),
            options=options,
            is_required=each.is_required,
            value=chosen[0] if chosen else "" if options else each.value,
        )


_KINDS: Mapping[str, Any] = {
    "text": "text", "json": "text", "number": "number", "choice": "choice", "menu": "choice", "choices": "choices",
    "date": "date", "email": "email", "url": "url",
}  # fmt: skip
