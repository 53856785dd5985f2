"""Clients of a real server: they submit and cancel, send again what was not answered, keep every answer."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Thread
from time import monotonic
from typing import Any

import httpx

from runs.audit import breaches, snapshot
from runs.models import Job, Receipt, Tenant
from tests.races.pairs import TWO
from tests.races.scene import spec
from tests.support.server import Served

PATIENCE = 60.0
DONE = {200, 201, 202}


@dataclass
class Load:
    """`with Load(server, headers) as load:` runs until the block ends; `server.url` may change meanwhile."""

    server: Served
    headers: dict[str, str]
    clients: int = 3
    kept: dict[str, Any] = field(default_factory=dict)  #: by job or event id: the answer that came
    counts: Counter[str] = field(default_factory=Counter)  #: of the tries that got no answer, by what came
    unexpected: list[str] = field(default_factory=list)
    ended: Event = field(default_factory=Event)

    def __enter__(self) -> "Load":
        self.threads = [Thread(target=self._run, args=(number,)) for number in range(self.clients)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in self.threads)

    def _run(self, number: int) -> None:
        with httpx.Client(headers=self.headers, timeout=PATIENCE) as client:
            for turn in count():
                job_id, event_id = f"j{number}-{turn}", f"e{number}-{turn}"
                self._send(client, job_id, "/jobs", {"job_id": job_id, "spec": spec()})
                body = {"event_id": event_id, "spec_digest": TWO}
                self._send(client, event_id, f"/jobs/{job_id}/cancel", body)
                if self.ended.is_set():
                    return

    def _send(self, client: httpx.Client, name: str, path: str, body: Any) -> None:
        """Until it is answered, or the end has come."""
        while not self.ended.is_set():
            try:
                answer = client.post(f"{self.server.url}/api/v1{path}", json=body)
            except httpx.TransportError:
                self.counts["no answer"] += 1
            else:
                if answer.status_code in DONE:
                    self.kept[name] = answer.json()
                    return
                self.counts[str(answer.status_code)] += 1
                if answer.status_code != 503 or "Retry-After" not in answer.headers:
                    self.unexpected.append(f"{path}: {answer.status_code} {answer.text[:500]}")
            self.ended.wait(0.05)

    def goes_on(self, answers: int = 20) -> None:
        """Waits for that many more of them."""
        self._wait(lambda: len(self.kept) >= wanted, wanted := len(self.kept) + answers)

    def is_refused(self, tries: int = 3) -> None:
        """Waits until that many more tries got 503, or no answer."""
        self._wait(lambda: self.counts.total() >= wanted, wanted := self.counts.total() + tries)

    def _wait(self, happened: Any, wanted: int) -> None:
        end = monotonic() + PATIENCE
        while not happened():
            assert monotonic() < end, f"{wanted} was not reached: {self.counts} {self.unexpected[:3]}"
            self.ended.wait(0.02)

    def assert_kept(self, tenant: Tenant) -> None:
        """Nothing but 503 was said; every answer's receipt is there as it was told; each cancel came once."""
        assert self.unexpected == []
        assert self.kept
        jobs = set(Job.objects.filter(tenant=tenant).values_list("job_id", flat=True))
        receipts = Receipt.objects.filter(tenant=tenant)
        digests = set(receipts.values_list("digest", flat=True))
        for name, answer in self.kept.items():
            assert answer["receipt"] is None or answer["receipt"]["digest"] in digests, name
            assert name in jobs or answer["receipt"]["event_id"] == name
        cancels = Counter(receipts.filter(kind="cancel").values_list("job_ref", flat=True))
        assert set(cancels.values()) <= {1}
        with snapshot():
            assert list(breaches()) == []
