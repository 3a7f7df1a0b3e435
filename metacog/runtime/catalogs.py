"""Compile the translations' sources (locale/<language>/django.po) into the data folder."""

import os
from pathlib import Path

from django.conf import settings

from metacog.runtime.po import compiled


def compile_all() -> None:
    """Bring the compiled catalogues up to date with their sources."""
    for source in sorted(Path(settings.LOCALE_SOURCE).glob("*/django.po")):
        target = Path(settings.LOCALE_PATHS[0]) / source.parent.name / "LC_MESSAGES" / "django.mo"
        # The compiled file carries its source's time: newer is not enough after a checkout.
        changed_at = source.stat().st_mtime_ns
        if target.exists() and target.stat().st_mtime_ns == changed_at:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".django-{os.getpid()}.mo")
        draft.write_bytes(compiled(source.read_text()))
        os.utime(draft, ns=(changed_at, changed_at))
        draft.replace(target)
