"""A database that fails under a request: the answer is what it would have been, or 503 with Retry-After."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from itertools import count

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from runs.models import Token, User
from runs.permissions import Action
from tests.races.pairs import TWO, submitted
from tests.races.scene import Scene, told
from tests.support.databases import Database
from tests.support.faults import cut_before

Asked = Callable[[Client, dict[str, str], int], HttpResponse]


def cancel(client: Client, headers: dict[str, str], number: int) -> HttpResponse:
    body = json.dumps({"event_id": f"a{number}", "spec_digest": TWO})
    return client.post("/api/v1/jobs/j/cancel", body, "application/json", headers=headers)


def read(client: Client, headers: dict[str, str], number: int) -> HttpResponse:
    return client.get("/api/v1/jobs/j", headers=headers)


def by_token(scene: Scene) -> tuple[Client, dict[str, str]]:
    token = Token.objects.create(
        user_id=scene.actors["w1"].user_id,
        prefix="prefix01",
        secret_hash=hashlib.sha256(b"secret").hexdigest(),
        actions=[str(action) for action in Action],
        expires_at=timezone.now() + timedelta(days=1),
    )
    return Client(), {"Authorization": f"Bearer cb_{token.prefix}_secret"}


def by_session(scene: Scene) -> tuple[Client, dict[str, str]]:
    client = Client(enforce_csrf_checks=True)
    lena = User.objects.get(pk=scene.actors["lena"].user_id)
    client.force_login(lena, "django.contrib.auth.backends.ModelBackend")
    client.cookies["csrftoken"] = "a" * 32
    return client, {"X-CSRFToken": "a" * 32}


@pytest.mark.parametrize("who", [by_token, by_session])
@pytest.mark.parametrize(("ask", "usual"), [(cancel, {200, 202}), (read, {200})])
def test_the_usual_answer_or_503(
    real_db: Database, who: Callable[[Scene], tuple[Client, dict[str, str]]], ask: Asked, usual: set[int]
) -> None:
    client, headers = who(told(submitted()))
    ask(client, headers, 0)
    for number in count(1):
        with cut_before(number) as executed:
            response = ask(client, headers, number)
        connection.close_if_unusable_or_obsolete()  # as the end of a request does
        if response.status_code not in usual:
            assert response.status_code == 503, executed[-1]
            assert response["Retry-After"] == "1"
            assert response.json()["code"] == "busy"
        if number > len(executed):
            break
    assert response.status_code in usual
