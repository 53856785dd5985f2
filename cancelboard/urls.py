"""Where each door hangs: the HTTP contract, Django's admin, the board. Sockets: `asgi.py`."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

urlpatterns = [path("admin/", admin.site.urls)]
# Until both doors are in the tree; then plain imports.
if find_spec("runs.api") and (find_spec("runs.api.api") or find_spec("runs.api").origin):
    from runs.api import api

    urlpatterns += [path("api/v1/", getattr(api, "api", api).urls)]
if find_spec("runs.board") and find_spec("runs.board.urls"):
    urlpatterns += [path("", include("runs.board.urls"))]
