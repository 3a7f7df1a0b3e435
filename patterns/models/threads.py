"""The thought threads that agents pursue, and their steps."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.db.ids import new_id
from metacog.heuristics.memory.threads import shown_slug
from metacog.heuristics.text.words import MAX_SLUG
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Agent, User


def thread_id() -> str:
    return new_id("thr")


class ThoughtThread(models.Model):
    """A direction of thought that an agent pursues over days (seed 001, "組件一：Thought Thread").

    Written under the lock of the agent's state, by patterns/threads/threads.py and patterns/threads/exchange.py alone:
    never more are active than the agent's policy allows.
    """

    class State(models.TextChoices):
        ACTIVE = "active", pgettext_lazy("thought thread", "Active")
        PAUSED = "paused", pgettext_lazy("thought thread", "Paused")
        RESOLVED = "resolved", pgettext_lazy("thought thread", "Resolved")

    ARTICLE_UNREAD = -1

    MAX_TITLE = 200
    MAX_NEXT = 1_000  # in a step
    MAX_FILED = 250_000  # of what is next, or the notes, from a file or in the admin

    public_id = models.CharField(max_length=40, unique=True, default=thread_id, editable=False)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="threads", verbose_name=_("agent"))
    slug = models.CharField(_("slug"), max_length=MAX_SLUG, editable=False)  # letters and digits of any script
    title = models.CharField(_("title"), max_length=MAX_TITLE)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.ACTIVE)
    touches = models.PositiveIntegerField(_("touches"), default=0)  # one a response at most
    next = models.TextField(_("next"), max_length=MAX_FILED, blank=True)
    notes = models.TextField(_("notes"), max_length=MAX_FILED, blank=True)  # what else an imported file said, as it was
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    touched_at = models.DateTimeField(_("last touched"), default=timezone.now)
    resolved_at = models.DateTimeField(_("resolved"), null=True)
    # To whom the article is owed that a resolved thread proposes: null, nobody; ARTICLE_UNREAD, the agent's next
    # context; else whoever reads a context before the agent has posted more responses than this.
    article_until = models.BigIntegerField(null=True)
    # Whether people are still to look at that article: for their list of what is to do.
    has_draft = models.BooleanField(default=False, db_default=False, editable=False)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("thought thread")
        verbose_name_plural = _("thought threads")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["agent", "slug"], name="one_thread_a_slug")]
        indexes = [
            models.Index(fields=["agent", "state", "-touched_at"], name="threads_by_state"),
            models.Index(fields=["agent"], condition=Q(has_draft=True), name="threads_with_draft"),
        ]

    def __str__(self) -> str:
        return masked_text(self.title)

    @property
    def slug_shown(self) -> str:
        """The slug as people may read it."""
        return shown_slug(self.slug, self.title)


class ThreadStep(models.Model):
    """One step of a thread. Those with a text are its trail; the others say that its state changed."""

    class Op(models.TextChoices):
        CREATE = "create", pgettext_lazy("an entry of a thread", "created")
        PROGRESS = "progress", pgettext_lazy("thought thread", "entry added")
        PAUSE = "pause", pgettext_lazy("thought thread", "paused")
        RESUME = "resume", pgettext_lazy("thought thread", "resumed")
        RESOLVE = "resolve", pgettext_lazy("thought thread", "resolved")

    class By(models.TextChoices):
        AGENT = "agent", _("agent")
        PERSON = "person", _("person")
        FILE = "file", _("file")

    MAX_TEXT = 1_000  # of a note; an entry of a file may be as long as ThoughtThread.MAX_FILED
    MAX_EXTRA = 100

    thread = models.ForeignKey(ThoughtThread, models.CASCADE, related_name="steps")
    op = models.CharField(max_length=10, choices=Op, default=Op.PROGRESS)
    text = models.TextField(blank=True)  # one line, unless a file gave it more
    on = models.DateField(null=True)  # null: the file it came from did not say
    extra = models.CharField(max_length=MAX_EXTRA, blank=True)  # what a file had behind the date: "evening"
    by = models.CharField(max_length=6, choices=By)
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    response = models.CharField(max_length=40, blank=True)  # the public id of the response that said it
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("step of a thread")
        verbose_name_plural = _("steps of a thread")
        ordering = ["id"]
        indexes = [models.Index(fields=["thread", "-id"], condition=~Q(text=""), name="trail_of_thread")]

    def __str__(self) -> str:
        return self.text or self.get_op_display()


class ThreadSuggestion(models.Model):
    """A topic that an agent's last cycles are about and that has no thread, for people to decide.

    Kept by patterns/threads/suggestions.py behind the writes; it goes once the topic changes or a thread is made.
    """

    MAX_TOPIC = 200

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="thread_suggestion")
    topic = models.CharField(max_length=MAX_TOPIC)
    cycles = models.PositiveSmallIntegerField()
    found_at = models.DateTimeField(default=timezone.now)
    is_dismissed = models.BooleanField(default=False)

    class Meta:
        verbose_name = _("suggested thread")
        verbose_name_plural = _("suggested threads")

    def __str__(self) -> str:
        return self.topic
