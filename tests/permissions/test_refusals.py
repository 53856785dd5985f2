"""Refused tries are counted by the minute, in a table that can't grow without bound."""

from datetime import timedelta

import pytest
from django.test import Client

from runs.commands import do
from runs.errors import NotAllowed
from runs.ledger import clock
from runs.models import Job, Receipt, Refusal, User
from runs.permissions import Actor, count_refusal, refusals
from runs.permissions.decision import Verdict
from runs.permissions.refusals import SENTENCES, WAYS
from runs.protocol import asks
from runs.protocol.spec import Spec


@pytest.fixture
def sam(people: dict[str, User]) -> Actor:
    return Actor.of_user(people["sam"])


def test_one_row_for_each_principal_action_job_code_and_minute(sam: Actor, people: dict[str, User]) -> None:
    noon = clock().replace(hour=12, minute=0, second=0, microsecond=0)
    for second in (0, 1, 59):
        count_refusal(sam, "cancel", "job-1", "no_grant", noon + timedelta(seconds=second))
    assert [(r.count, r.minute) for r in Refusal.objects.all()] == [(3, noon)]
    count_refusal(sam, "cancel", "job-1", "no_grant", noon + timedelta(seconds=60))
    count_refusal(sam, "pause", "job-1", "no_grant", noon)
    count_refusal(sam, "cancel", "job-2", "no_grant", noon)
    count_refusal(sam, "cancel", "job-1", "explicit_deny", noon)
    count_refusal(Actor.of_user(people["omar"]), "cancel", "job-1", "no_grant", noon)
    assert sorted(r.count for r in Refusal.objects.all()) == [1, 1, 1, 1, 1, 3]


def test_the_oldest_go_first_and_never_another_tenants(
    sam: Actor, people: dict[str, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "KEPT", 3)
    now = clock()
    for minutes in (5, 1, 4, 2, 3):
        count_refusal(sam, "cancel", f"job-{minutes}", "no_grant", now - timedelta(minutes=minutes))
    assert set(Refusal.objects.values_list("job_id", flat=True)) == {"job-1", "job-2", "job-3"}
    for n in range(9):
        count_refusal(sam, "cancel", f"new-{n}", "no_grant", now)
    assert set(Refusal.objects.values_list("job_id", flat=True)) == {"new-6", "new-7", "new-8"}


def test_the_system_is_not_counted(people: dict[str, User]) -> None:
    count_refusal(Actor.system(people["sam"].tenant), "cancel", "job-1", "no_grant")
    assert not Refusal.objects.exists()


@pytest.mark.parametrize("code", SENTENCES)
def test_a_refusal_as_an_error(code: str) -> None:
    error = refusals.error_of(Verdict(False, code, None, ()))
    assert (error.code, error.http) == (code, 401 if code in ("principal_inactive", "token_dead") else 403)
    assert str(error).endswith(".")
    assert WAYS[code].endswith("."), "and what would change it"


def counted() -> set[tuple[str, str, str, str, int]]:
    rows = Refusal.objects.values_list("user__name", "action", "job_id", "code", "count")
    return set(rows)


def test_a_refused_read_of_a_job_is_counted_whether_or_not_there_is_one(
    people: dict[str, User], jobs: dict[str, Job]
) -> None:
    """Who probes ids is seen; and that it is counted tells nothing either."""
    olga = Client()
    olga.force_login(people["olga"], "django.contrib.auth.backends.ModelBackend")
    for job in ("mail-2", "nothing"):
        for path in (
            f"/jobs/{job}/",
            f"/jobs/{job}/cancel/",
            f"/api/v1/jobs/{job}",
            f"/api/v1/jobs/{job}/receipts",
        ):
            assert olga.get(path).status_code == 404, path
    assert olga.get("/jobs/mail-1/").status_code == 200
    assert counted() == {("olga", "view", job, "not_found", 4) for job in ("mail-2", "nothing")}
    assert olga.get("/api/v1/receipts/e-1").status_code == 404
    assert ("olga", "view", "", "not_found", 1) in counted()
    assert olga.get("/api/v1/can?action=view&principal=sam").status_code == 403
    assert ("olga", "manage_grants", "", "no_grant", 1) in counted()


def test_a_refused_command_is_counted_once_under_its_action(
    people: dict[str, User], jobs: dict[str, Job]
) -> None:
    sam = Client()
    sam.force_login(people["sam"], "django.contrib.auth.backends.ModelBackend")
    digest = jobs["mail job of customer-1"].spec_digest
    form = {"event_id": "e-1", "cause": "other", "grace_seconds": 9}
    assert sam.post("/jobs/mail-1/cancel/", form).status_code == 403
    assert sam.post("/jobs/mail-1/pause/", form).status_code == 403
    actor = Actor.of_user(people["sam"])
    spec = Spec.model_validate({"queue": "mail", "steps": ["a"]})
    for ask, job in (
        (asks.Cancel(event_id="e-2", spec_digest=digest), "mail-1"),
        (asks.Cancel(event_id="e-2", spec=spec), "new"),
        (asks.Approve(event_id="e-2", proposal="p-1"), "mail-1"),
        (asks.Seal(event_id="e-2", generation=1), None),
    ):
        with pytest.raises(NotAllowed):
            do(actor, job, ask)
    assert counted() == {
        ("sam", "cancel", "mail-1", "no_grant", 2),
        ("sam", "pause", "mail-1", "no_grant", 1),
        ("sam", "block", "new", "no_grant", 1),
        ("sam", "approve", "mail-1", "no_grant", 1),
        ("sam", "seal", "", "no_grant", 1),
    }
    assert not Receipt.objects.filter(event_id__startswith="e-").exists()
