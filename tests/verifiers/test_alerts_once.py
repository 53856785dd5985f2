"""Two settle loops as processes that pass at the same moment: each alert is made and told once."""

import subprocess
import sys
from datetime import timedelta

from runs import ledger
from runs.models import Alert, AlertSent, Job, Queue
from tests.board.cast import Stage
from tests.support.databases import Database
from tests.support.server import ROOT

JOBS = 12


def test_two_loops_at_once_tell_each_alert_once(real_db: Database) -> None:
    stage = Stage()
    Queue.objects.filter(name="mail").update(limit_seconds=600)
    for n in range(JOBS):
        stage.unknown(f"order-{n}")
    Job.objects.update(unsettled_since=ledger.clock() - timedelta(minutes=11))
    loops = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.verifiers.two"],
            cwd=ROOT,
            env=real_db.environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = ""
    for loop in loops:  # both are started and wait for this line
        assert loop.stdin
        loop.stdin.write("\n")
        loop.stdin.flush()
    for loop in loops:
        said += loop.communicate(timeout=60)[1]
        assert loop.returncode == 0, said
    for n in range(JOBS):
        assert said.count(f"of order-{n} (") == 1, said
    assert Alert.objects.count() == AlertSent.objects.filter(state="sent").count() == JOBS
