"""RFC 8785 canonical JSON and digests, a second time: the audit trusts no code that writes. Pure."""

import json
from hashlib import sha256
from typing import Any

#: From here on, code points and UTF-16 units sort differently.
SURROGATES = "\ud800"


def canonical(value: Any) -> str:
    """Canonical text of what JSON can hold without fractions: keys sorted by UTF-16 units, no white space."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if text.isascii() or max(text) < SURROGATES:
        return text
    return json.dumps(_by_utf16(value), separators=(",", ":"), ensure_ascii=False)


def _by_utf16(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _by_utf16(value[key]) for key in sorted(value, key=_utf16)}
    return [_by_utf16(item) for item in value] if isinstance(value, list) else value


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def digest(value: Any) -> str:
    """Hex SHA-256; also of a lone surrogate, which no receipt holds but a forged one may."""
    return sha256(canonical(value).encode(errors="surrogatepass")).hexdigest()
