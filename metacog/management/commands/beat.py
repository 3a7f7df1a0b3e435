"""`manage.py beat`: the beat by itself, for a container or unit of its own."""

from metacog.management.commands import up


class Command(up.OneProcess):
    help = "Run the beat alone, on a database that `migrate` has prepared, until Ctrl-C or SIGTERM."
    process = up.BEAT
