"""Reads the environment, loudly: a wrong value names its variable, what is wrong and what to do.

Not the settings themselves (`settings.py`), and free of Django's settings machinery, so that every
function can be called with any mapping.
"""

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

ON = {"1", "true", "yes", "on"}
OFF = {"0", "false", "no", "off", ""}


class WrongSetting(ImproperlyConfigured):
    """A variable of the environment can't be used as it is."""

    def __init__(self, name: str, problem: str, remedy: str) -> None:
        super().__init__(f"{name}: {problem}. {remedy}.")


def text(name: str, default: str = "", env: Mapping[str, str] = os.environ) -> str:
    """The variable without surrounding space; `default` where it is unset or empty."""
    return env.get(name, "").strip() or default


def flag(name: str, default: bool = False, env: Mapping[str, str] = os.environ) -> bool:
    """True or false. Raises WrongSetting for any other word: a typo must not switch security off."""
    value = env.get(name, "on" if default else "off").strip().lower()
    if value in ON | OFF:
        return value in ON
    raise WrongSetting(name, f"{value!r} is neither on nor off", "Write 1 or 0")


def integer(name: str, default: int, low: int, high: int, env: Mapping[str, str] = os.environ) -> int:
    """A whole number between `low` and `high`, both included. Raises WrongSetting."""
    value = text(name, str(default), env)
    if value.isascii() and value.isdigit() and low <= int(value) <= high:
        return int(value)
    raise WrongSetting(
        name, f"{value!r} is no whole number from {low} to {high}", f"The default is {default}"
    )


def choice(name: str, options: tuple[str, ...], env: Mapping[str, str] = os.environ) -> str:
    """One of `options`, in any case; the first where nothing is set. Raises WrongSetting."""
    value = text(name, options[0], env).upper()
    if value in options:
        return value
    raise WrongSetting(name, f"{value!r} is not known", f"Choose one of {', '.join(options)}")


def words(name: str, default: tuple[str, ...] = (), env: Mapping[str, str] = os.environ) -> list[str]:
    """A comma-separated list, without empty parts."""
    return [word.strip() for word in env.get(name, "").split(",") if word.strip()] or list(default)


def hosts(name: str, default: tuple[str, ...], env: Mapping[str, str] = os.environ) -> list[str]:
    """Host names without scheme, port or path. Raises WrongSetting (`*` too: it lets any Host header in)."""
    found = words(name, default, env)
    for host in found:
        if host == "*":
            raise WrongSetting(
                name, "'*' would believe any Host header", "List the names the board is reached by"
            )
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host.replace(":", "/")
        if "/" in bare or " " in bare:
            raise WrongSetting(
                name, f"{host!r} is no host name", "Write board.example.com, without scheme or port"
            )
    return found


def origins(name: str, env: Mapping[str, str] = os.environ) -> list[str]:
    """Full origins, `scheme://host[:port]`. Raises WrongSetting (wildcards too)."""
    found = words(name, (), env)
    for origin in found:
        parts = urlsplit(origin)
        bare = f"{parts.scheme}://{parts.netloc}"
        if parts.scheme not in {"http", "https"} or not parts.netloc or origin != bare or "*" in origin:
            raise WrongSetting(
                name, f"{origin!r} is no full origin", "Write https://board.example.com, nothing after"
            )
    return found
