"""Where each door hangs: the HTTP contract, Django's admin, the board. Sockets: `asgi.py`."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

from runs.api import api

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
]
if find_spec("runs.board.urls"):  # until the board has its own; then a plain line above
    urlpatterns += [path("", include("runs.board.urls"))]
