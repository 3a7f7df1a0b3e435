"""What holds a secret stands encrypted in an address, and is meant all the same."""

from __future__ import annotations

from typing import Any

from metacog.http.sealed import SEAL, opened, sealed

NAME = "run glpat-aB3dE5gH7jK9mN1pQ3sT é"


def test_only_what_holds_a_secret_is_sealed_the_same_each_time_and_opened() -> None:
    assert sealed("run-7") == opened("run-7") == "run-7"
    assert sealed(NAME).startswith(SEAL)
    assert "aB3dE5" not in sealed(NAME)
    assert sealed(NAME) == sealed(NAME)
    assert opened(sealed(NAME)) == NAME


def test_it_is_opened_by_a_former_secret_key_and_by_no_other(settings: Any) -> None:
    old, address = settings.SECRET_KEY, sealed(NAME)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, [old]
    assert opened(address) == NAME
    assert sealed(NAME) != address
    settings.SECRET_KEY_FALLBACKS = []
    assert opened(address) == address


def test_what_was_never_sealed_means_itself() -> None:
    for rest in ("", "abc", "é", "A" * 80, "A" * 5_000, sealed(NAME)[len(SEAL) : -6]):
        assert opened(f"{SEAL}{rest}") == f"{SEAL}{rest}"
