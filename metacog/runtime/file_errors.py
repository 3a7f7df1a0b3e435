"""Say which file cannot be used, why not, and what to do about it."""

from __future__ import annotations

import errno

_REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "Let this user read and write it, or name another."),
    errno.ENOENT: "Check its name, and that its folder is there.",
    errno.EISDIR: "Name a file, not a folder.",
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Make room there, or name another."),
}


def remedy(error: OSError) -> str:
    """Return what to do about a file that somebody named, as a sentence."""
    return _REMEDIES.get(error.errno or 0, "Name another.")


def cannot_be(done: str, path: object, error: OSError) -> str:
    """Return why the file or folder `path` cannot be `done` ("read", "written"), and what to do."""
    return f"{path} cannot be {done}: {error.strerror or error}. {remedy(error)}"


def database_remedy(said: str) -> str:
    """Return what to do about the database where SQLite, which names no file, `said` so; else nothing."""
    if "unable to open database file" in said or "readonly database" in said:
        return "Check that it is there, and let this user read and write it, and the folder it lies in."
    if "file is not a database" in said:
        return "Set METACOG_DATABASE_URL or METACOG_DATA_DIR to where the database lies."
    if "disk is full" in said:
        return "Make room there."
    return ""
