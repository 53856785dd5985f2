"""How each channel is told. No database here: it runs in a thread of its own, and may take its time.

The webhook's body is JSON, `{"alerts": [...]}`; whoever takes it checks `X-Cancelboard-Signature`,
`t=UNIX,v1=HEX`: the HMAC-SHA256 of `UNIX.BODY` under the shared secret. Each alert's `id` stays the same
however often it comes.
"""

import hmac
import json
import logging
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import httpx
from django.conf import settings
from django.core.mail import EmailMessage, get_connection

logger = logging.getLogger("cancelboard.alerts")

SECONDS = 20
LAST_LINE = "They stay unknown until a person or a verifier with evidence settles them.\n"
Alerts = Sequence[dict[str, Any]]


class Refused(Exception):
    """The other side answered, and did not take it."""


def configured() -> list[str]:
    """The channels of this installation; the log is always one."""
    asked = {"email": settings.CANCELBOARD_ALERT_EMAIL, "webhook": settings.CANCELBOARD_ALERT_WEBHOOK}
    return ["log", *(channel for channel, given in asked.items() if given)]


def tell(channel: str, alerts: Alerts) -> None:
    """Raises whatever went wrong; then nothing may be taken for told."""
    CHANNELS[channel](alerts)


def _log(alerts: Alerts) -> None:
    for alert in alerts:
        logger.warning("%s", _sentence(alert))


def _email(alerts: Alerts) -> None:
    given = settings.CANCELBOARD_SMTP
    connection = get_connection("django.core.mail.backends.smtp.EmailBackend", timeout=SECONDS, **given)
    name = sha256("\n".join(alert["id"] for alert in alerts).encode()).hexdigest()[:32]
    count = len(alerts)
    message = EmailMessage(
        subject=f"[cancelboard] {count} step{'s' if count > 1 else ''} unknown past the limit",
        body="\n\n".join([*map(_sentence, alerts), LAST_LINE]),
        from_email=settings.CANCELBOARD_ALERT_FROM,
        to=settings.CANCELBOARD_ALERT_EMAIL,
        headers={"Message-ID": f"<{name}@{settings.CANCELBOARD_ALERT_FROM.rpartition('@')[2]}>"},
        connection=connection,
    )
    if not message.send():
        raise Refused("the mail server took no recipient")


def _webhook(alerts: Alerts) -> None:
    body = json.dumps({"type": "unknown_past_limit", "alerts": list(alerts)}).encode()
    headers = {"Content-Type": "application/json", "X-Cancelboard-Signature": signature(body)}
    with httpx.Client(timeout=SECONDS, trust_env=False) as client:
        answer = client.post(settings.CANCELBOARD_ALERT_WEBHOOK, content=body, headers=headers)
    if not answer.is_success:
        raise Refused(f"it answered {answer.status_code}")


def signature(body: bytes, at: int | None = None) -> str:
    """Of a body sent `at`, in seconds since 1970; now, where none is given."""
    at = int(time.time()) if at is None else at
    secret = settings.CANCELBOARD_ALERT_SECRET.encode()
    return f"t={at},v1={hmac.new(secret, f'{at}.'.encode() + body, sha256).hexdigest()}"


def _sentence(alert: dict[str, Any]) -> str:
    where = alert["url"] or f"job {alert['job_id']} of {alert['tenant']}"
    cancelled = " A cancel of the job waits for it." if alert["cancel_requested"] else ""
    of = f"queue {alert['queue']}, tool {alert['tool'] or '-'}"
    return (
        f"Step {alert['ordinal'] + 1} of {alert['job_id']} ({of}) "
        f"has been unknown since {alert['unknown_since']}, {alert['times']} times its limit of "
        f"{alert['limit_seconds']} s.{cancelled} Key {alert['idempotency_key']}. {where}"
    )


CHANNELS: dict[str, Callable[[Alerts], None]] = {"log": _log, "email": _email, "webhook": _webhook}
