"""What this program is called where it was started: `manage.py` in a checkout, `metacog` where it is installed."""

import sys
from pathlib import Path

IN_CHECKOUT = (Path(__file__).resolve().parents[2] / "manage.py").is_file()

_CALLED = {"manage.py": "manage.py", "__main__.py": "python -m metacog"}


def command(name: str) -> str:
    """Return what to type for one of the commands, as this one was typed."""
    return f"{_CALLED.get(Path(sys.argv[0]).name, 'metacog')} {name}"
