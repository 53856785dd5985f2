"""A process of its own that carries out commands: `python -m tests.races.process`, told by processes.py.

Each line of its input is a turn: the database, and the commands to carry out. It says `ready`, waits for
`go`, says `asked` when its first statement is on its way, and, where it was told to stop, `stopped` right
before its first commit: there it waits for `go` again. Last comes a line of JSON, the answers.
"""

import json
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any

import django


def say(word: str) -> None:
    print(word, flush=True)


def main() -> None:
    django.setup()
    from django.db import connection

    from tests.support.databases import point_django_at

    database = None
    for line in sys.stdin:
        turn = json.loads(line)
        if turn["database"] != database:
            point_django_at(database := turn["database"])
        works = [work(*asked) for asked in turn["asks"]]
        connection.ensure_connection()
        say("ready")
        sys.stdin.readline()
        if turn["stop"]:
            stop_before_commit(connection)
        with connection.execute_wrapper(Asked()):
            answers = [timed(each) for each in works]
        say(json.dumps(answers))


class Asked:
    """Says so, once."""

    def __init__(self) -> None:
        self.before = False

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not self.before:
            self.before = True
            say("asked")
        return execute(sql, params, many, context)


def stop_before_commit(connection: Any) -> None:
    """Once: all is locked, decided and written then."""
    commit = connection._commit

    def stopped() -> None:
        connection._commit = commit
        say("stopped")
        sys.stdin.readline()
        commit()

    connection._commit = stopped


def work(tenant: str, who: str, command: str, job_id: str | None, body: dict[str, Any]) -> Callable[..., Any]:
    """All that can be done before is done before: looking up who acts, reading the body."""
    from runs import settle
    from runs.commands import do
    from runs.models import Tenant, User
    from runs.permissions import Actor, grants

    from .scene import shape_of

    if command == "settle":
        return lambda: (200, {"status": "left" if settle.one_pass()["left"] else "passed"})
    if command == "lose":
        system = Actor.system(Tenant.objects.get(name=tenant))
        return lambda: (200, {"status": "revoked", "grant": str(grants.revoke_grant(system, body["grant"]))})
    actor = Actor.of_user(User.objects.select_related("tenant").get(username=f"{tenant}/{who}"))
    ask = shape_of(command).model_validate(body)

    def done() -> tuple[int, Any]:
        answer = do(actor, job_id, ask)
        return answer.code, answer.json()

    return done


def timed(work: Callable[[], tuple[int, Any]]) -> tuple[float, float, int, Any]:
    """When it began and ended, on the clock that all processes of a machine share; its HTTP code and JSON."""
    from runs.errors import CancelboardError

    began = monotonic()
    try:
        code, told = work()
    except CancelboardError as error:
        code, told = error.http, {"code": error.code}
    return began, monotonic(), code, told


if __name__ == "__main__":
    main()
