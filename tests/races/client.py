"""A client in a process of its own, over HTTP: `python -m tests.races.client`, told by processes.py.

Each line of its input is a turn: the server, what each name sends as headers, the tokens that are known, and
what to ask for one after the other. It says `ready`, waits for `go`, and answers with a line of JSON: each
request as it was sent, when it began and ended on the clock that all processes of a machine share, HTTP
code and JSON. A command that names a claim gets the newest token of that job that this client knows, or an
older one by its turn; none known, one that never was.
"""

import json
import sys
from time import monotonic
from typing import Any

from tests.model.over_http import Http

FORGED = f"1-{'0' * 31}f"


def main() -> None:
    doors: dict[str, Http] = {}
    for line in sys.stdin:
        turn = json.loads(line)
        door = doors.setdefault(turn["url"], Http(turn["url"], {}))
        door.headers = turn["headers"]
        print("ready", flush=True)
        sys.stdin.readline()
        told = [ask(door, turn["tokens"], *asked) for asked in turn["asks"]]
        print(json.dumps(told), flush=True)


def ask(
    door: Http,
    tokens: dict[str, list[str]],
    kind: str,
    job_id: str | None,
    who: str,
    fields: dict[str, Any],
) -> tuple[Any, ...]:
    known = tokens.setdefault(job_id or "", [])
    if "claim" in fields:
        nth = fields["claim"]
        claim = FORGED if nth is None or not known else known[nth] if nth < len(known) else known[-1]
        fields = fields | {"claim": claim}
    began = monotonic()
    http, told = door(kind, job_id, fields, who)
    ended = monotonic()
    if kind == "claim" and http == 200:
        known.append(told["claim"])
    return kind, job_id, who, fields, http, told, began, ended


if __name__ == "__main__":
    main()
