"""Where each door hangs: the HTTP contract, Django's admin, the board. Sockets: `asgi.py`."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

urlpatterns = [path("admin/", admin.site.urls)]
if find_spec("runs.api"):
    from runs.api import api

    urlpatterns += [path("api/v1/", api.urls)]
if find_spec("runs.board"):
    urlpatterns += [path("", include("runs.board.urls"))]
