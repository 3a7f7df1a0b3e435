"""What the worker runs. Every task may run twice or never: the next sweep finds what is due."""

from celery import shared_task
from django.utils import timezone


@shared_task
def settle() -> None:
    """Release people's decisions whose time to undo is over, and expire what nobody decided."""
    from reviews.held import decisions
    from reviews.investigation import extensions

    decisions.settle()
    extensions.settle()


@shared_task
def deliver() -> None:
    """Send the callbacks that are due."""
    from reviews.outbox import deliveries

    deliveries.deliver_due()


@shared_task
def chair() -> None:
    """Have the model, if there is one, answer requests for more tool calls."""
    from reviews.investigation import llm_judge

    llm_judge.answer_waiting()


@shared_task
def seal_audit() -> None:
    """Seal the audit events that no seal covers yet."""
    from metacog.audit import chain

    chain.seal()


@shared_task
def keep_anchor() -> None:
    """Write the day's anchor of the audit record into the data folder, once."""
    from metacog.audit import chain

    chain.keep_anchor()


@shared_task
def erase() -> None:
    """Erase the texts that teams no longer keep, what people were told too long ago, and removed webhooks' secrets."""
    from reviews import retention
    from reviews.outbox import notifications, webhooks

    retention.erase()
    notifications.forget()
    webhooks.forget_removed(timezone.now())


@shared_task
def count_days() -> None:
    """Count the daily figures of today, yesterday and every day that changed since, of agents and of people."""
    from reviews.metrics import daily, review_time

    daily.count_days(timezone.now())
    review_time.count_days(timezone.now())


@shared_task
def group_alike() -> None:
    """Find near-duplicates among what was held before a release that knows of them."""
    from reviews.held import alike

    alike.fill()


@shared_task
def pick_samples() -> None:
    """Pick, once for each day of each agent that is over, the spot checks that people are asked to answer."""
    from reviews.metrics import sampling

    sampling.pick_due(timezone.now())


@shared_task
def fit_weights() -> None:
    """Fit weights to people's verdicts, for each agent once a day and after each change of its policy."""
    from reviews.metrics import weight_fits

    weight_fits.fit_due(timezone.now())


@shared_task(soft_time_limit=600, time_limit=660)  # 20,000 decisions take a minute
def learn_risk() -> None:
    """Learn, for each team once a day, in which order what it decides about is at risk."""
    from reviews.risk import learning

    learning.learn_due(timezone.now())


@shared_task
def reflect() -> None:
    """Look back, once, on each day of each agent that is over."""
    from reviews.learning import reflections

    reflections.reflect_due(timezone.now())


@shared_task
def learn() -> None:
    """Propose error patterns from what was said and decided since, and count the records of those there are."""
    from reviews.learning import sweep

    sweep.learn()


@shared_task
def contrast() -> None:
    """Propose phrases that rejected texts have and approved ones have not, in each team where enough is new."""
    from reviews.learning import contrast

    contrast.look_due(timezone.now())


@shared_task
def try_proposals() -> None:
    """Keep a backtest with each proposed pattern."""
    from reviews.learning import trials

    trials.try_due(timezone.now())


@shared_task
def learn_corrections() -> None:
    """Learn from what people answered about corrections, for each team once a day."""
    from reviews.learning import corrections

    corrections.learn_due(timezone.now())


@shared_task
def index_memory() -> None:
    """Index anew what the teams remember, where the stemmer has changed since."""
    from reviews.intake import knowledge

    knowledge.index_anew()


@shared_task
def search() -> None:
    """Search for the research that is due."""
    from reviews.investigation import research

    research.search_due()


@shared_task
def index_search() -> None:
    """Index for the search what was written and changed since, then what was there before the index."""
    from reviews.search import indexing

    indexing.sweep()


@shared_task
def notify() -> None:
    """Ask whom the teams' settings name, and tell people what waits for them."""
    from reviews.asking import steps
    from reviews.outbox import notifications

    steps.sweep()
    notifications.write_due()
    notifications.send_due()


@shared_task
def report_weeks() -> None:
    """Owe people the reports of the weeks that are over, where they are."""
    from reviews.outbox import weekly

    weekly.write_due(timezone.now())


@shared_task
def cards() -> None:
    """Post held items into the chats in which teams decide, and bring what was posted up to date."""
    from reviews.chats import cards

    cards.sweep()


@shared_task
def import_logs() -> None:
    """Read on in uploaded logs, and delete those whose time is over."""
    from reviews.logs import imports

    imports.work_due(timezone.now())


@shared_task
def heartbeat() -> None:
    """Show that a worker is there; /readyz looks at the row's age."""
    from metacog.models import Heartbeat

    Heartbeat.objects.update_or_create(name="worker", defaults={"at": timezone.now()})


@shared_task
def ask_providers() -> None:
    """Ask OpenID Connect providers whether they still vouch for people, and take what lapsed."""
    from metacog.sign_in import vouching

    vouching.sweep()
