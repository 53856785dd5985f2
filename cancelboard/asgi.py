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
from cancelboard.health import health  # noqa: E402
from cancelboard.origins import same_origin  # noqa: E402
from cancelboard.request_id import with_request_id  # noqa: E402
from cancelboard.static import with_static_files  # noqa: E402
from runs import consumers  # noqa: E402

if not settings.CANCELBOARD_HTTPS:
    logging.getLogger(__name__).warning(
        "CANCELBOARD_HTTPS is off: passwords and tokens travel readable. Fine on this machine only."
    )

allow_every_close_code()

nobody = re_path(r"", WebsocketDenier.as_asgi())
# A page sends its cookie and must be one of ours; a worker sends a token and no Origin.
pages_sockets = same_origin(AuthMiddlewareStack(URLRouter([*consumers.websocket_urlpatterns, nobody])))
application = Drain(
    with_request_id(
        with_static_files(
            ProtocolTypeRouter(
                {
                    "http": URLRouter(
                        [
                            re_path(r"^(?:healthz|readyz|metrics)$", health),  # type: ignore[arg-type]
                            *consumers.http_urlpatterns(pages),
                            re_path(r"", pages),
                        ]
                    ),
                    "websocket": URLRouter([*consumers.worker_urlpatterns, re_path(r"", pages_sockets)]),
                }
            )
        )
    )
)
