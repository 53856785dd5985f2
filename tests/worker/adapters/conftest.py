"""A local stand-in for a model's streaming chat endpoint, which knows what it was asked and who hung up."""

import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from runs.worker import CancelToken, Cause

GOAL = Cause("goal_met", "Goal met", "Enough was found.")
#: All bounds here are "at once"; this is how long that may take on a busy machine.
AT_ONCE = 5.0


@dataclass
class Chat:
    """`asked`: the prompts, in order. After `words` it says nothing more until `go_on`, or it is hung up on.

    A prompt "silent" gets not even a status line before that.
    """

    url: str = ""
    words: int = 3
    asked: list[str] = field(default_factory=list)
    said: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    hung_up: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    go_on: threading.Event = field(default_factory=threading.Event)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.asked.append(body["prompt"])
        self.said.release()
        if body["prompt"] == "silent" and self._waits(handler.connection):
            return
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for word in range(self.words):
            self._chunk(handler, f'data: {{"word": {word}}}\n\n'.encode())
            self.said.release()
        if self._waits(handler.connection):
            return
        self._chunk(handler, b"data: [DONE]\n\n")
        self._chunk(handler, b"")

    def _chunk(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        handler.wfile.flush()

    def _waits(self, connection: socket.socket) -> bool:
        """Says whether the other side hung up meanwhile."""
        connection.settimeout(0.01)
        until = time.monotonic() + 30
        while time.monotonic() < until and not self.go_on.is_set():
            try:
                if connection.recv(1) == b"":
                    self.hung_up.release()
                    return True
            except TimeoutError:
                continue
            except (ConnectionError, ssl.SSLEOFError):
                self.hung_up.release()
                return True
        connection.settimeout(None)
        return False


def certificate(folder: Path) -> Path:
    """Of 127.0.0.1, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    file = folder / "certificate.pem"
    file.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + signed.public_bytes(pem)
    )
    return file


@pytest.fixture
def chat() -> Iterator[Chat]:
    with serving() as chat:
        yield chat


@pytest.fixture
def tls_chat(tmp_path: Path) -> Iterator[tuple[Chat, ssl.SSLContext]]:
    """The same over TLS, and what trusts it."""
    file = certificate(tmp_path)
    with serving(file) as chat:
        yield chat, ssl.create_default_context(cafile=file)


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[Chat]:
    chat = Chat()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            chat.answer(self)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass  # who hangs up is counted above

    server = Server(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    scheme = "http" if certificate is None else "https"
    chat.url = f"{scheme}://127.0.0.1:{server.server_address[1]}/v1/chat"
    yield chat
    chat.go_on.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def token() -> CancelToken:
    return CancelToken()


class Watch:
    """How long it took from the cancel to the end."""

    def __init__(self) -> None:
        self.began = 0.0

    def cancel(self, token: CancelToken, grace: float | None = None) -> None:
        self.began = time.monotonic()
        token.cancel(GOAL, grace)

    @property
    def took(self) -> float:
        return time.monotonic() - self.began


@pytest.fixture
def watch() -> Watch:
    return Watch()
