from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class ReviewsConfig(AppConfig):
    name = "reviews"
    verbose_name = _("Reviews")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from metacog.accounts import agents
        from metacog.pages import agent_choice
        from patterns.patterns import lifecycle
        from reviews.held import decisions, filters
        from reviews.records import events
        from reviews.search import triggers

        post_migrate.connect(triggers.after_migrating, sender=self)
        lifecycle.proposed.connect(events.tell_proposed)
        agent_choice.PAGES["queue"] = filters.KEPT
        agents.withdrawing.connect(decisions.withdraw_with_agent)
