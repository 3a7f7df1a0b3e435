"""`manage.py worker`: the worker by itself, for a container or unit of its own."""

from metacog.management.commands import up


class Command(up.OneProcess):
    help = "Run the worker alone, on a database that `migrate` has prepared, until Ctrl-C or SIGTERM."
    process = up.WORKER
