"""A customer's own backend that shows its customers the truth about their jobs, as it changes.

Run it: BOARD=http://127.0.0.1:8000 TOKEN=cb_… python backend.py 8010        (needs httpx)

A browser's EventSource can't carry a bearer token, and a token has no business in a browser. So the page asks
its own backend, which knows who is signed in; the backend holds a token that may only `view`, follows
`GET /api/v1/jobs/ID/events`, and passes on what may be told: one line of JSON for each change. The page reads
it with fetch and a stream reader (page.js).

Not shown: your sign-in. `customer_of` stands for it.
"""

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import environ
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import httpx

HERE = Path(__file__).parent
FILES = {"/": ("page.html", "text/html"), "/page.js": ("page.js", "text/javascript"), "/page.css": ("page.css", "text/css")}

#: What a customer is told, by headline: no more than is known. What is not listed is "working".
TOLD = {
    "blocked_before_start": "This was cancelled before it started. Nothing was sent.",
    "verifying_unknown": "You asked us to cancel. One part may or may not have gone out; we are finding out.",
    "verifying": "You asked us to cancel. One part is on its way and may still go out; we are waiting for its answer.",
    "stopping": "You asked us to cancel. Nothing new starts here; other work that belongs to it is still ending.",
    "stopped": "Stopped. {done} of {total} parts had gone out before; nothing more will.",
    "completed_despite_cancel": "You asked us to cancel, but everything had already gone out.",
    "stopped_after_failure": "Stopped. One part was refused; {done} of {total} had gone out before.",
    "completed": "Done: all {total} parts went out.",
    "completed_cancel_too_late": "Done: all {total} parts had gone out before the cancel came.",
    "failed": "One part was refused. {done} of {total} had gone out before; nothing more will.",
    "failed_cancel_too_late": "One part was refused. {done} of {total} had gone out before the cancel came.",
    "outcome_unknown": "One part may or may not have gone out; we are finding out.",
    "paused": "Paused. Nothing new starts.",
}
WORKING = "Working: {done} of {total} parts have gone out."
DISPUTED = "We are checking one part again."  # reports differ: say nothing that may turn out wrong


def customer_of(headers: dict[str, str]) -> str:
    """Who is signed in here. Yours: a session; never anything that the browser may simply claim."""
    return headers.get("X-Demo-Customer", environ.get("CUSTOMER", "customer-1"))


def told(job: dict) -> dict:
    """The truth in a customer's words, and how far it goes."""
    done, total = sum(step["state"] == "ok" for step in job["steps"]), len(job["steps"])
    words = DISPUTED if job["disputed"] else TOLD.get(job["headline"], WORKING)
    final = not job["disputed"] and (job["control"] == "acknowledged" or job["result"] != "open")
    return {"seq": job["seq"], "text": words.format(done=done, total=total), "final": final}


class Board:
    """The two reads that it takes. The token stays here."""

    def __init__(self, url: str, token: str) -> None:
        self.client = httpx.Client(base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=30)

    def job(self, job_id: str) -> dict | None:
        answer = self.client.get(f"/jobs/{quote(job_id, safe='')}")
        return answer.json() if answer.status_code == 200 else None

    def changes(self, job_id: str, after: int) -> Iterator[int | None]:
        """The number of each receipt after `after`, as it comes; None as a sign of life (every ten seconds)."""
        with self.client.stream("GET", f"/jobs/{quote(job_id, safe='')}/events", params={"after": after}) as stream:
            for line in stream.iter_lines():
                if line.startswith("id:"):
                    yield int(line.removeprefix("id:"))
                elif line.startswith(":"):
                    yield None
                elif line.startswith("event: end"):  # the right to see it ended
                    return


class Handler(BaseHTTPRequestHandler):
    board: Board
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path in FILES:
            name, kind = FILES[url.path]
            self.answer(200, kind, (HERE / name).read_bytes())
        elif url.path.startswith("/truth/"):
            self.truth(url.path.removeprefix("/truth/"), int(parse_qs(url.query).get("after", ["0"])[0]))
        else:
            self.answer(404, "text/plain", b"Nothing here.")

    def truth(self, job_id: str, after: int) -> None:
        """What is known now, then each change: a line of JSON each. It ends when nothing more can change."""
        job = self.board.job(job_id)
        if job is None or job["owner"] != customer_of(dict(self.headers)):
            return self.answer(404, "text/plain", b"Nothing here.")
        self.send_response(200)
        for name, value in {"Content-Type": "application/x-ndjson", "Cache-Control": "no-store", "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        try:
            if job["seq"] > after:
                self.line(told(job))
            for seq in self.board.changes(job_id, job["seq"]):
                if seq is None:
                    self.line({})
                elif seq > job["seq"] and (job := self.board.job(job_id)):
                    self.line(told(job))
                if job is None:
                    return
        except (BrokenPipeError, ConnectionResetError):
            pass  # the page was closed. That is a fact about a connection: it cancels nothing

    def line(self, value: dict) -> None:
        self.wfile.write(json.dumps(value).encode() + b"\n")
        self.wfile.flush()

    def answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        headers = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body)), "Content-Security-Policy": "default-src 'self'"}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Quiet."""


def main() -> None:
    Handler.board = Board(environ["BOARD"].rstrip("/"), environ["TOKEN"])
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
