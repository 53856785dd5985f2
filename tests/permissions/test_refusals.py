"""Refused tries are counted by the minute, in a table that can't grow without bound."""

from datetime import timedelta

import pytest

from runs.ledger import clock
from runs.models import Refusal, User
from runs.permissions import Actor, count_refusal, refusals
from runs.permissions.decision import Verdict
from runs.permissions.refusals import SENTENCES


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
