"""Where each door hangs: the HTTP contract, Django's admin, the board. Sockets: `asgi.py`."""

from django.contrib import admin
from django.urls import include, path

from runs.api import api

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("", include("runs.board.urls")),
]
