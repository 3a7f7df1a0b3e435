"""`manage.py web`: the web server by itself, for a container or unit of its own."""

import fcntl
import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from metacog.management.commands import up
from metacog.notices import push
from metacog.runtime import catalogs
from metacog.runtime.stand_in import standing_in


class Command(BaseCommand):
    help = "Run the web server alone, on a database that `migrate` has prepared, until Ctrl-C or SIGTERM."
    requires_system_checks = []  # as for `up`

    def add_arguments(self, parser: ArgumentParser) -> None:
        up.add_address(parser)

    def handle(self, *args: Any, host: str, port: int, workers: int, **options: Any) -> None:
        up.check_address(host, port, workers)
        up.begin()
        up.check_port(host, port)
        lock = up.open_data_folder("web.lock")
        up.await_prepared(standing_in(host, port))
        fcntl.flock(lock, fcntl.LOCK_EX)  # another may be collecting its files there
        with up.prepared_alone():
            up.check_providers()
            greeting = up.first_owner()
            push.ensure_key()
        if greeting:
            up.say(greeting)
        catalogs.compile_all()
        up.collect_static()
        os.close(lock)
        up.serve(host, port, workers)
