"""Leases, with two servers and two settle loops on one database, all of them processes: whatever starts
leaves a live claim alone, a lapse is written once, and who lost the claim is fenced at either server."""

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta

import httpx

from runs import ledger
from runs.models import Job, Receipt
from tests.board.cast import Stage
from tests.support.databases import Database
from tests.support.server import ROOT, Served

from .conftest import PATIENCE

JOBS = 8


class Caller:
    """w1, at one server."""

    def __init__(self, server: Served, token: str) -> None:
        self.url, self.headers = f"{server.url}/api/v1/jobs/order-1", {"Authorization": f"Bearer {token}"}

    def __call__(self, command: str, **body: object) -> tuple[str, dict[str, object]]:
        url = f"{self.url}/{command}"
        told = httpx.post(url, json=body, headers=self.headers, timeout=PATIENCE).json()
        return told["status"], told


def passes(database: Database, count: int) -> None:
    """So many settle loops as processes, all of them at once, for one pass."""
    command = [sys.executable, "-m", "tests.verifiers.two"]
    loops = [
        subprocess.Popen(command, cwd=ROOT, env=database.environment, stdin=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    for loop in loops:  # each is up, or will be, and waits for this line
        assert loop.stdin
        loop.stdin.write("\n")
        loop.stdin.flush()
    for loop in loops:
        loop.communicate(timeout=60)
        assert loop.returncode == 0


def rows() -> list[dict[str, object]]:
    return list(Job.objects.order_by("pk").values())


def test_what_starts_leaves_live_claims_alone_and_two_servers_agree_on_the_fence(
    real_db: Database, stage: Stage, serve: Callable[..., Served], token: str
) -> None:
    one = Caller(serve(), token)
    stage.submit("order-1", "Send bill", "Send parcel", dispatch="marked")
    old = str(one("claim", worker="worker-1", ttl_seconds=600)[1]["claim"])
    assert one("reserve", claim=old)[0] == "reserved"
    assert one("dispatch", claim=old, ordinal=0)[0] == "dispatched"
    before = rows()
    other = Caller(serve(), token)  # a second server starts
    passes(real_db, 2)
    assert rows() == before, "neither a server nor a settle loop has touched it"
    assert other("claim", worker="worker-2")[0] == "claim_held"
    assert other("heartbeat", claim=old)[0] == "ok"

    Job.objects.update(lease_expires_at=ledger.clock())
    passes(real_db, 2)
    assert list(Receipt.objects.filter(kind="lapse").values_list("status", flat=True)) == ["lapsed"]
    new = str(other("claim", worker="worker-2")[1]["claim"])
    assert one("heartbeat", claim=old)[0] == "claim_lost"
    late = {"claim": old, "ordinal": 0, "outcome": "ok", "value": "late"}
    assert one("report", event_id="late-1", **late)[0] == "fenced"
    assert one("reserve", claim=new)[0] == "unknown"
    assert stage.row("order-1").cur == "unknown", "testimony settles nothing"


def test_two_loops_at_once_write_each_lapse_once(real_db: Database, stage: Stage) -> None:
    for n in range(JOBS):
        stage.begin(f"order-{n}")
        stage.cancel(f"order-{n}", grace_seconds=0)
    stage.begin("live-1")
    live = stage.row("live-1")
    ended = ledger.clock() - timedelta(seconds=1)
    Job.objects.exclude(pk=live.pk).update(lease_expires_at=ended)
    passes(real_db, 2)
    for kind in ("lapse", "escalate"):
        jobs = list(Receipt.objects.filter(kind=kind).values_list("job_ref", flat=True))
        assert sorted(jobs) == [f"order-{n}" for n in range(JOBS)], kind
    assert (stage.row("live-1").seq, stage.row("live-1").cur) == (live.seq, "inflight")
