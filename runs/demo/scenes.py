"""The office: the demo's own engine. It submits mailings, hands them to worker processes, and plays the scenes.

All through the public doors: the API with the worker's token, and the board's session for what a person does.
"""

import csv
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import httpx

from runs.worker import Client

from .mailbox import Mailbox
from .mailer import TOOL_NAME

logger = logging.getLogger(__name__)

RECIPIENTS = Path(__file__).with_name("recipients.csv")
MOST_WORKERS = 8
AGAIN = {
    "unknown",
    "held",
    "stopped",
    "lost",
    "disputed",
}  #: a run that ended so is tried again a little later


def recipients() -> Iterator[dict[str, str]]:
    """The input file's rows, over and over."""
    with RECIPIENTS.open(newline="", encoding="utf-8") as lines:
        return cycle(list(csv.DictReader(lines)))


class Mailer:
    """A worker process: its own queue of job ids, one run after the other."""

    def __init__(self, office: "Office", name: str) -> None:
        arguments = ["--url", office.url, "--smtp", str(office.smtp), "--name", name]
        self.office = office
        self.process = subprocess.Popen(
            [sys.executable, "-m", "runs.demo.mailer", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "CANCELBOARD_TOKEN": office.token},
            start_new_session=True,  # Ctrl-C is the stage's: it ends its processes one by one
        )
        self.job: str | None = None
        threading.Thread(target=self._read, daemon=True).start()

    def hand(self, job_id: str) -> None:
        assert self.process.stdin
        self.job = job_id
        self.process.stdin.write(job_id + "\n")
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            said = json.loads(line)
            self.job = None
            self.office.ended(said["job"], said["how"])
        self.office.gone(self)

    def kill(self) -> None:
        """SIGKILL: no farewell, no clean-up."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()


class Office:
    """`url`: the board's address. `token`: w1's. `person`: (name, password) of who cancels, omar."""

    def __init__(self, url: str, smtp: int, token: str, person: tuple[str, str], mailbox: Mailbox) -> None:
        self.url, self.smtp, self.token, self.person, self.mailbox = url, smtp, token, person, mailbox
        self.client = Client(url, token)
        self.waiting: list[str] = []
        self.mailers: list[Mailer] = []
        self.late: dict[str, dict[str, Any]] = {}  #: specs whose job has not been submitted yet
        self._names, self._run = count(1), time.strftime("%H%M%S")
        self._people = recipients()
        self._change = threading.Condition()
        self._closing = False

    # -- the engine ---------------------------------------------------------------------------------------
    def open(self, workers: int) -> None:
        for _ in range(workers):
            self.mailers.append(Mailer(self, "w1"))
        threading.Thread(target=self._hand_out, daemon=True).start()

    def close(self) -> None:
        with self._change:
            self._closing = True
            self._change.notify_all()
        for mailer in list(self.mailers):
            mailer.stop()

    def _hand_out(self) -> None:
        with self._change:
            while not self._closing:
                free = next((mailer for mailer in self.mailers if mailer.job is None), None)
                if self.waiting and free:
                    free.hand(self.waiting.pop(0))
                elif self.waiting and len(self.mailers) < MOST_WORKERS:
                    self.mailers.append(
                        Mailer(self, "w1")
                    )  # whoever plays a scene should not wait for another
                else:
                    self._change.wait()

    def ended(self, job_id: str, how: str) -> None:
        """A run ended. What is not over is handed out again in five seconds."""
        logger.info("%s: %s", job_id, how)
        if how in AGAIN:
            self._later(job_id)
        with self._change:
            self._change.notify_all()

    def _again(self, job_id: str) -> None:
        """Hand it out again once nothing of it is out; a job that ended or was cancelled is done with."""
        job = self.client.job(job_id)
        if job["result"] != "open" or job["control"] != "run":
            return
        if job["unsettled"] is None:
            self._queue(job_id)
        elif not self._closing:
            self._later(job_id)

    def _later(self, job_id: str) -> None:
        timer = threading.Timer(5, self._again, [job_id])
        timer.daemon = True
        timer.start()

    def _queue(self, job_id: str) -> None:
        with self._change:
            if not self._closing:
                self.waiting.append(job_id)
                self._change.notify_all()

    def gone(self, mailer: Mailer) -> None:
        """A worker process ended. Another takes its place, and its job, as any engine would do."""
        with self._change:
            self.mailers.remove(mailer)
            if self._closing:
                return
            self.mailers.append(Mailer(self, "w1"))
        if mailer.job:
            self._later(mailer.job)

    # -- the scenes ---------------------------------------------------------------------------------------
    def spec(self, mails: int, pause: int) -> dict[str, Any]:
        steps = [
            {
                "label": f"Send welcome mail to {person['name']}",
                "tool": TOOL_NAME,
                "target": person["address"],
                "params": {"subject": "Welcome", "text": f"Dear {person['name']},\nwelcome.", "pause": pause},
            }
            for person in islice(self._people, mails)
        ]
        owner = f"customer-{1 + next(self._names) % 2}"
        return {"queue": "mail", "owner": owner, "dispatch": "marked", "steps": steps}

    def new_id(self) -> str:
        return f"mailing-{self._run}-{next(self._names)}"

    def mailing(self, mails: int = 10, pause: int = 3) -> str:
        """Submit a mailing and hand it to a worker. Returns its job id."""
        job_id = self.new_id()
        self.client.submit(job_id, self.spec(mails, pause))
        self._queue(job_id)
        return job_id

    def kill_mid_send(self) -> str:
        """A worker is killed after the receiver took a mail and before it said so."""
        job_id = self.mailing(mails=4, pause=1)
        key = self.client.job(job_id)["steps"][1]
        threading.Thread(target=self._kill_when_out, args=[job_id, key["ordinal"]], daemon=True).start()
        return job_id

    def _kill_when_out(self, job_id: str, ordinal: int) -> None:
        before = {mail.key for mail in self.mailbox.find("")}
        for _ in range(600):
            job = self.client.job(job_id)
            step = job["steps"][ordinal]
            if (
                step["state"] == "inflight"
                and step["dispatched_at"]
                and self._received(step["target"], before)
            ):
                for mailer in self.mailers:
                    if mailer.job == job_id:
                        mailer.kill()
                return
            if job["result"] != "open" or job["control"] != "run":
                return
            time.sleep(0.1)

    def _received(self, address: str, before: set[str]) -> bool:
        return any(mail.to == address and mail.key not in before for mail in self.mailbox.find(""))

    def cancel_before_submit(self) -> str:
        """Omar cancels a mailing that has not arrived yet: its tombstone refuses it, whenever it comes."""
        job_id = self.new_id()
        self.late[job_id] = self.spec(3, 1)
        body = {"event_id": f"{job_id}-cancel", "spec": self.late[job_id], "cause": "user_requested"}
        with httpx.Client(base_url=self.url, headers={"Referer": self.url}, timeout=60) as browser:
            browser.get("/login/")
            name, password = self.person
            form = {
                "username": name,
                "password": password,
                "csrfmiddlewaretoken": browser.cookies["csrftoken"],
            }
            browser.post("/login/", data=form)
            token = {"X-CSRFToken": browser.cookies["csrftoken"]}
            browser.post(f"/api/v1/jobs/{job_id}/cancel", json=body, headers=token).raise_for_status()
        return job_id

    def submit_late(self, job_id: str) -> str:
        """The job that was cancelled arrives after all. Returns what it was told."""
        return self.client.submit(job_id, self.late[job_id]).status

    def finish_quickly(self) -> str:
        """A mailing so short that a cancel comes too late."""
        return self.mailing(mails=1, pause=0)
