"""At which address people reach this installation: known to its processes, kept for commands that run beside them."""

from django.conf import settings

FILE = "address"  # in the data folder


def keep() -> None:
    """Keep the address of the settings in force."""
    (settings.DATA_DIR / FILE).write_text(f"{settings.PUBLIC_URL}\n")


def address() -> str:
    """Return the address that mail of this installation has; as the settings say it where nothing has run yet."""
    try:
        return (settings.DATA_DIR / FILE).read_text().strip() or settings.PUBLIC_URL
    except OSError:
        return settings.PUBLIC_URL
