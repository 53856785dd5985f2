"""What the server runs: `daphne cancelboard.asgi:application`. HTTP, sockets, static files, a clean stop."""

import logging
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cancelboard.settings")

from cancelboard.handler import django_application

pages = django_application()  # before the imports below: they need the models

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import WebsocketDenier  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path  # noqa: E402

from cancelboard.closing import allow_every_close_code  # noqa: E402
from cancelboard.drain import Drain  # noqa: E402
from cancelboard.origins import same_origin  # noqa: E402
from cancelboard.static import with_static_files  # noqa: E402

http, workers, board = [], [], []
try:  # until all of it is in the tree; then a plain import
    from runs import consumers
except (ImportError, SyntaxError):
    pass
else:
    http = consumers.http_urlpatterns
    workers = consumers.worker_urlpatterns
    board = consumers.websocket_urlpatterns

if not settings.CANCELBOARD_HTTPS:
    logging.getLogger(__name__).warning(
        "CANCELBOARD_HTTPS is off: passwords and tokens travel readable. Fine on this machine only."
    )

allow_every_close_code()
nobody = re_path(r"", WebsocketDenier.as_asgi())
application = Drain(
    with_static_files(
        ProtocolTypeRouter(
            {
                "http": URLRouter([*http, re_path(r"", pages)]),
                # A worker sends a token and no Origin; a page sends its cookie and must be one of ours.
                "websocket": URLRouter(
                    [*workers, re_path(r"", same_origin(AuthMiddlewareStack(URLRouter([*board, nobody]))))]
                ),
            }
        )
    )
)
