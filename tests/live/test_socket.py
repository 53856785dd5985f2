"""A page's socket on the real server: it says "look again" after a commit of any process, of nothing that its
person may not see, and ends when the session or the right does."""

import re
from collections.abc import Callable

from django.utils import timezone

from runs.commands import do
from runs.models import Grant, Queue, Tenant
from runs.permissions import Actor
from runs.protocol.asks import Submit
from tests.board.cast import Stage, spec

from .conftest import Tab

Open = Callable[[str], Tab]
AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def of(job: str, seq: int) -> Callable[[dict[str, object]], bool]:
    return lambda message: message == {"job": job, "seq": seq}


def test_a_sign_of_life_comes_at_once_with_the_time_of_the_data(tab: Open) -> None:
    began = timezone.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    sign = tab("lena").until(lambda message: "at" in message)
    assert sign.keys() == {"at"}
    assert AT.fullmatch(sign["at"])
    assert sign["at"] > began[:10]


def test_a_commit_of_another_process_is_told(stage: Stage, tab: Open) -> None:
    stage.begin("order-1")
    lena = tab("lena").show("order-1")
    stage.cancel("order-1")
    assert lena.until(of("order-1", 4))
    assert lena.until(lambda message: message == {"counts": True})
    stage.report("order-1", 0, "ok")  # and the stop confirmed: two receipts, one or two words
    assert lena.until(of("order-1", 6))


def test_what_was_committed_between_page_and_socket_is_told(stage: Stage, tab: Open) -> None:
    """A page may be older than its socket: each job is told once as it is when it is first shown."""
    stage.begin("order-1")
    stage.submit("order-2")
    lena = tab("lena").show("order-1", "order-2")
    assert {"job": "order-1", "seq": 3} in lena.heard
    assert {"job": "order-2", "seq": 1} in lena.heard
    lena.heard.clear()
    lena.say({"jobs": ["order-1", "order-2"]})
    stage.cancel("order-1")
    lena.until(of("order-1", 4))
    assert {"job": "order-1", "seq": 3} not in lena.heard
    assert not any(message.get("job") == "order-2" for message in lena.heard), "it has been told already"


def test_only_jobs_on_screen_are_told_and_the_counts_for_all(stage: Stage, tab: Open) -> None:
    stage.submit("order-1")
    stage.submit("order-2")
    lena = tab("lena").show("order-1")
    stage.cancel("order-2")
    lena.until(lambda message: message == {"counts": True})
    stage.cancel("order-1")
    lena.until(of("order-1", 3))
    assert not any(message.get("job") == "order-2" for message in lena.heard)


def test_a_new_list_replaces_the_former(stage: Stage, tab: Open) -> None:
    stage.submit("order-1")
    stage.submit("order-2")
    lena = tab("lena").show("order-1").show("order-2")
    lena.heard.clear()
    stage.cancel("order-1")
    stage.cancel("order-2")
    lena.until(of("order-2", 3))
    assert not any(message.get("job") == "order-1" for message in lena.heard)


def test_what_one_may_not_see_is_never_told(stage: Stage, tab: Open) -> None:
    stage.submit("mine")
    stage.submit("theirs", owner="customer-2")
    olga, ada = tab("olga"), tab("ada")
    olga.say({"jobs": ["mine", "theirs", "nothing"]})
    ada.say({"jobs": ["mine", "theirs"]})
    olga.until(of("mine", 1))
    stage.cancel("theirs")
    stage.cancel("mine")
    olga.until(of("mine", 3))
    ada.until(lambda message: message == {"counts": True})
    stage.begin("last")
    ada.until(lambda message: message == {"counts": True})
    for person in (olga, ada):
        assert "theirs" not in str(person.heard)
        assert "nothing" not in str(person.heard)
    assert not any("job" in message for message in ada.heard)


def test_another_tenants_commits_are_not_even_counted(stage: Stage, tab: Open) -> None:
    stage.submit("order-1")
    lena = tab("lena").show("order-1")
    other = Tenant.objects.create(name="elsewhere")
    Queue.objects.create(tenant=other, name="mail")
    do(Actor.system(other), "order-1", Submit(job_id="order-1", spec=spec()))
    lena.heard.clear()
    stage.cancel("order-1")
    lena.until(of("order-1", 3))
    assert {"counts": True} not in lena.heard
    assert {"job": "order-1", "seq": 1} not in lena.heard


def test_it_ends_when_the_session_has_ended(stage: Stage, tab: Open) -> None:
    lena = tab("lena")
    lena.client.logout()
    lena.say({"jobs": []})
    assert lena.closed_with() == 4403


def test_it_ends_when_the_person_is_switched_off(stage: Stage, tab: Open) -> None:
    lena = tab("lena")
    stage.people["lena"].is_active = False
    stage.people["lena"].save()
    lena.say({"jobs": []})
    assert lena.closed_with() == 4403


def test_it_ends_when_what_is_on_screen_may_be_seen_no_longer(stage: Stage, tab: Open) -> None:
    stage.submit("order-1")
    olga = tab("olga").show("order-1")
    Grant.objects.filter(user=stage.people["olga"], action="view").update(revoked_at=timezone.now())
    olga.say({"jobs": ["order-1"]})
    assert olga.closed_with() == 4403


GARBAGE: tuple[str | bytes, ...] = (
    "not json",
    "",
    b"\x00\x01",
    "[]",
    "null",
    '{"jobs": "order-1"}',
    '{"jobs": [1]}',
    '{"jobs": ["order-\\u0000"]}',
    "{}",
    '{"jobs": ' + "[" * 20_000,
    '{"jobs": ["' + "x" * 200_000 + '"]}',
    '{"jobs": [' + ",".join(f'"job-{n}"' for n in range(201)) + "]}",
)


def test_what_is_no_list_of_at_most_200_jobs_ends_it(tab: Open) -> None:
    for garbage in GARBAGE:
        lena = tab("lena")
        lena.say(garbage)
        assert lena.closed_with() == 1013, garbage[:30]


def test_200_jobs_are_not_too_many(stage: Stage, tab: Open) -> None:
    stage.submit("order-1")
    lena = tab("lena")
    lena.say({"jobs": [*("x" * 120 + f"-{n}" for n in range(199)), "order-1"]})
    assert lena.until(of("order-1", 1))


def test_a_disconnect_changes_nothing(stage: Stage, tab: Open) -> None:
    """The first sentence of the protocol."""
    stage.begin("order-1")
    tab("lena").show("order-1").socket.close()
    second = tab("lena").show("order-1")
    assert stage.row("order-1").control == "run"
    assert stage.row("order-1").seq == 3
    stage.cancel("order-1")
    assert second.until(of("order-1", 4)), "and the next one is told, though the last had left"
