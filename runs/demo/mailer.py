"""The demo's worker: one process, a few jobs one after the other, each step a real e-mail over SMTP.

Job ids come on standard input, a line each, and how each run ended goes to standard output: that is this
worker's own engine; cancelboard hands out no work. It ends with its input. It may be killed anywhere: what it had out is then unknown until somebody looks.
"""

import argparse
import json
import smtplib
import sys
from email.message import EmailMessage
from os import environ

from runs.demo.mailbox import KEY_HEADER
from runs.worker import Client, Happened, Refused, StepContext, Timing, Tool, Worker

TOOL_NAME = "smtp/2"


def sender(port: int) -> Tool:
    """The step's function: sends one mail, and returns what the mail server said."""

    def send_mail(step: StepContext) -> Happened:
        message = EmailMessage()
        message["From"] = "house@example.test"
        message["To"] = step.target
        message["Subject"] = step.params.get("subject", step.label)
        message[KEY_HEADER] = step.idempotency_key
        message.set_content(step.params.get("text", "Hello."))
        with smtplib.SMTP("127.0.0.1", port, timeout=60) as smtp:
            smtp.ehlo()
            step.cancel.wait(
                step.params.get("pause", 0)
            )  # so that there is time to press cancel between two mails
            step.dispatch()
            smtp.mail("house@example.test")
            smtp.rcpt(step.target)
            code, answer = smtp.data(message.as_bytes())
        said = f"{code} {answer.decode(errors='replace')}"
        if code >= 500:
            raise Refused(said, "receiver_refused")
        return Happened(said)

    return send_mail


def main() -> None:
    parser = argparse.ArgumentParser(description="A demo worker: reads job ids from standard input.")
    parser.add_argument("--url", required=True)
    parser.add_argument("--smtp", type=int, required=True)
    parser.add_argument("--name", required=True)
    options = parser.parse_args()
    client = Client(options.url, environ["CANCELBOARD_TOKEN"])
    timing = Timing(heartbeat=2.0, ttl=10, poll=1.0)
    worker = Worker(client, name=options.name, tools={TOOL_NAME: sender(options.smtp)}, timing=timing)
    for line in sys.stdin:
        ended = worker.run(line.strip())
        print(json.dumps({"job": line.strip(), "how": ended.how}), flush=True)


if __name__ == "__main__":
    main()
