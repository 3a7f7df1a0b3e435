"""What lasts about an agent, and what its team curates: known errors, its problems, its thought threads, its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.fields import OrderedJSONField
from metacog.heuristics.recall import MAX_TERM
from metacog.heuristics.threads import MAX_SLUG
from metacog.ids import new_id
from metacog.models import Agent, Team, User

MAX_KEYWORDS = 64
MAX_KEYWORD_LENGTH = 200
MIN_KEYWORD_LENGTH = 2  # one character fires on nearly everything
MAX_PATTERNS = 10_000  # active in one team; the bound at which a response still scores in milliseconds


def pattern_id() -> str:
    return new_id("ep")


def problem_id() -> str:
    return new_id("prob")


def thread_id() -> str:
    return new_id("thr")


def lesson_id() -> str:
    return new_id("les")


def memory_id() -> str:
    return new_id("mem")


def keyword_problems(keywords: object) -> list[str]:
    """Return what is wrong with a list of keywords, in sentences; empty when nothing is."""
    if not isinstance(keywords, list) or not keywords:
        return [str(_("Give at least one keyword or phrase."))]
    problems = []
    if len(keywords) > MAX_KEYWORDS:
        problems.append(str(_("At most %(most)d keywords a pattern.")) % {"most": MAX_KEYWORDS})
    for keyword in keywords:
        if not isinstance(keyword, str) or len(keyword.strip()) < MIN_KEYWORD_LENGTH:
            problems.append(
                str(_("“%(keyword)s” is too short: a keyword needs %(least)d characters or more."))
                % {"keyword": keyword, "least": MIN_KEYWORD_LENGTH}
            )
        elif len(keyword) > MAX_KEYWORD_LENGTH:
            problems.append(
                str(_("“%(keyword)s…” is longer than %(most)d characters."))
                % {"keyword": keyword[:30], "most": MAX_KEYWORD_LENGTH}
            )
        elif "\0" in keyword:
            problems.append(str(_("A keyword cannot hold a NUL character.")))
    return problems


class ErrorPattern(models.Model):
    """A known error (seed 000): literal keywords, any of which makes a response hesitate.

    The first active pattern in order of creation that matches is the one that counts, as in the
    seed, so the order of rows (`id`) is part of the meaning.
    """

    class Source(models.TextChoices):
        CORRECTION = "alex-correction", _("A person's correction")
        SELF_REVIEW = "self-review", _("The agent's second look")
        EXTERNAL = "external", _("From elsewhere")

    class State(models.TextChoices):
        PROPOSED = "proposed", _("Proposed")
        SHADOW = "shadow", _("Shadow")
        ACTIVE = "active", _("Active")
        RETIRED = "retired", _("Retired")

    MAX_DESCRIPTION = 500

    team = models.ForeignKey(Team, models.PROTECT, related_name="patterns", verbose_name=_("team"))
    public_id = models.CharField(max_length=100, default=pattern_id, editable=False)
    keywords = models.JSONField(_("keywords"), help_text=_("Any one of them fires, wherever it stands."))
    description = models.CharField(_("description"), max_length=MAX_DESCRIPTION)
    source = models.CharField(_("source"), max_length=20, choices=Source, default=Source.EXTERNAL)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.ACTIVE)
    # Why a proposal was turned down, which is then not made again; empty where a pattern served and was retired.
    dismissed_because = models.CharField(_("dismissed because"), max_length=300, blank=True, editable=False)
    # What an imported file said it had been triggered before; our own count is derived from the responses.
    imported_triggers = models.PositiveIntegerField(default=0, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="+")
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("error pattern")
        verbose_name_plural = _("error patterns")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["team", "public_id"], name="one_pattern_an_id")]
        indexes = [models.Index(fields=["team", "state", "id"], name="patterns_in_force")]

    def __str__(self) -> str:
        return self.description

    def save(self, *args: Any, **kwargs: Any) -> None:
        with transaction.atomic():
            super().save(*args, **kwargs)
            touch(self.team_id, [self])

    def clean(self) -> None:
        if problems := keyword_problems(self.keywords):
            raise ValidationError({"keywords": problems})

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic():
            self.state = self.State.RETIRED
            touch(self.team_id, [self])
            return super().delete(*args, **kwargs)


class PatternInForce(models.Model):
    """What an active pattern said over a span of versions of its team's patterns. Scorers are built from these rows.

    `touch` alone writes them, and nothing takes them away: with them the verdicts of any version are made again.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    place = models.PositiveBigIntegerField()  # the pattern's row id: their order is part of the meaning
    public_id = models.CharField(max_length=100)
    keywords = models.JSONField()
    description = models.CharField(max_length=ErrorPattern.MAX_DESCRIPTION)
    since_version = models.PositiveBigIntegerField()
    until_version = models.PositiveBigIntegerField(null=True)  # the first in which it no longer said so

    class Meta:
        verbose_name = _("pattern in force")
        verbose_name_plural = _("patterns in force")
        ordering = ["place"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "place"], condition=Q(until_version=None), name="in_force_once_at_a_time"
            )
        ]
        indexes = [models.Index(fields=["team", "place"], name="patterns_of_any_version")]

    def __str__(self) -> str:
        return f"{self.public_id} since {self.since_version}"


class PatternRecord(models.Model):
    """What became of the responses that a pattern fired on, since it had these keywords and was tried or active.

    Counted behind the writes by reviews/records.py. A shadow pattern fires without consequence.
    """

    pattern = models.OneToOneField(ErrorPattern, models.CASCADE, primary_key=True, related_name="record")
    since = models.DateTimeField(default=timezone.now)
    # The team's responses up to when it began, and up to when the pattern was retired: what lies between, it has seen.
    seen_from = models.PositiveBigIntegerField(default=0)
    seen_to = models.PositiveBigIntegerField(null=True)
    fired = models.PositiveIntegerField(default=0)  # responses
    held = models.PositiveIntegerField(default=0)  # items held in them, for whatever reason; people decided of them:
    rejected = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    keywords = models.JSONField(default=dict)  # how often each matched
    last_fired_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("record of a pattern")
        verbose_name_plural = _("records of patterns")

    def __str__(self) -> str:
        return f"record of {self.pattern_id}"

    @property
    def undecided(self) -> int:
        """Count the held items that no person decided: still open, expired, or decided by the agent."""
        return self.held - self.decided

    @property
    def decided(self) -> int:
        return self.rejected + self.edited + self.approved


def touch(team_id: int, changed: Sequence[ErrorPattern]) -> None:
    """Begin the next version of a team's patterns, in the transaction that changed these: what is in force from it on.

    Every process builds the team's scorer anew. Call it for active patterns, and for those that were active until now.
    """
    team = Team.objects.filter(pk=team_id)
    team.update(patterns_version=F("patterns_version") + 1)  # and from here on nobody else's
    version = team.values_list("patterns_version", flat=True).get()
    before = PatternInForce.objects.filter(team=team_id, until_version=None, place__in=[each.pk for each in changed])
    before.update(until_version=version)
    PatternInForce.objects.bulk_create(
        (
            PatternInForce(
                team_id=team_id,
                place=each.pk,
                public_id=each.public_id,
                keywords=each.keywords,
                description=each.description,
                since_version=version,
            )
            for each in changed
            if each.state == ErrorPattern.State.ACTIVE
        ),
        batch_size=500,
    )


class Problem(models.Model):
    """What an agent works on in a session, as far as it looks stuck (seed 002: counted per problem).

    Written under the lock of the agent's state, so that posts count in order of arrival. What has
    never shown anything to keep has no row.
    """

    public_id = models.CharField(max_length=40, unique=True, default=problem_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="problems")
    session = models.CharField(max_length=255, blank=True)
    key = models.CharField(max_length=255, blank=True)  # as the agent calls it; "" is all that it calls nothing
    state = OrderedJSONField()  # heuristics.stuck's: the counters, and what a brief is made of
    points = models.PositiveSmallIntegerField(default=0)
    suggests = models.BooleanField(default=False)  # somebody should say whether to think twice
    began_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now)
    resolved_at = models.DateTimeField(null=True)  # and not taken up again since
    erased_at = models.DateTimeField(null=True)  # at the end of the team's retention, and not taken up again since

    class Meta:
        verbose_name = _("problem")
        verbose_name_plural = _("problems")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["agent", "session", "key"], name="one_problem_a_key")]
        indexes = [
            models.Index(fields=["agent", "key", "-touched_at"], name="problems_by_key"),
            models.Index(fields=["agent", "-touched_at"], condition=Q(points__gt=0), name="problems_stuck"),
            models.Index(fields=["agent"], condition=Q(suggests=True), name="problems_that_ask"),
        ]

    def __str__(self) -> str:
        return self.key or "–"


class ThinkTwice(models.Model):
    """One time that thinking twice was suggested, or asked for, and what came of it (S3, S6, S9)."""

    class Answer(models.TextChoices):
        YES = "yes", _("Yes")
        NO = "no", _("No")

    class By(models.TextChoices):
        PERSON = "person", _("person in the console")
        AGENT = "agent", _("person, through the agent")
        USER = "user", _("user, in a message")

    class Outcome(models.TextChoices):
        HELPED = "helped", _("It helped")
        DID_NOT_HELP = "did-not-help", _("It did not help")

    problem = models.ForeignKey(Problem, models.CASCADE, related_name="think_twice")
    points = models.PositiveSmallIntegerField()  # when it was suggested, or asked for
    signals = models.JSONField(default=list)  # their types
    suggested_at = models.DateTimeField(null=True)  # null: asked for without being suggested
    answer = models.CharField(max_length=3, choices=Answer, blank=True)
    by = models.CharField(max_length=6, choices=By, blank=True)
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)  # without an answer: when the problem was solved before there was one
    outcome = models.CharField(max_length=12, choices=Outcome, blank=True)
    outcome_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("think twice")
        verbose_name_plural = _("think twice")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["problem"], condition=Q(answered_at=None), name="asked_once_at_a_time")
        ]

    def __str__(self) -> str:
        return f"{self.problem}: {self.answer or '?'}"


class Lesson(models.Model):
    """What an agent, or each agent of a team, should do next time (seed 004, "Reflection Engine").

    Written by patterns/lessons.py alone. Only active ones are given to agents, and only people make one active.
    """

    class State(models.TextChoices):
        PROPOSED = "proposed", pgettext_lazy("lesson", "Proposed")
        ACTIVE = "active", pgettext_lazy("lesson", "Active")
        RETIRED = "retired", pgettext_lazy("lesson", "Retired")
        DISMISSED = "dismissed", pgettext_lazy("lesson", "Dismissed")

    class Origin(models.TextChoices):
        REFLECTION = "reflection", pgettext_lazy("lesson", "Reflection")
        CORRECTION = "correction", pgettext_lazy("lesson", "Corrections")
        PERSON = "person", pgettext_lazy("lesson", "A person")

    MAX_TEXT = 500
    MAX_TOPICS = 8
    MAX_TOPIC = 100

    public_id = models.CharField(max_length=40, unique=True, default=lesson_id, editable=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="lessons", verbose_name=_("team"))
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="lessons", verbose_name=_("agent"))
    text = models.CharField(_("lesson"), max_length=MAX_TEXT)  # one line; null agent: for each agent of the team
    topics = models.JSONField(_("when it is about"), default=list)  # words that call for it; none: any time
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.PROPOSED)
    origin = models.CharField(_("from"), max_length=10, choices=Origin, default=Origin.PERSON)
    key = models.CharField(max_length=64, blank=True)  # digest of what a proposal is about: the same one joins it
    evidence = models.JSONField(default=dict)  # of a proposal: {"kind", "count", "responses": [ids]}
    proposed = models.PositiveIntegerField(default=0)  # how often, each time with something new
    given = models.PositiveIntegerField(_("times given"), default=0)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="+")
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    changed_at = models.DateTimeField(_("changed"), default=timezone.now, editable=False)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("lesson")
        verbose_name_plural = _("lessons")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "key"], condition=~Q(key=""), name="one_lesson_a_key"),
        ]
        indexes = [models.Index(fields=["team", "state", "-changed_at"], name="lessons_by_state")]

    def __str__(self) -> str:
        return self.text or self.public_id


class ThoughtThread(models.Model):
    """A direction of thought that an agent pursues over days (seed 001, "組件一：Thought Thread").

    Written under the lock of the agent's state, by patterns/threads.py and patterns/thread_files.py alone: never
    more are active than the agent's policy allows.
    """

    class State(models.TextChoices):
        ACTIVE = "active", pgettext_lazy("thought thread", "Active")
        PAUSED = "paused", pgettext_lazy("thought thread", "Paused")
        RESOLVED = "resolved", pgettext_lazy("thought thread", "Resolved")

    ARTICLE_UNREAD = -1

    MAX_TITLE = 200
    MAX_NEXT = 1_000

    public_id = models.CharField(max_length=40, unique=True, default=thread_id, editable=False)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="threads", verbose_name=_("agent"))
    slug = models.CharField(_("slug"), max_length=MAX_SLUG, editable=False)  # letters and digits of any script
    title = models.CharField(_("title"), max_length=MAX_TITLE)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.ACTIVE)
    touches = models.PositiveIntegerField(_("touches"), default=0)  # one a response at most
    next = models.TextField(_("next"), max_length=MAX_NEXT, blank=True)
    notes = models.TextField(blank=True)  # sections of an imported file that the seed does not know, as they were
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    touched_at = models.DateTimeField(_("last touched"), default=timezone.now)
    resolved_at = models.DateTimeField(_("resolved"), null=True)
    # To whom the article is owed that a resolved thread proposes (T8): null, nobody; ARTICLE_UNREAD, the agent's next
    # context; else whoever reads a context before the agent has posted more responses than this.
    article_until = models.BigIntegerField(null=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("thought thread")
        verbose_name_plural = _("thought threads")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["agent", "slug"], name="one_thread_a_slug")]
        indexes = [models.Index(fields=["agent", "state", "-touched_at"], name="threads_by_state")]

    def __str__(self) -> str:
        return self.title


class ThreadStep(models.Model):
    """One step of a thread. Those with a text are its trail; the others say that its state changed."""

    class Op(models.TextChoices):
        CREATE = "create", pgettext_lazy("thought thread", "begun")
        PROGRESS = "progress", pgettext_lazy("thought thread", "went on")
        PAUSE = "pause", pgettext_lazy("thought thread", "paused")
        RESUME = "resume", pgettext_lazy("thought thread", "resumed")
        RESOLVE = "resolve", pgettext_lazy("thought thread", "resolved")

    class By(models.TextChoices):
        AGENT = "agent", _("agent")
        PERSON = "person", _("person")
        FILE = "file", _("file")

    MAX_TEXT = 1_000
    MAX_EXTRA = 100

    thread = models.ForeignKey(ThoughtThread, models.CASCADE, related_name="steps")
    op = models.CharField(max_length=10, choices=Op, default=Op.PROGRESS)
    text = models.TextField(blank=True)  # one line
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


class Memory(models.Model):
    """What a team's agents and people know, shared by all of them (seed 003, 2.2: the shared hippocampus).

    Only a confirmed one answers anybody. Written by patterns/memory.py alone, which keeps the terms of those
    that are confirmed, and only theirs, in MemoryTerm.
    """

    class State(models.TextChoices):
        PENDING = "pending", pgettext_lazy("memory", "Waits")
        CONFIRMED = "confirmed", pgettext_lazy("memory", "Stands")
        RETIRED = "retired", pgettext_lazy("memory", "Retired")

    MAX_TEXT = 2_000
    MAX_TOPIC = 200
    MAX_SOURCE = 500

    public_id = models.CharField(max_length=40, unique=True, default=memory_id, editable=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="memories", verbose_name=_("team"))
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="memories", verbose_name=_("agent"))
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")  # who wrote it, where no agent did
    text = models.TextField(_("text"), max_length=MAX_TEXT)
    sha256 = models.CharField(max_length=64, editable=False)  # of the text as UTF-8; stays when the text is erased
    topic = models.CharField(_("topic"), max_length=MAX_TOPIC, blank=True)
    source = models.CharField(_("source"), max_length=MAX_SOURCE, blank=True)
    confidence = models.FloatField(_("confidence"), null=True)  # 0..1, as whoever wrote it says
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.PENDING)
    hesitation_score = models.PositiveSmallIntegerField(null=True)  # 0-100, when it came; null: it was not scored
    doubts = models.JSONField(default=list)  # types of the signals that fired then
    length = models.PositiveIntegerField(default=0)  # terms, while it is confirmed
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    confirmed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")  # null: the scores let it in
    confirmed_at = models.DateTimeField(null=True)
    retired_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    retired_at = models.DateTimeField(null=True)
    replaced_by = models.ForeignKey("self", models.SET_NULL, null=True, related_name="replaces")
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("memory")
        verbose_name_plural = _("memories")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["team", "sha256"], name="one_memory_a_text")]
        indexes = [
            models.Index(fields=["team", "state", "-id"], name="memories_by_state"),
            # How many are searched, and how long they are on the average.
            models.Index(fields=["team", "length"], condition=Q(state="confirmed"), name="memories_that_answer"),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class MemoryTerm(models.Model):
    """How often a confirmed memory has a term (heuristics/recall.py): the index of what is remembered."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="terms")
    term = models.CharField(max_length=MAX_TERM)
    times = models.PositiveIntegerField()
    length = models.PositiveIntegerField()  # the memory's

    class Meta:
        indexes = [models.Index(fields=["team", "term", "memory", "times", "length"], name="memories_by_term")]

    def __str__(self) -> str:
        return self.term


class MemoryConflict(models.Model):
    """Two memories that cannot both hold, as it seems (H10), until a person says which of them stands."""

    class Outcome(models.TextChoices):
        NEWER = "newer", _("The newer one stands")
        OLDER = "older", _("The older one stands")
        BOTH = "both", _("Both stand")

    older = models.ForeignKey(Memory, models.CASCADE, related_name="contradicted_by")
    newer = models.ForeignKey(Memory, models.CASCADE, related_name="contradicts")
    kind = models.CharField(max_length=12)  # heuristics.contradictions': negation, antonym, number, retraction
    confidence = models.FloatField()  # 0..1, how alike the rest of the sentences is
    outcome = models.CharField(max_length=5, choices=Outcome, blank=True)
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    found_at = models.DateTimeField(default=timezone.now)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("contradiction")
        verbose_name_plural = _("contradictions")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["older", "newer"], name="one_conflict_a_pair")]

    def __str__(self) -> str:
        return f"{self.newer_id} / {self.older_id}"
