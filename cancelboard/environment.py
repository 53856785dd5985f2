"""Reads the environment, loudly: a wrong value names its variable, what is wrong and what to do.

Not the settings themselves (`settings.py`), and free of Django's settings machinery, so that every
function can be called with any mapping.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

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


def places(name: str, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Functions by name: `bank=house.bank:look_up`, with commas. Raises WrongSetting."""
    found: dict[str, str] = {}
    for word in words(name, (), env):
        shape = re.fullmatch(r"([a-z0-9][a-z0-9_-]{0,63})=([\w.]+:\w+)", word, re.ASCII)
        if shape is None or shape[1] in ("http", *found):
            raise WrongSetting(
                name, f"{word!r} names no function", "Write bank=house.bank:look_up, each name once, not http"
            )
        found[shape[1]] = shape[2]
    return found


def receivers(name: str, env: Mapping[str, str] = os.environ) -> list[str]:
    """Hosts that may be asked, as they stand in an address: `api.bank.example`, `127.0.0.1:8001`. Raises
    WrongSetting."""
    found = [word.lower() for word in words(name, (), env)]
    for host in found:
        try:
            parts = urlsplit(f"//{host}")
            bare = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
            whole = bare if parts.port is None else f"{bare}:{parts.port}"
        except ValueError:
            whole = ""
        if whole != host or "*" in host or " " in host:
            raise WrongSetting(name, f"{host!r} is no host", "Write api.bank.example or 127.0.0.1:8001")
    return found


def numbers(name: str, default: tuple[int, ...] = (), env: Mapping[str, str] = os.environ) -> list[int]:
    """Whole numbers from 1 to 10,000, with commas. Raises WrongSetting."""
    found = words(name, tuple(map(str, default)), env)
    for word in found:
        if not (word.isascii() and word.isdigit() and 1 <= int(word) <= 10_000):
            raise WrongSetting(name, f"{word!r} is no whole number from 1 to 10000", "Write 1,8,24")
    return sorted({int(word) for word in found})


def addresses(name: str, env: Mapping[str, str] = os.environ) -> list[str]:
    """E-mail addresses, with commas. Raises WrongSetting."""
    found = words(name, (), env)
    for word in found:
        if not re.fullmatch(r"[^\s@<>,;]+@[^\s@<>,;]+", word):
            raise WrongSetting(name, f"{word!r} is no e-mail address", "Write duty@house.example")
    return found


def smtp(name: str, env: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """A mail server for Django's e-mail: `smtp://`, `smtp+starttls://` or `smtps://`.
    Raises WrongSetting, which never repeats the address: it may hold a password."""
    if not (url := text(name, "", env)):
        return {}
    remedy = "Write smtps://user:password@mail.example:465, smtp+starttls:// or smtp://"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise WrongSetting(name, f"it is no address ({error})", remedy) from None
    ports = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}
    if parts.scheme not in ports or not parts.hostname or parts.path.strip("/") or parts.query:
        raise WrongSetting(name, "it names no mail server", remedy)
    return {
        "host": parts.hostname,
        "port": port or ports[parts.scheme],
        "username": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "use_tls": parts.scheme == "smtp+starttls",
        "use_ssl": parts.scheme == "smtps",
    }


def webhook(name: str, env: Mapping[str, str] = os.environ) -> str:
    """An address by HTTPS, or to this machine. Raises WrongSetting."""
    url = text(name, "", env)
    try:
        parts = urlsplit(url)
        safe = parts.scheme == "https" or parts.hostname in ("127.0.0.1", "localhost", "::1")
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        safe = whole = False
    if url and not (safe and whole):
        raise WrongSetting(
            name, "it is no https:// address without a user", "Write https://house.example/alerts"
        )
    return url


def tokens(name: str, env: Mapping[str, str] = os.environ) -> dict[tuple[str, str], str]:
    """Bearer tokens by tenant and host, from a file that nobody else may read: `acme api.bank.example TOKEN`
    a line. Raises WrongSetting, never with what the file holds."""
    if not (path := text(name, "", env)):
        return {}
    try:
        mode, lines = Path(path).stat().st_mode, Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongSetting(name, f"{path} can't be read", "Name a text file, mode 600") from error
    if mode & 0o077:
        raise WrongSetting(name, f"others may read {path}", "Run chmod 600 on it")
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if len(parts := line.split()) != 3 or not parts[2].isascii():
            raise WrongSetting(name, f"line {number} of {path} is no TENANT HOST TOKEN", "Write three words")
        found[parts[0], parts[1].lower()] = parts[2]
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
