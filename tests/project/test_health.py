"""What watching machines ask, and the name that a request has in the log."""

import io
import json
import logging
from collections.abc import Callable
from datetime import timedelta
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from django.db import connection

from runs import ledger, metrics, settle
from tests.races.scene import Scene, digest, told
from tests.support.databases import Database
from tests.support.server import Served

TOKEN = "scrape-me"


def get(url: str, **headers: str) -> tuple[int, str, str]:
    """Code, body, and the name of the request."""
    try:
        with urlopen(Request(url, headers={n.replace("_", "-"): v for n, v in headers.items()})) as answer:
            return answer.status, answer.read().decode(), answer.headers["X-Request-ID"]
    except HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers["X-Request-ID"]


def test_a_server_says_that_it_lives_is_ready_and_what_it_did(serve: Callable[..., Served]) -> None:
    told(lambda scene: (scene.do("submit"), scene.do("claim"), scene.do("reserve", claim=1)))  # lapsed by now
    url = serve(CANCELBOARD_METRICS_TOKEN=TOKEN, CANCELBOARD_HTTPS="1", SECRET_KEY="k" * 60).url
    foreign = {"Host": "10.0.0.7"}  # a prober knows no name, and gets no redirect
    assert get(f"{url}/healthz", **foreign)[0] == 200
    assert get(f"{url}/healthz", X_Request_ID="from-proxy.1")[2] == "from-proxy.1"
    own = get(f"{url}/healthz", X_Request_ID="two words")[2]
    assert own not in ("two words", get(f"{url}/healthz")[2])
    code, body, _ = get(f"{url}/readyz", **foreign)
    ready = json.loads(body)
    assert (code, ready["ready"], ready["database"], ready["migrations"]) == (200, True, True, True)
    assert (ready["tailer_lag"], ready["settle_lag"] > 60) == (None, True)
    assert get(f"{url}/metrics")[0] == 404
    assert get(f"{url}/metrics", Authorization="Bearer other")[0] == 404
    code, text, _ = get(f"{url}/metrics", Authorization=f"Bearer {TOKEN}", **foreign)
    assert (code, 'cancelboard_unsettled_steps{age="1h"} 1.0' in text) == (200, True)


def test_a_server_whose_database_is_not_migrated_is_not_ready(serve: Callable[..., Served]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'axes'")
    code, body, _ = get(f"{serve().url}/readyz")
    assert (code, json.loads(body)["migrations"]) == (503, False)


def test_commands_are_counted_with_their_answers(db: None) -> None:
    def count(kind: str, status: str) -> float:
        return metrics.COMMANDS.labels(kind, status, False)._value.get()

    before = count("submit", "admitted"), count("submit", "existing")
    scene = Scene()
    scene.do("submit")
    scene.do("submit")
    assert (count("submit", "admitted"), count("submit", "existing")) == (before[0] + 1, before[1] + 1)


def test_the_lag_is_how_long_something_has_been_due(real_db: Database) -> None:
    assert settle.lag(ledger.clock()) == 0
    scene = Scene()
    scene.do("submit")
    scene.do("claim", ttl_seconds=90)
    scene.do("reserve", claim=1)
    scene.do("cancel", who="lena", spec_digest=digest(), grace_seconds=60)
    now = ledger.clock()
    assert settle.lag(now) == 0
    assert 0 < settle.lag(now + timedelta(seconds=70)) < 15, "the grace ended ten seconds ago"
    assert metrics.unsettled_by_age(now + timedelta(hours=2)) == {"5m": 0, "1h": 0, "1d": 1, "more": 0}


def test_a_line_as_json_is_one_object() -> None:
    from cancelboard.logs import OneObject

    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(OneObject())
    record = logging.LogRecord("x", logging.INFO, "", 0, "a\nb %s", ("c",), None)
    handler.emit(record)
    (line,) = out.getvalue().splitlines()
    assert json.loads(line)["message"] == "a\nb c"
