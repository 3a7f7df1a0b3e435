from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps
from django.utils.translation import gettext_lazy as _


class MetacogConfig(AppConfig):
    name = "metacog"
    verbose_name = _("Teams and agents")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # The package's __init__ stays empty so that the heuristics load without Celery and Django.
        from django.conf import settings

        from metacog.heuristics.tool_calls import secret_shapes
        from metacog.runtime import (
            checks,  # noqa: F401 - importing makes the app and registers the checks
            error_reports,
        )
        from metacog.sign_in import (
            providers,  # noqa: F401 - importing registers the check
            second_factor,  # noqa: F401 - importing connects its signals
        )

        secret_shapes.use_own(settings.SECRET_SHAPES)
        if settings.SENTRY_DSN:
            error_reports.start(settings.SENTRY_DSN)


class ConsoleAdminConfig(admin_apps.AdminConfig):
    """Django's admin app with our site; named in INSTALLED_APPS, never picked as metacog's own config."""

    default = False
    default_site = "metacog.admin_site.ConsoleSite"

    def ready(self) -> None:
        super().ready()
        from django.contrib import admin
        from django.contrib.auth.models import Group

        admin.site.unregister(Group)  # roles in teams say who may do what; groups say nothing here
        # Accounts of providers, second factors and sessions: everybody has their own page for those.
        admin.site.unregister([model for model in admin.site._registry if model.__module__.startswith("allauth.")])
