"""Canonical JSON (RFC 8785) and the digests made of it. Everything that is hashed goes through here."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import rfc8785


def canonical(value: Any) -> str:
    """RFC 8785 text of `value`: objects with string keys, lists, strings, integers, booleans, null.

    The standard library sorts keys by code point, RFC 8785 by UTF-16 unit; they differ only where a
    character at or above U+D800 occurs, so only such values pay for the slower library.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text if max(text) < "\ud800" else rfc8785.dumps(value).decode()


def digest(value: Any) -> str:
    """Hex SHA-256 of the canonical text: 64 characters."""
    return sha256(canonical(value).encode()).hexdigest()


def receipt_digest(receipt: Mapping[str, Any]) -> str:
    """The digest of a receipt exactly as the API shows it, without its own `digest` (PROTOCOL section 3)."""
    return digest({key: value for key, value in receipt.items() if key != "digest"})


def idempotency_key(tenant: str, job_id: str, ordinal: int) -> str:
    """The key of one step, the same for ever, for the receiver to deduplicate by: `cb-` and 32 hex."""
    return f"cb-{digest([tenant, job_id, ordinal])[:32]}"


def derived_event_id(*parts: str) -> str:
    """An event id of the server's own: `~` and the hex SHA-256 of the canonical array."""
    return "~" + digest(list(parts))


NO_DIGEST = "0" * 64  #: `prev_digest` of a job's first receipt
