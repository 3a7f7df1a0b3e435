"""What the worker runs. Every task may run twice or never: the next sweep finds what is due."""

from celery import shared_task
from django.utils import timezone

import metacog.audit.chain
import metacog.sign_in.vouching
import reviews.asking.steps
import reviews.chats.cards
import reviews.held.alike
import reviews.held.decisions
import reviews.intake.knowledge
import reviews.investigation.extensions
import reviews.investigation.llm_judge
import reviews.investigation.research
import reviews.learning.contrast
import reviews.learning.corrections
import reviews.learning.reflections
import reviews.learning.sweep
import reviews.learning.trials
import reviews.logs.imports
import reviews.metrics.daily
import reviews.metrics.review_time
import reviews.metrics.sampling
import reviews.metrics.weight_fits
import reviews.outbox.deliveries
import reviews.outbox.notifications
import reviews.outbox.webhooks
import reviews.outbox.weekly
import reviews.retention
import reviews.risk.learning
import reviews.search.indexing
from metacog.models import Heartbeat
from reviews.isolation import by_itself


@shared_task
def settle() -> None:
    """Release people's decisions whose time to undo is over, and expire what nobody decided."""
    reviews.held.decisions.settle()
    reviews.investigation.extensions.settle()


@shared_task
def deliver() -> None:
    """Send the callbacks that are due."""
    reviews.outbox.deliveries.deliver_due()


@shared_task
def chair() -> None:
    """Have the model, if there is one, answer requests for more tool calls."""
    reviews.investigation.llm_judge.answer_waiting()


@shared_task
def seal_audit() -> None:
    """Seal the audit events that no seal covers yet."""
    metacog.audit.chain.seal()


@shared_task
def keep_anchor() -> None:
    """Write the day's anchor of the audit record into the data folder, once."""
    metacog.audit.chain.keep_anchor()


@shared_task
def erase() -> None:
    """Erase the texts that teams no longer keep, what people were told too long ago, and removed webhooks' secrets."""
    reviews.retention.erase()
    reviews.outbox.notifications.forget()
    reviews.outbox.webhooks.forget_removed(timezone.now())


@shared_task
def count_days() -> None:
    """Count the daily figures of today, yesterday and every day that changed since, of agents and of people."""
    reviews.metrics.daily.count_days(timezone.now())
    reviews.metrics.review_time.count_days(timezone.now())


@shared_task
def group_alike() -> None:
    """Find near-duplicates among what was held before a release that knows of them."""
    reviews.held.alike.fill()


@shared_task
def pick_samples() -> None:
    """Pick, once for each day of each agent that is over, the spot checks that people are asked to answer."""
    reviews.metrics.sampling.pick_due(timezone.now())


@shared_task
def fit_weights() -> None:
    """Fit weights to people's verdicts, for each agent once a day and after each change of its policy."""
    reviews.metrics.weight_fits.fit_due(timezone.now())


@shared_task(soft_time_limit=600, time_limit=660)  # 20,000 decisions take a minute
def learn_risk() -> None:
    """Learn, for each team once a day, in which order what it decides about is at risk."""
    reviews.risk.learning.learn_due(timezone.now())


@shared_task
def reflect() -> None:
    """Look back, once, on each day of each agent that is over."""
    reviews.learning.reflections.reflect_due(timezone.now())


@shared_task
def learn() -> None:
    """Propose error patterns from what was said and decided since, and count the records of those there are."""
    reviews.learning.sweep.learn()


@shared_task
def contrast() -> None:
    """Propose phrases that rejected texts have and approved ones have not, in each team where enough is new."""
    reviews.learning.contrast.look_due(timezone.now())


@shared_task
def try_proposals() -> None:
    """Keep a backtest with each proposed pattern."""
    reviews.learning.trials.try_due(timezone.now())


@shared_task
def learn_corrections() -> None:
    """Learn from what people answered about corrections, for each team once a day."""
    reviews.learning.corrections.learn_due(timezone.now())


@shared_task
def index_memory() -> None:
    """Index anew what the teams remember, where the stemmer has changed since."""
    reviews.intake.knowledge.index_anew()


@shared_task
def search() -> None:
    """Search for the research that is due."""
    reviews.investigation.research.search_due()


@shared_task
def index_search() -> None:
    """Index for the search what was written and changed since, then what was there before the index."""
    reviews.search.indexing.sweep()


@shared_task
def notify() -> None:
    """Ask whom the teams' settings name, owe people the reports of weeks that are over, and tell them what waits."""
    reviews.asking.steps.sweep()
    with by_itself("The weekly reports were not written"):
        reviews.outbox.weekly.write_due(timezone.now())
    reviews.outbox.notifications.write_due()
    reviews.outbox.notifications.send_due()


@shared_task
def cards() -> None:
    """Post held items into the chats in which teams decide, and bring what was posted up to date."""
    reviews.chats.cards.sweep()


@shared_task
def import_logs() -> None:
    """Read on in uploaded logs, and delete those whose time is over."""
    reviews.logs.imports.work_due(timezone.now())


@shared_task
def heartbeat() -> None:
    """Show that a worker is there; /readyz looks at the row's age."""
    Heartbeat.objects.update_or_create(name="worker", defaults={"at": timezone.now()})


@shared_task
def ask_providers() -> None:
    """Ask OpenID Connect providers whether they still vouch for people, and take what lapsed."""
    metacog.sign_in.vouching.sweep()
