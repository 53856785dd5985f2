"""Ed25519 signatures of what leaves the house: certificates. The key is the setting CANCELBOARD_SIGNING_KEY.

What is signed is the canonical JSON (RFC 8785) of the whole document without its `signature`.
"""

from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings

from runs.protocol.canonical import canonical

ALGORITHM = "Ed25519"


def signed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its `signature`: `{"algorithm", "public_key", "value"}`, hex; null without a key."""
    key = settings.CANCELBOARD_SIGNING_KEY
    if key is None:
        return {**document, "signature": None}
    signature = {
        "algorithm": ALGORITHM,
        "public_key": key.public_key().public_bytes_raw().hex(),
        "value": key.sign(_signed_part(document)).hex(),
    }
    return {**document, "signature": signature}


def holds(document: dict[str, Any]) -> bool:
    """Whether its signature is one by the key that it names; whose key that is, it can't tell."""
    try:
        signature = document["signature"]
        if set(signature) != {"algorithm", "public_key", "value"} or signature["algorithm"] != ALGORITHM:
            return False
        key, value = (bytes.fromhex(signature[name]) for name in ("public_key", "value"))
        if (key.hex(), value.hex()) != (signature["public_key"], signature["value"]):
            return False
        Ed25519PublicKey.from_public_bytes(key).verify(value, _signed_part(document))
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return False
    return True


def _signed_part(document: dict[str, Any]) -> bytes:
    return canonical({name: value for name, value in document.items() if name != "signature"}).encode()
