#!/usr/bin/env python3
"""Run one of the project's commands; `manage.py up` starts everything."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit("Django is not installed in this Python. Run `make up`, which makes .venv, or use .venv/bin/python.")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
