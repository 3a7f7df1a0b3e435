"""What agents call about their thought threads (seed 001)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from django.http import Http404, HttpResponse
from django.utils import translation
from ninja import Query, Router
from pydantic import BaseModel, ConfigDict, Field

from metacog.heuristics.memory.threads import slug_of
from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.text.words import MAX_SLUG
from metacog.http.api import AgentRequest, as_json, cursor, page_of, read_shape, takes
from metacog.http.problems import Problem, at
from patterns.models import ThoughtThread, ThreadStep
from patterns.threads import texts, threads

router = Router()
PAGE = 100

Note = Annotated[str, Field(max_length=ThreadStep.MAX_TEXT, description="An entry of the trail, in one line.")]
Following = Annotated[str, Field(max_length=ThoughtThread.MAX_NEXT, description="What comes next.")]


class Entry(BaseModel):
    """One entry of a trail."""

    note: str
    on: str | None = Field(description="The day; null where a file did not say.")
    by: Literal["agent", "person", "file"]
    response: str | None = Field(description="The response that said it.")
    at: str


class Thread(BaseModel):
    """A thought thread."""

    slug: str = Field(description="Letters and digits of any script.")
    title: str
    state: Literal["active", "paused", "resolved"]
    touches: int
    next: str
    created_at: str
    touched_at: str
    resolved_at: str | None
    trail: list[Entry] = Field(description="Oldest first; in lists, the last three.")


class ThreadPage(BaseModel):
    items: list[Thread]
    next: str | None


class ThreadBody(BaseModel):
    """A thread to begin."""

    model_config = ConfigDict(strict=True, extra="forbid")

    title: str = Field(min_length=1, max_length=ThoughtThread.MAX_TITLE)
    slug: str | None = Field(None, min_length=1, max_length=MAX_SLUG, description="Made from the title without it.")
    note: Note = ""
    next: Following = ""


class StepBody(BaseModel):
    """What there is to say about a step."""

    model_config = ConfigDict(strict=True, extra="forbid")

    note: Note = ""
    next: Following = ""


@router.get("/threads", response=ThreadPage, summary="List thought threads")
def list_threads(
    request: AgentRequest,
    state: Annotated[Literal["active", "paused", "resolved"] | None, Query()] = None,
    after: str = "",
    limit: Annotated[int, Query(ge=1, le=PAGE)] = PAGE,
) -> HttpResponse:
    """List your thought threads, the newest first, each with the last three entries of its trail.

    What is next, or an entry, is cut behind 1,000 characters here, and says so; a thread read alone is whole.
    """
    own = ThoughtThread.objects.filter(agent=request.auth)
    rows = own.order_by("-id")
    if state is not None:
        rows = rows.filter(state=state)
    if last := cursor(own, after):
        rows = rows.filter(pk__lt=last.pk)
    page, following = page_of(rows, limit)
    trails = texts.last_steps(page)
    items = [texts.shape(row, trails[row.pk], is_whole=False) for row in page]
    return as_json({"items": items, "next": following})


@router.post(
    "/threads",
    response={201: Thread},
    openapi_extra=takes(
        ThreadBody,
        {"title": "約束與湧現的實踐", "note": "讀 Oulipo 三層約束功能 → 約束產生自由", "next": "寫出統一框架"},
    ),
    summary="Begin a thought thread",
)
def create_thread(request: AgentRequest) -> HttpResponse:
    """Begin a thread; a note is its first entry. 409 when there is one of that title, or too many are active."""
    body = read_shape(request, ThreadBody)
    if is_blank(body.title):
        raise at("/title", "A thread needs a title.")
    slug = slug_of(body.slug or body.title)
    if body.slug is not None and body.slug != slug:
        raise at("/slug", f"A slug holds small letters and digits of any script, and hyphens between: {slug!r}.")
    with answering_conflicts(), threads.changes(request.auth, request.auth, slug, body.title) as made:
        row = made.create(body.title, slug=slug, note=body.note, next=body.next)
    return as_json(texts.shape(row, row.steps.exclude(text="")), status=201)


@router.get("/threads/{slug}", response=Thread, summary="Read a thought thread")
def read_thread(request: AgentRequest, slug: str) -> HttpResponse:
    """Return one of your threads with its whole trail; with `Accept: text/markdown` as the seed's file."""
    row = _own(request, slug)
    if request.get_preferred_type(["application/json", "text/markdown"]) == "text/markdown":
        return HttpResponse(texts.markdown(row), content_type="text/markdown; charset=utf-8")
    return as_json(texts.shape(row, row.steps.exclude(text="")))


@router.post(
    "/threads/{slug}/{step}",
    response=Thread,
    openapi_extra=takes(StepBody, {"note": "BotW: 3 rules beat 253 patterns"}),
    summary="Continue, pause, resume or resolve a thought thread",
)
def take_step(
    request: AgentRequest, slug: str, step: Literal["progress", "pause", "resume", "resolve"]
) -> HttpResponse:
    """Go on with a thread, put it down, take it up again, or bring it to its end; a note is an entry of its trail.

    A progress counts as a touch. 409 when the thread's state does not allow the step, or too many are active. The same
    pause, resume or resolve again, before another step of that thread, is the first.
    """
    body = read_shape(request, StepBody) if request.body.strip() else StepBody()
    row = _own(request, slug)
    with answering_conflicts(), threads.changes(request.auth, request.auth, row.slug) as made:
        if made.has_taken(row.slug, step, note=body.note, next=body.next):
            row = made.rows[row.slug]
        else:
            row = made.step(row.slug, step, note=body.note, next=body.next)
    return as_json(texts.shape(row, row.steps.exclude(text="")))


@contextmanager
def answering_conflicts() -> Iterator[None]:
    """Answer what cannot be done with 409, in the API's language."""
    try:
        with translation.override("en"):
            yield
    except threads.NotDone as error:
        raise Problem(409, str(error)) from None


def _own(request: AgentRequest, slug: str) -> ThoughtThread:
    row = ThoughtThread.objects.select_related("agent").filter(agent=request.auth, slug=slug).first()
    if row is None:
        raise Http404(f"You have no thread {slug!r}.")
    return row
