"""The shipped verifier: asks a receiver's own address by idempotency key, and reads one word of its JSON.

It asks only hosts that the installation names (CANCELBOARD_LOOKUP_HOSTS), follows no redirect, uses no proxy,
reads no more than 64 KiB and takes no longer than the time it is given. A bearer token goes only to the host
it was written down for, for its tenant (CANCELBOARD_LOOKUP_TOKENS), by HTTPS or to this machine.

Only a word that the administrator named settles a step. 404 is "not found", never "did not happen".
"""

import asyncio
import json
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx
from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from runs.models import Tool

from .finding import Finding, Question

HTTP = "http"  #: what a tool names it by
MOST_BYTES = 64 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Words:
    """Where the answer's word stands, and what it means."""

    field: str
    ok: frozenset[str]
    rejected: frozenset[str]
    value: str


def asked_of(tool: Tool) -> Any:
    """The tool's look-up as a function of a question; None where its address may not be asked."""
    if fault(tool.lookup_url):
        return None
    meant = Words(tool.lookup_field, words(tool.lookup_ok), words(tool.lookup_rejected), tool.lookup_value)
    return partial(_look_up, tool.lookup_url, meant)


def receiver(url: str) -> str:
    """The host that is asked, with its port where one is named."""
    return urlsplit(url).netloc.lower()


def fault(url: str) -> str | Promise:
    """Why the address may not be asked; empty where it may."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return _("This is no address.")
    if parts.scheme not in ("http", "https") or not host:
        return _("A look-up address begins with http:// or https://.")
    if "{key}" not in parts.path + "?" + parts.query or set("{}") & set(url.replace("{key}", "")):
        return _("It names {key} in its path or query, and nothing else in braces.")
    if "@" in parts.netloc or parts.fragment or any(ord(char) <= 32 or char == "\\" for char in url):
        return _("It holds no user, fragment, space or backslash.")
    if parts.netloc.lower() not in settings.CANCELBOARD_LOOKUP_HOSTS:
        return _("Its host is not in CANCELBOARD_LOOKUP_HOSTS.")
    return ""


def words(text: str) -> frozenset[str]:
    """What stands between commas."""
    return frozenset(word.strip() for word in text.split(",") if word.strip())


def _look_up(url: str, words: Words, question: Question) -> Finding:
    host = receiver(url)
    address = url.replace("{key}", question.key)  # `cb-` and hex digits: nothing to escape
    token = settings.CANCELBOARD_LOOKUP_TOKENS.get((question.tenant, host))
    headers = {"Accept": "application/json"}
    if token and (address.startswith("https://") or urlsplit(address).hostname in LOOPBACK):
        headers["Authorization"] = f"Bearer {token}"
    try:
        status, body = asyncio.run(_get(address, headers))
    except (TimeoutError, httpx.TimeoutException):
        return Finding.not_known(
            "timed_out", f"{host} did not answer within {settings.CANCELBOARD_CHECK_SECONDS} s."
        )
    except httpx.HTTPError as error:
        return Finding.not_known("other", f"{host} could not be asked ({type(error).__name__}).")
    return _read(host, words, status, body)


async def _get(address: str, headers: dict[str, str]) -> tuple[int, bytes]:
    """The whole of it within the time, however slowly the answer drips."""
    async with asyncio.timeout(settings.CANCELBOARD_CHECK_SECONDS):
        async with (
            httpx.AsyncClient(
                trust_env=False, follow_redirects=False, timeout=settings.CANCELBOARD_CHECK_SECONDS
            ) as client,
            client.stream("GET", address, headers=headers) as answer,
        ):
            body = b""
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    break
            return answer.status_code, body


def _read(host: str, words: Words, status: int, body: bytes) -> Finding:
    if status in (404, 410):
        return Finding.not_known("not_found", f"{host} answered {status}.")
    if not 200 <= status < 300 or len(body) > MOST_BYTES:
        return Finding.not_known("ambiguous", f"{host} answered {status}, {len(body)} bytes.")
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return Finding.not_known("ambiguous", f"{host} answered {status}, but no JSON.")
    word, value = _at(told, words.field), _at(told, words.value) if words.value else ""
    text = f"{host} answered {status}, {words.field}: {word}."
    if word in words.ok - words.rejected:
        return Finding.happened(text, value)
    if word in words.rejected - words.ok:
        return Finding.refused(text, value)
    return Finding.not_known("ambiguous", f"{host} answered {status}, without a word that settles it.")


def _at(told: Any, path: str) -> str:
    """What stands at a path such as `data.0.status`, as text; empty where there is nothing plain."""
    for part in path.split("."):
        if isinstance(told, list) and part.isdecimal() and int(part) < len(told):
            told = told[int(part)]
        elif isinstance(told, dict) and part in told:
            told = told[part]
        else:
            return ""
    if isinstance(told, bool):
        return "true" if told else "false"
    return str(told) if isinstance(told, str | int) else ""
