#!/usr/bin/env python3
"""Run one of the project's commands; `manage.py up` starts everything."""

from metacog.__main__ import main

if __name__ == "__main__":
    main()
