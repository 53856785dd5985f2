"""The receiver: a real SMTP server on loopback, and the mailbox of what it really received.

It takes a whole message before it answers, and takes its time to answer: whoever is killed in between cannot
know whether the mail went out. It deduplicates by the idempotency key, and a key can be sealed: from then on
it is refused (550), which is evidence that the step did not and will not happen. Knows nothing of cancelboard.
"""

import asyncio
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from email.header import decode_header, make_header

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

KEY_HEADER = "X-Idempotency-Key"


@dataclass(frozen=True)
class Mail:
    """One message as received; `times` counts how often its key came again and was not delivered again."""

    number: int
    key: str
    to: str
    subject: str
    at: datetime
    times: int = 1


class Mailbox:
    """What was received and what is sealed, by idempotency key. In memory: it lives as long as the demo."""

    def __init__(self) -> None:
        self._mails: dict[str, Mail] = {}
        self._sealed: set[str] = set()
        self._lock = threading.Lock()

    def take(self, key: str, to: str, subject: str) -> str:
        """Receive a message under its key. Returns the SMTP answer."""
        with self._lock:
            if key in self._sealed:
                return f"550 5.7.1 key {key} is sealed: refused, now and for ever"
            known = self._mails.get(key)
            mail = known or Mail(len(self._mails) + 1, key, to, subject, datetime.now(UTC), times=0)
            self._mails[key] = Mail(mail.number, mail.key, mail.to, mail.subject, mail.at, mail.times + 1)
            return _taken(mail.number)

    def tell(self, key: str) -> str:
        """What became of this key: an SMTP answer, in the words that its sender was told."""
        with self._lock:
            if key in self._sealed:
                return f"550 5.7.1 key {key} is sealed: refused, now and for ever"
            mail = self._mails.get(key)
            return _taken(mail.number) if mail else "252 2.1.5 nothing was received under this key yet"

    def seal(self, key: str) -> bool:
        """Refuse this key from now on. False when it was received already: then it happened."""
        with self._lock:
            if key in self._mails:
                return False
            self._sealed.add(key)
            return True

    def find(self, key: str) -> list[Mail]:
        """The messages whose key contains `key`, newest first."""
        with self._lock:
            return sorted((m for m in self._mails.values() if key in m.key), key=lambda m: -m.number)

    def is_sealed(self, key: str) -> bool:
        with self._lock:
            return key in self._sealed


def _taken(number: int) -> str:
    return f"250 2.0.0 taken as message {number}"


class Receiver:
    """aiosmtpd's handler: `seconds` pass between receiving a message and saying so."""

    def __init__(self, mailbox: Mailbox, seconds: float) -> None:
        self.mailbox = mailbox
        self.seconds = seconds

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        message = message_from_bytes(envelope.original_content or b"")
        subject = str(make_header(decode_header(message.get("Subject", ""))))
        answer = self.mailbox.take(message.get(KEY_HEADER, ""), ", ".join(envelope.rcpt_tos), subject)
        await asyncio.sleep(self.seconds)
        return answer

    async def handle_VRFY(self, server: SMTP, session: Session, envelope: Envelope, address: str) -> str:  # noqa: N802
        """`VRFY KEY`: whoever lost the answer to a message may ask for it again."""
        return self.mailbox.tell(address)


def serve(mailbox: Mailbox, port: int, seconds: float) -> Controller:
    """Start receiving on loopback, in a thread of its own; `stop()` ends it."""
    controller = Controller(Receiver(mailbox, seconds), hostname="127.0.0.1", port=port)
    controller.start()
    return controller
