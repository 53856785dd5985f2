"""`python -m tests.bench.run`: commands a second in-process and over HTTP, as ratios to the raw transaction;
and how long an accepted cancel takes to the worker's code (signal.py).

Each figure is the median of five rounds; in a round all of them run one after the other, so that a machine
that
gets slower gets slower for all. One client. PostgreSQL runs with fsync on, SQLite with synchronous=FULL.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

ROUNDS, SECONDS = 1, 0.2


def rate(once: Callable[[], object], seconds: float = SECONDS) -> float:
    """Calls a second, for about so long."""
    done, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds:
        once()
        done += 1
    return done / passed


def measure(url: str) -> tuple[dict[str, float], dict[str, str]]:
    """The medians on the database at `url`, which is made ready here; and how long a cancel takes."""
    import httpx
    from django.core.management import call_command

    from runs.commands import do
    from runs.demo.people import cast
    from runs.permissions import Action, Actor, issue_token, open_account
    from runs.protocol import asks
    from runs.protocol.spec import Spec
    from runs.worker import Client
    from tests.bench import signal
    from tests.bench.raw import transaction
    from tests.support.databases import Database
    from tests.support.server import Served

    call_command("migrate", verbosity=0)
    people = cast("bench")
    worker, operator = Actor.of_user(people["w1"]), Actor.of_user(people["omar"])
    _, token = issue_token(Actor.system(people["w1"].tenant), people["w1"], list(Action)[:3])
    numbers = count()
    spec = Spec.model_validate({"queue": "mail", "steps": ["one", "two", "three"]})
    do(worker, "paused", asks.Submit(job_id="paused", spec=spec))

    def pause() -> None:
        n = next(numbers)
        kind = asks.Resume if n % 2 else asks.Pause
        do(operator, "paused", kind(event_id=f"bench-{n}"))

    def submit() -> None:
        job = f"job-{next(numbers)}"
        do(worker, job, asks.Submit(job_id=job, spec=spec))

    served = Served(
        Database(url, "").environment | {"CANCELBOARD_RATE": "0", "CANCELBOARD_LOG": "INFO"}
    ).start()
    try:
        with httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {token}"}) as client:

            def submit_over_http() -> None:
                body = {"job_id": f"http-{next(numbers)}", "spec": spec.model_dump()}
                client.post("/api/v1/jobs", json=body).raise_for_status()

            kinds = {
                "raw transaction": transaction(url),
                "pause/resume, in-process": pause,
                "submit of 3 steps, in-process": submit,
                "submit of 3 steps, over HTTP": submit_over_http,
            }
            for once in kinds.values():
                rate(once, 0.3)
            rounds = [{name: rate(once) for name, once in kinds.items()} for _ in range(ROUNDS)]

        def there(job_id: str, digest: str) -> str:
            ask = asks.Cancel(event_id=f"bench-{next(numbers)}", spec_digest=digest)
            return str(do(operator, job_id, ask).json()["receipt"]["at"])

        allowed = [Action.VIEW, Action.CANCEL]
        caller = open_account(Actor.system(people["w1"].tenant), "caller", allowed, queue="mail")
        with Client(served.url, caller) as asking:

            def here(job_id: str, digest: str) -> str:
                return str(asking.cancel(job_id, spec_digest=digest)["receipt"]["at"])

            waits = signal.measure(served.url, token, here, there)
    finally:
        served.stop()
    return {name: statistics.median(found[name] for found in rounds) for name in rounds[0]}, waits


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="cancelboard-bench-"))
    os.environ["CANCELBOARD_VAR"] = str(folder)
    os.environ["CANCELBOARD_LOG"] = "WARNING"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cancelboard.settings")
    keeper = None
    try:
        if "--db=postgres" in sys.argv:
            from tests.support.postgres import DURABLE, OwnPostgres

            keeper = OwnPostgres(DURABLE)
            os.environ["DATABASE_URL"] = keeper.url
        else:
            os.environ["DATABASE_URL"] = f"sqlite:///{folder}/bench.sqlite3"
        import django

        django.setup()
        medians, waits = measure(os.environ["DATABASE_URL"])
        raw = medians["raw transaction"]
        print(f"\n{'PostgreSQL' if keeper else 'SQLite'}, medians of {ROUNDS} rounds, one client")
        for name, found in medians.items():
            print(f"  {name:32} {found:8.0f} a second   {found / raw:5.2f} of raw")
        print("  an accepted cancel is noticed by the worker's code:")
        for name, wait in waits.items():
            print(f"  {name:32} {wait}")
    finally:
        if keeper:
            from django.db import connection

            connection.close()
            connection.close_pool()
            keeper.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
