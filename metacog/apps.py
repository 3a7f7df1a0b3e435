from django.apps import AppConfig


class MetacogConfig(AppConfig):
    name = "metacog"
    verbose_name = "Teams and agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # The package's __init__ stays empty so that the heuristics load without Celery and Django.
        from metacog import celery, checks  # noqa: F401
