"""Static files in front of the application: an ASGI wrapper, no middleware and no thread.

With DEBUG the files come from where they are written; else from STATIC_ROOT, as `collectstatic` left them.
"""

from typing import Any
from wsgiref.headers import Headers

from django.conf import settings
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from servestatic import ServeStaticASGI


def no_sniffing(headers: Headers, path: str, url: str) -> None:
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"


def with_static_files(application: Any) -> Any:
    if settings.DEBUG:
        return ASGIStaticFilesHandler(application)
    return ServeStaticASGI(
        application,
        root=settings.STATIC_ROOT,
        prefix=settings.STATIC_URL,
        allow_all_origins=False,
        add_headers_function=no_sniffing,
    )
