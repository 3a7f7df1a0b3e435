"""The processes: the supervisor, Celery's broker, beat and worker, system checks, message catalogs, log lines."""
