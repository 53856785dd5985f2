"""The ears: one socket for all claims of this process, in a thread of its own (docs/protocol.md, section 7).

It brings the signal at once; the heartbeat brings it always. So nothing here is an error for a run: while
there is no socket, a run hears by its heartbeat, and a socket that ends cancels nothing.
The only file that knows websockets.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from runs.worker.plans import Retry, log
from runs.worker.step import Claim
from runs.worker.wire import Answer

#: A server that is away is asked again soon; one that has no socket for us is not bothered.
COME_BACK = Retry(first=0.5, longest=30.0)
OPENING = 10.0
LONGEST = 64 * 1024  #: of a message, in bytes


class Ears:
    """`url`: where the server is. The thread starts with the first claim and lives until `close()`."""

    def __init__(self, url: str, token: str) -> None:
        self._url = f"{url.rstrip('/').replace('http', 'ws', 1)}/ws/worker/"
        self._headers = {"Authorization": f"Bearer {token.strip()}"}
        self._lock = threading.Lock()
        self._claims: dict[str, tuple[Claim, Callable[[], None]]] = {}
        self._socket: ClientConnection | None = None
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Listen, also before there is a claim: so a drill finds an idle worker too."""
        with self._lock:
            if self._thread is None and not self._over.is_set():
                self._thread = threading.Thread(target=self._listen, name="cancelboard ears", daemon=True)
                self._thread.start()

    def watch(self, claim: Claim, heard: Callable[[], None]) -> Callable[[], None]:
        """Have the claim's token told what the socket says of it, and `heard` called after that, from the
        socket's thread. Returns a function that ends it."""
        with self._lock:
            self._claims[claim.job_id] = (claim, heard)
        self.open()
        self._say()

        def forget() -> None:
            with self._lock:
                if self._claims.get(claim.job_id, (None,))[0] is claim:
                    del self._claims[claim.job_id]
            self._say()

        return forget

    def close(self) -> None:
        """Ends the thread. Runs that still go on hear by their heartbeat."""
        self._over.set()
        with self._lock:
            socket, thread = self._socket, self._thread
        if socket is not None:
            socket.close()
        if thread is not None:
            thread.join()

    def _say(self) -> None:
        """Which claims are ours. One that could not be sent is said when the socket is back."""
        with self._lock, suppress(ConnectionClosed, OSError):
            if self._socket is not None:
                claims = [{"job_id": job, "claim": claim.token} for job, (claim, _) in self._claims.items()]
                self._socket.send(json.dumps({"type": "watch", "claims": claims}))

    def _listen(self) -> None:
        tries = 0
        while not self._over.is_set():
            try:
                with connect(
                    self._url, additional_headers=self._headers, open_timeout=OPENING, max_size=LONGEST
                ) as socket:
                    tries = 0
                    self._hear_all(socket)
            except (OSError, EOFError, WebSocketException) as fault:
                log.log(
                    logging.INFO if tries else logging.WARNING,
                    "no socket: %s; a cancel is heard by heartbeat",
                    fault,
                )
            except Exception:  # our mistake: the ears are a convenience, the heartbeat goes on
                log.exception("the socket failed")
            self._over.wait(COME_BACK.pause(tries))
            tries += 1

    def _hear_all(self, socket: ClientConnection) -> None:
        """Until the socket ends, by either side."""
        with self._lock:
            self._socket = socket
        try:
            self._say()
            if self._over.is_set():
                return
            for message in socket:
                self._hear(socket, json.loads(message))
        finally:
            with self._lock:
                self._socket = None

    def _hear(self, socket: ClientConnection, message: Mapping[str, Any]) -> None:
        if message["type"] == "drill":
            socket.send(json.dumps({"type": "drill", "id": message["id"]}))
            return
        with self._lock:
            known = self._claims.get(message.get("job_id", ""))
        if known is None:
            return
        claim, heard = known
        match message["type"]:
            case "signal":
                claim.cancel.observe(Answer(200, {"status": "ok", "signal": message["signal"]}))
            case "claim_lost":
                claim.cancel.observe(Answer(409, {"status": "claim_lost", "cause": message["cause"]}))
            case _:
                return
        heard()
