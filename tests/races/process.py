"""A process of its own that carries out commands: `python -m tests.races.process`.

Its input: a line of JSON (the tenant and who acts, then each command), and an empty line for "go". It says
`ready` between the two, and one line for each answer.
"""

import json
import sys

import django


def main() -> None:
    django.setup()
    from django.db import connection

    from runs.commands import do
    from runs.models import User
    from runs.permissions import Actor

    from .scene import shape_of

    asked = json.loads(sys.stdin.readline())
    actor = Actor.of_user(User.objects.get(username=asked["who"]))
    asks = [(job_id, shape_of(command).model_validate(body)) for command, job_id, body in asked["commands"]]
    connection.ensure_connection()
    print("ready", flush=True)
    sys.stdin.readline()
    for job_id, ask in asks:
        answer = do(actor, job_id, ask)
        print(json.dumps([ask.kind, answer.status, answer.replayed]), flush=True)


if __name__ == "__main__":
    main()
