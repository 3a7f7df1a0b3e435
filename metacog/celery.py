"""The Celery app. Tasks are nudges: rows are the truth, and a sweep finds what a lost message left."""

import os
import warnings

from celery import Celery
from click import Option
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")
TRANSPORT_ALIASES["metacog"] = "metacog.runtime.broker.file:Transport"
TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = "metacog.runtime.broker.redis:Transport"

# Celery warns of running as root because of pickle; here only JSON is accepted.
warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")

app = Celery("metacog")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.user_options["worker"].add(Option(["--with-beat"], is_flag=True, help="run the beat as a thread of the worker"))
app.steps["worker"].add("metacog.runtime.beat:WithWorker")
