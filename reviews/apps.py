from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ReviewsConfig(AppConfig):
    name = "reviews"
    verbose_name = _("Reviews")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from patterns.patterns import lifecycle
        from reviews import webhooks

        lifecycle.proposed.connect(webhooks.tell_proposed)
