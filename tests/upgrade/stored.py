"""Where the databases of releases are stored, and under which key their secrets are encrypted."""

from pathlib import Path

RELEASES = Path(__file__).parent / "releases"  # by version, a database of each kind and what is to be known of it
SECRET_KEY = "the-secret-key-of-stored-databases-in-the-tests-of-upgrades"
