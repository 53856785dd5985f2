"""Django's request handler for ASGI, in one hop.

Our views are sync. Django's own handler would walk the middleware on the event loop and jump to a thread for
each part that is not async; this one jumps once, and the whole chain runs there as it would under WSGI.
"""

from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler


class OneHop(ASGIHandler):
    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: Any) -> Any:
        # Thread-sensitive: the request's one thread, where its database connection is opened and closed.
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


def django_application() -> Any:
    """What `get_asgi_application()` would give: call it before importing anything that has models."""
    django.setup(set_prefix=False)
    return OneHop()
