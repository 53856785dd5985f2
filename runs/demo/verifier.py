"""The demo's verifier: asks the mail house's own server, over SMTP, what became of an idempotency key.

Registered by the stage as `mailbox`; the tool "Mail house" names it where its check is switched on.
"""

import smtplib
from os import environ

from runs.verifiers import Finding, Question

NAME, PLACE = "mailbox", "runs.demo.verifier:mailbox"
PORT = "CANCELBOARD_DEMO_SMTP"  #: the variable that says where the mail house is


def mailbox(question: Question) -> Finding:
    """250: it was taken. 550: the key is sealed. Anything else, nothing found above all, settles nothing."""
    with smtplib.SMTP("127.0.0.1", int(environ[PORT]), timeout=5) as smtp:
        code, answer = smtp.verify(question.key)
    said = f"{code} {answer.decode(errors='replace')}"
    if code == 250:
        return Finding.happened(f"The mail house says: {said}.", value=said)
    if code == 550:
        return Finding.refused(f"The mail house says: {said}.", sealed=True)
    return Finding.not_known("not_found" if code == 252 else "ambiguous", f"The mail house says: {said}.")
