"""What is searched: a document for each thing that can be found, and what still has to be indexed."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from metacog.models import Agent, Team


class SearchDocument(models.Model):
    """What is searched of one row of any kind, written behind it by reviews/search/indexing.py.

    The primary key begins with the time of the row, so that its order is that of time (reviews/search/index.py). The
    words are indexed beside it: in an FTS5 table on SQLite, in a column and its GIN index on PostgreSQL.
    """

    id = models.BigIntegerField(primary_key=True)
    kind = models.CharField(max_length=8)  # the prefix of its ids
    row_id = models.BigIntegerField()  # the primary key of the row
    # No constraints: what has gone leaves its document to the sweep.
    team = models.ForeignKey(Team, models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False)
    agent = models.ForeignKey(
        Agent, models.DO_NOTHING, null=True, related_name="+", db_index=False, db_constraint=False
    )
    session = models.CharField(max_length=255, blank=True)
    state = models.CharField(max_length=10, blank=True)
    labels = models.TextField(blank=True)  # one a line, each between line breaks: tools and metadata
    text = models.TextField()  # folded: reviews/search/folded.py

    class Meta:
        verbose_name = _("search document")
        verbose_name_plural = _("search documents")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["kind", "row_id"], name="one_document_a_row")]
        indexes = [  # the newest of each kind: of a team, of an agent, of all
            models.Index(fields=["team", "kind", "id"], name="documents_of_team"),
            models.Index(fields=["agent", "kind", "id"], name="documents_of_agent"),
            models.Index(fields=["kind", "id"], name="documents_of_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.row_id}"


class SearchDue(models.Model):
    """A row that was written or changed since it was indexed. Triggers add it in the transaction of the change."""

    kind = models.CharField(max_length=8)
    row_id = models.BigIntegerField()

    class Meta:
        verbose_name = _("row to be indexed")
        verbose_name_plural = _("rows to be indexed")
        indexes = [models.Index(fields=["kind", "row_id"], name="due_of_row")]

    def __str__(self) -> str:
        return f"{self.kind} {self.row_id}"


class SearchProgress(models.Model):
    """How far the rows are indexed that were there before the index was."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    turn = models.PositiveBigIntegerField(default=0)  # goes up with each batch: of two sweeps at once one writes
    left = models.JSONField(default=dict)  # by kind: rows up to this primary key are still to be indexed
    total = models.PositiveBigIntegerField(default=0)  # of those keys, when the index was made

    class Meta:
        verbose_name = _("progress of the search index")
        verbose_name_plural = _("progress of the search index")

    def __str__(self) -> str:
        return str(self.left)
