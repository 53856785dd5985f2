"""The certificate through the API: for whom may export the job, whole, signed where there is a key."""

from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.certificates import checked
from runs.models import Refusal, User

from .cast import Caller, spec

Person = Callable[[str], Caller]


@pytest.fixture
def story(app: Caller) -> Caller:
    app.submit("j")
    claim = app.claim("j")
    app.post("/jobs/j/reserve", {"claim": claim})
    app.ask("j", "cancel", event_id="stop", spec=spec(), note="zu früh 太早")
    app.ask("j", "report", event_id="done", claim=claim, ordinal=0, outcome="ok", value="250")
    return app


def test_it_holds_the_job_and_all_its_receipts(story: Caller, settings: Any) -> None:
    settings.CANCELBOARD_SIGNING_KEY = key = Ed25519PrivateKey.generate()
    reply = story.get("/jobs/j/certificate")
    assert reply.code == 200
    assert checked(reply.response.content)[1] == []
    assert reply["job"] == story.job("j") | {"claim": reply["job"]["claim"]}
    assert reply["receipts"] == story.get("/jobs/j/receipts")["receipts"]
    assert reply["head_digest"] == reply["receipts"][-1]["digest"]
    assert reply["sentence"].startswith("Stopped; 1 of 2 steps had happened.")
    assert reply["signature"]["public_key"] == key.public_key().public_bytes_raw().hex()
    assert key.private_bytes_raw().hex() not in reply.response.content.decode()


def test_without_a_key_it_is_not_signed(story: Caller) -> None:
    assert story.get("/jobs/j/certificate")["signature"] is None


def test_it_needs_export_beside_view(story: Caller, w1: Caller, person: Person) -> None:
    assert person("aud").get("/jobs/j/certificate").code == 200
    for caller in (w1, person("lena")):
        assert caller.get("/jobs/j/certificate").told == (
            403,
            "no_grant" if caller is not w1 else "token_ceiling",
        )
    refusal = Refusal.objects.get(code="no_grant")
    assert (refusal.user.name, refusal.action, refusal.job_id, refusal.count) == ("lena", "export", "j", 1)
    unseen = person("ada").get("/jobs/j/certificate").response.content
    assert unseen == person("aud").get("/jobs/nothing/certificate").response.content


def test_it_asks_as_often_for_many_receipts(story: Caller) -> None:
    def asked() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert story.get("/jobs/j/certificate").code == 200
        return len(queries)

    before = asked()
    for n in range(20):
        story.ask("j", "pause", event_id=f"p{n}")
    assert asked() == before


def test_the_shell_prints_it_for_a_person_with_the_right(
    story: Caller, cast: dict[str, User], capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("certificate", "j", user=cast["aud"].username)
    assert checked(capsys.readouterr().out.encode())[1] == []
    for job, name, code in (("j", "lena", 1), ("nothing", "aud", 2)):
        with pytest.raises(CommandError) as refused:
            call_command("certificate", job, user=cast[name].username)
        assert refused.value.returncode == code
    assert {(each.action, each.job_id) for each in Refusal.objects.all()} == {
        ("export", "j"),
        ("export", "nothing"),
    }
