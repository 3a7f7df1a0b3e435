"""Compile the translations' sources (locale/<language>/django.po) into the data folder.

Babel does it, so that the machine needs no gettext.
"""

import os
from pathlib import Path

from django.conf import settings


def compile_all() -> None:
    """Bring the compiled catalogues up to date with their sources."""
    for source in sorted(Path(settings.LOCALE_SOURCE).glob("*/django.po")):
        target = Path(settings.LOCALE_PATHS[0]) / source.parent.name / "LC_MESSAGES" / "django.mo"
        # The compiled file carries its source's time: newer is not enough after a checkout.
        changed_at = source.stat().st_mtime_ns
        if target.exists() and target.stat().st_mtime_ns == changed_at:
            continue
        from babel.messages.mofile import write_mo  # not needed where they come compiled
        from babel.messages.pofile import read_po

        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".django-{os.getpid()}.mo")
        with source.open("rb") as po, draft.open("wb") as mo:
            write_mo(mo, read_po(po, locale=source.parent.name))
        os.utime(draft, ns=(changed_at, changed_at))
        draft.replace(target)
