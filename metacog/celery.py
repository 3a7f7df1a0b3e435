"""The Celery app. Tasks are nudges: rows are the truth, and a sweep finds what a lost message left."""

from celery import Celery

app = Celery("metacog")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
