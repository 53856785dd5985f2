"""Bearer tokens: `cb_<prefix>_<secret>`, shown once, kept as SHA-256. Whose they are, no more."""

import hashlib
import hmac
import re
import secrets
import string
from datetime import UTC, datetime

from django.utils.translation import gettext as _

from runs.errors import Unauthenticated
from runs.models import Token

from .actor import Actor
from .refusals import SENTENCES

SHAPE = re.compile(r"(?i:bearer) +cb_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{1,200})", re.ASCII)
ALPHABET = string.ascii_letters + string.digits
NOBODYS = "0" * 64


def new_secret() -> tuple[str, str]:
    """A fresh public prefix and secret; the secret has 256 bits."""
    return "".join(secrets.choice(ALPHABET) for _n in range(8)), secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def authenticate(header: str) -> Actor:
    """The service account behind an `Authorization` header.

    Raises Unauthenticated: `unauthenticated` where it is no token of ours, `token_dead` or
    `principal_inactive`.
    By this process's clock: a decision in a transaction reads the token again, by the database's.
    """
    shape = SHAPE.fullmatch(header)
    prefix, secret = shape.groups() if shape else ("", "")
    token = Token.objects.filter(prefix=prefix).select_related("user__tenant").first() if shape else None
    # In constant time, and also where there is no such prefix: the time taken tells nothing.
    if not hmac.compare_digest(digest_of(secret), token.secret_hash if token else NOBODYS) or token is None:
        raise Unauthenticated(_("No live token came with this request."))
    if not token.user.is_active:
        raise Unauthenticated(_(SENTENCES["principal_inactive"]), "principal_inactive")
    if token.revoked_at is not None or token.expires_at <= datetime.now(UTC):
        raise Unauthenticated(_(SENTENCES["token_dead"]), "token_dead")
    return Actor.of_token(token)
