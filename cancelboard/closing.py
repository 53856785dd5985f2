"""Teaches daphne two close codes it can't send: 1012 (service restart) and 1013 (try again later).

They are the ones after which a page's socket comes back; after 1000 and 4xxx it stays closed. ASGI lets an
application name any code, but autobahn, under daphne, takes only 1000 and 3000-4999 through its front door.
Another server needs nothing of this.
"""

from daphne.ws_protocol import WebSocketProtocol


def server_close(self: WebSocketProtocol, code: int | None = None) -> None:
    """Daphne's `serverClose`, by autobahn's inner door."""
    self.sendCloseFrame(code=1000 if code is None else code, isReply=False)


def allow_every_close_code() -> None:
    WebSocketProtocol.serverClose = server_close
