"""Cancel certificates: one job with all that explains it, made to be kept elsewhere and checked there.

`issued` makes one of what was read at one moment; `checked` reads a file and trusts nothing in it. Neither
asks the database.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import override

from runs.audit.certificate import FORMAT, broken
from runs.audit.findings import Finding
from runs.errors import Invalid
from runs.ledger import as_text
from runs.protocol.json_door import parse
from runs.signing import holds, signed
from runs.words import HEADLINES


def issued(job: dict[str, Any], receipts: list[dict[str, Any]], now: datetime) -> dict[str, Any]:
    """`{"format", "job", "receipts", "head_digest", "sentence", "issued_at", "signature"}`; the job as
    docs/http.md shows it, all its receipts in order."""
    return signed(unsigned(job, receipts, now))


def unsigned(job: dict[str, Any], receipts: list[dict[str, Any]], now: datetime) -> dict[str, Any]:
    """The same without a key's word for it: for what is signed as a whole."""
    return {
        "format": FORMAT,
        "job": job,
        "receipts": receipts,
        "head_digest": job["head_digest"],
        "sentence": sentence(job),
        "issued_at": as_text(now),
        "signature": None,
    }


def sentence(job: dict[str, Any]) -> str:
    """What a person may read out of it, in the active language; a dispute stands before everything."""
    words = HEADLINES[job["headline"]]
    done, total = sum(step["state"] == "ok" for step in job["steps"]), len(job["steps"])
    label, help_ = (words.filled(text, done, total) for text in (words.label, words.help))
    said = _("%(label)s. %(help)s") % {"label": label, "help": help_}
    return _("Disputed, reports differ. %(rest)s") % {"rest": said} if job["disputed"] else said


def checked(text: bytes) -> tuple[Any, list[Finding]]:
    """The certificate in a file, and everything that is wrong with it; sound where that is nothing."""
    try:
        certificate = parse(text)
    except Invalid as unreadable:
        return None, [Finding("form", "file", "strict JSON", str(unreadable))]
    return certificate, wrong_with(certificate)


def wrong_with(certificate: Any) -> list[Finding]:
    return list(broken(certificate)) or list(_besides(certificate))


def _besides(certificate: dict[str, Any]) -> Iterator[Finding]:
    """What its receipts can't say: the signature, and the words."""
    if certificate["signature"] is not None and not holds(certificate):
        yield Finding(
            "signature", "signature", "of all the rest, by the key that it names", certificate["signature"]
        )
    said = []
    for language, _name in settings.LANGUAGES:
        with override(language):
            said.append(sentence(certificate["job"]))
    if certificate["sentence"] not in said:
        yield Finding("words", "sentence", said[0], certificate["sentence"])
