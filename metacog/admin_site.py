"""Django's admin in our dress: who gets in, and the base that keeps everybody to their own teams."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import ERROR_FLAG
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import ForeignKey, Model, QuerySet
from django.forms import Media
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.tool_calls.secrets import masked
from metacog.models import Role, Team, User

# What people here call fields that have no name of their own in the model: one there takes a migration.
NAMES = {
    "action": _("action"),
    "actor": _("who"),
    "actor_kind": _("kind of actor"),
    "after": _("after"),
    "agent": _("agent"),
    "answer": _("answer"),
    "at": _("time"),
    "before": _("before"),
    "by": _("decided by"),
    "closed_at": _("closed at"),
    "confirmed_at": _("confirmed at"),
    "created_at": _("created at"),
    "created_by": _("added by"),
    "data": _("details"),
    "day": _("day"),
    "decided_at": _("decided at"),
    "due_at": _("due at"),
    "erased_at": _("erased at"),
    "expires_at": _("expires at"),
    "granted": _("tool calls granted"),
    "guidance": _("guidance"),
    "held_at": _("held at"),
    "hesitation_score": _("hesitation score"),
    "item_sha256": _("digest of the shown text (SHA-256)"),
    "item_version": _("shown version"),
    "kind": _("kind"),
    "made_at": _("made at"),
    "model_asked_at": _("model asked at"),
    "model_trouble": _("model error"),
    "number": _("request number"),
    "object_id": _("id of the changed object"),
    "policy_version": _("policy version"),
    "problem": _("problem"),
    "public_id": _("id"),
    "reason": _("reason"),
    "release_at": _("can be undone until"),
    "released_at": _("the agent was told at"),
    "request_id": _("id of the request"),
    "responses": _("responses"),
    "retired_at": _("retired at"),
    "review_due_at": _("second look at"),
    "seq": _("decision number of the agent"),
    "session": _("session"),
    "sha256": _("digest of the text (SHA-256)"),
    "since": _("start of the period"),
    "state": _("state"),
    "step": _("step"),
    "team": _("team"),
    "text_sha256": _("digest of the released text (SHA-256)"),
    "undone_at": _("undone at"),
    "until": _("end of the period"),
    "verdict": _("decision"),
    "version": _("version"),
}


class ConsoleSite(admin.AdminSite):
    """The admin of everything at /admin/; what each person finds there is up to `ScopedAdmin`."""

    site_title = _("metacog admin")
    site_header = _("metacog admin")
    index_title = _("Administration")
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        return bool(team_ids(request, Role.CURATOR)) or (
            request.user.is_active and request.user.is_superuser  # on the first day there is no team
        )

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Leave signing in to the console's own page, which is throttled."""
        if request.user.is_authenticated:
            return redirect("queue")
        after = request.GET.get("next") or reverse("admin:index")
        return redirect(f"{reverse('sign-in')}?{urlencode({'next': after})}")

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return redirect("preferences")


def team_ids(request: HttpRequest, role: Role) -> set[int]:
    """Return the teams in which the person has at least this role, read once a request."""
    kept: dict[Role, set[int]] = request.__dict__.setdefault("_team_ids", {})
    if role not in kept:
        user = request.user
        kept[role] = set(user.teams_as(role).values_list("pk", flat=True)) if user.is_authenticated else set()
    return kept[role]


def person(request: HttpRequest) -> User:
    """Return who is signed in, whom the site lets in alone."""
    assert isinstance(request.user, User)
    return request.user


def _mask(row: Model) -> None:
    for field in row._meta.concrete_fields:
        value = row.__dict__.get(field.attname)
        if isinstance(value, str | dict | list) and not field.primary_key:
            setattr(row, field.attname, masked(value))


class ScopedFilter(admin.RelatedFieldListFilter):
    """Offer the teams, or the agents of the teams, that the person may see; others are not named."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        assert isinstance(model_admin, ScopedAdmin)
        path = "pk" if field.related_model is Team else "team"
        scope = {f"{path}__in": team_ids(request, model_admin.role_to_view)}
        choices: list[tuple[str, Any]] = field.get_choices(
            include_blank=False, ordering=("name",), limit_choices_to=scope
        )
        return choices


class ScopedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not subscriptable when run
    """Shows and changes only what belongs to teams in which the person has the role.

    `team_path` leads from the model to its team. A role of None means that nobody may, superusers
    included: what history points at is retired or disabled, not deleted.
    """

    team_path: ClassVar[str] = "team"
    role_to_view: ClassVar[Role] = Role.CURATOR
    role_to_add: ClassVar[Role | None] = None
    role_to_change: ClassVar[Role | None] = None
    role_to_delete: ClassVar[Role | None] = None
    page: ClassVar[str]  # the name of a row's page in the console
    list_per_page = 50
    show_full_result_count = False  # counting a large table costs more than reading its page

    def __init__(self, model: type[Model], admin_site: admin.AdminSite) -> None:
        super().__init__(model, admin_site)
        for field in model._meta.concrete_fields:
            if field._verbose_name is None and field.name in NAMES:  # type: ignore[attr-defined]  # as the model gives it
                field.verbose_name = NAMES[field.name]

    @property
    def media(self) -> Media:
        """Leave out what fills in slugs as one types, 48 KB: no form here does."""
        names = ("vendor/jquery/jquery.min", "jquery.init", "core", "admin/RelatedObjectLookups", "actions")
        return Media(js=[f"admin/js/{name}.js" for name in names])

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        scope = {f"{self.team_path}__in": team_ids(request, self.role_to_view)}
        return super().get_queryset(request).filter(**scope)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Read a row; of one that is only looked at, secrets are masked."""
        found = super().get_object(request, object_id, from_field)
        if found is not None and not self.has_change_permission(request, found):
            _mask(found)
        return found

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Read the rows of a list, and mask their secrets; actions read them anew."""
        found = super().get_changelist_instance(request)
        for row in found.result_list:
            _mask(row)
        return found

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._may(request, self.role_to_view, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._may(request, self.role_to_add)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._may(request, self.role_to_change, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._may(request, self.role_to_delete, obj)

    @admin.display(description=_("in the console"))
    def console(self, obj: Any) -> str:
        return format_html('<a href="{}">{}</a>', reverse(self.page, args=[self.page_id(obj)]), gettext("Open"))

    def page_id(self, obj: Any) -> str:
        """Return what the address of a row's page takes."""
        public_id: str = obj.public_id
        return public_id

    def _may(self, request: HttpRequest, role: Role | None, obj: Model | None = None) -> bool:
        if role is None:
            return False
        teams = team_ids(request, role)
        return bool(teams) if obj is None else self._team_id(obj) in teams

    def _team_id(self, obj: Any) -> Any:
        *way, last = self.team_path.split("__")
        for name in way:
            obj = getattr(obj, name)
        return obj.pk if last == "pk" else getattr(obj, f"{last}_id")

    def formfield_for_foreignkey(self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        """Offer and take the person's own teams; for any other relation nothing, until it is scoped here."""
        model: Any = db_field.related_model
        mine = Team.objects.filter(pk__in=team_ids(request, self.role_to_add or self.role_to_view))
        kwargs["queryset"] = mine if model is Team else model._default_manager.none()
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        if not all(key.isascii() and key.isdigit() and len(key) < 19 for key in chosen):
            raise BadRequest("A row is chosen by its number.")
        title = capfirst(str(self.opts.verbose_name_plural))
        try:
            return super().changelist_view(request, {"title": title, **(extra_context or {})})
        except OverflowError:  # a number that SQLite has no room for; as Django does with what is none
            return redirect(f"{request.path}?{ERROR_FLAG}=1")

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Say what `save_model` refuses, and show the row as it is: somebody was faster than the form's own check."""
        try:
            response: HttpResponse = super().changeform_view(request, *args, **kwargs)
        except ValidationError as error:  # by now all of it was rolled back
            for problem in error.messages:
                messages.error(request, problem)
            response = redirect(request.get_full_path())
        return response

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> HttpResponse:
        # Django leads to the index and says that no such id exists; a stranger's is 404 as everywhere.
        raise Http404
