"""The secret key of an installation that was given none: made once, kept in a file only we can read."""

import os
import secrets
from pathlib import Path

from cancelboard.environment import WrongSetting


def kept(file: Path) -> str:
    """The key in `file`, made on the first call. Several processes may start at once: all get the same.

    Raises WrongSetting when the file can't be made, is too short, or others may read it.
    """
    try:
        if not file.exists():
            make(file)
        if file.stat().st_mode & 0o077:
            raise WrongSetting(
                "SECRET_KEY", f"others may read {file}", "Run chmod 600 on it, or set SECRET_KEY"
            )
        key = file.read_text(encoding="ascii").strip()
    except OSError as error:
        raise WrongSetting(
            "SECRET_KEY", f"{file}: {error.strerror}", "Make it writable, or set SECRET_KEY"
        ) from error
    if len(key) < 50:
        raise WrongSetting(
            "SECRET_KEY", f"{file} holds no whole key", "Delete it to make a new one, or set SECRET_KEY"
        )
    return key


def make(file: Path) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(secrets.token_urlsafe(64) + "\n")
    try:
        os.link(draft, file)  # unlike a rename it never replaces the key another process has just made
    except FileExistsError:
        pass
    finally:
        draft.unlink()
