"""The operator's shell, for when the page is down: the same commands and rights as everywhere."""

import json
from collections.abc import Callable

import pytest

from runs.commands import do
from runs.demo.people import cast
from runs.models import Job, Receipt, User
from runs.permissions import Actor
from runs.protocol.asks import Submit
from runs.protocol.spec import Spec
from tests.support.manage import Ended

SPEC = {"queue": "mail", "owner": "customer-1", "steps": ["Send it", "Tell them"]}
Manage = Callable[..., Ended]


@pytest.fixture
def job(manage: Manage) -> Job:
    people = cast()
    do(
        Actor.system(people["sam"].tenant),
        "mail-1",
        Submit(job_id="mail-1", spec=Spec.model_validate(SPEC)),
    )
    return Job.objects.get(job_id="mail-1")


def test_a_cancel_from_the_shell_is_the_persons_and_says_where_it_came_from(manage: Manage, job: Job) -> None:
    ended = manage(
        *("cancel", "mail-1", "--as", "omar", "--cause", "operator_requested"),
        *("--spec-digest", job.spec_digest, "--note", "The page is down.", "--event-id", "e-1"),
    )
    assert (ended.code, ended.out.splitlines()[0]) == (0, "requested")
    receipt = Receipt.objects.get(event_id="e-1")
    assert (receipt.kind, receipt.actor_type, receipt.actor_name) == ("cancel", "person", "omar")
    note = json.loads(receipt.body)["note"]
    assert note.startswith("The page is down.\n(manage.py cancel, by the machine's account ")
    again = manage(
        *("cancel", "mail-1", "--as", "omar", "--cause", "operator_requested"),
        *("--spec-digest", job.spec_digest, "--note", "The page is down.", "--event-id", "e-1"),
    )
    assert (again.code, again.out.splitlines()[0]) == (0, "requested (answered before)")


@pytest.mark.parametrize(
    ("who", "code", "word"),
    [
        ("sam", 1, "no_grant"),
        ("aud", 1, "explicit_deny"),
        ("acme/w1", 2, "no person"),
        ("ada", 2, "nothing here"),
    ],
)
def test_who_may_not_may_not_here_either(manage: Manage, job: Job, who: str, code: int, word: str) -> None:
    ended = manage("cancel", "mail-1", "--as", who, "--cause", "other", "--spec-digest", job.spec_digest)
    assert (ended.code, word in ended.err) == (code, True)
    assert Receipt.objects.filter(kind="cancel").count() == 0


def test_wrong_use_and_refusals_have_their_exit_codes(manage: Manage, job: Job) -> None:
    cancel = ("cancel", "mail-1", "--as", "omar", "--spec-digest")
    assert manage(*cancel, job.spec_digest).code == 2  # no cause
    assert manage(*cancel, job.spec_digest, "--cause", "no_such").code == 2
    assert manage(*cancel, "short", "--cause", "other").code == 2
    refused = manage(*cancel, "0" * 64, "--cause", "other")
    assert (refused.code, refused.out.splitlines()[0]) == (1, "spec_conflict")


def test_what_the_shell_shows_is_what_its_person_may_see(manage: Manage, job: Job) -> None:
    shown = manage("job", "mail-1", "--as", "olga")
    assert shown.code == 0
    assert {"headline: ready", f"spec_digest: {job.spec_digest}", "step 0 Send it: pending"} <= {
        *shown.out.splitlines()
    }
    assert json.loads(manage("job", "mail-1", "--as", "olga", "--json").out)["job_id"] == "mail-1"
    assert manage("jobs", "--as", "olga").out.startswith("mail-1  mail  ready  0/2")
    assert manage("jobs", "--as", "olga", "--headline", "paused").out == ""
    assert manage("job", "mail-1", "--as", "ada").code == 2
    assert manage("jobs", "--as", "ada").out == ""
    User.objects.filter(username="olga").update(is_active=False)
    assert manage("jobs", "--as", "olga").out == ""
