"""A restored backup: what could have been sent since then is unknown, no fence given since then is newer."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from runs.audit import breaches, snapshot
from runs.ledger import as_text
from runs.models import Job, Receipt, Step
from tests.support.manage import Ended

from .cast import CONFIRMED, Story, spec

Manage = Callable[..., Ended]


def states() -> dict[str, tuple[str, str]]:
    return {job: (control, cur) for job, control, cur in Job.objects.values_list("job_id", "control", "cur")}


def cancel(story: Story, job: str) -> None:
    digest = Job.objects.get(job_id=job).spec_digest
    story("lena", job, "cancel", spec_digest=digest)


@pytest.fixture
def at(story: Story) -> str:
    """Every kind of job that a backup can hold, and when it was made."""
    story.submit("ready")
    story.submit("paused")
    story("lena", "paused", "pause")
    story.begin("out")
    story.begin("half", dispatch="marked")
    story.begin("marked", dispatch="marked")
    story("w1", "marked", "dispatch", ordinal=0, attempt="a1")
    story.begin("asked-half", dispatch="marked")
    cancel(story, "asked-half")
    story.begin("asked-out")
    cancel(story, "asked-out")
    story.begin("done")
    story.report("done", 0, "rejected", value="550")
    story.submit("stopped")
    cancel(story, "stopped")
    story("lena", "buried", "cancel", spec=spec())
    return as_text(story.now)


def test_each_step_that_could_have_been_sent_is_unknown(story: Story, manage: Manage, at: str) -> None:
    story.later(hours=1)
    ended = manage("restored", "--at", at)
    assert (ended.code, ended.out.splitlines()[0]) == (0, "7 jobs in doubt now")
    assert f"after {at} is lost" in ended.out
    assert states() == {
        **dict.fromkeys(("ready", "paused", "out", "half", "marked"), ("run", "unknown")),
        "asked-half": ("acknowledged", "pending"),  # its mark was forbidden before the backup was made
        "asked-out": ("requested", "unknown"),
        "done": ("run", "rejected"),
        "stopped": ("acknowledged", "pending"),
        "buried": ("acknowledged", "pending"),
    }
    with snapshot():
        assert [str(breach) for breach in breaches()] == []


def test_no_claim_of_before_or_of_the_lost_time_passes(story: Story, manage: Manage, at: str) -> None:
    old = story.tokens["half"]
    manage("restored", "--at", at)
    assert Job.objects.get(job_id="half").fence > 1000, "more than were lost"
    assert story("w1", "half", "dispatch", claim=old, ordinal=0, attempt="a1").status == "claim_lost"
    assert story("w1", "half", "reserve", claim="2-" + "0" * 32, attempt="a2").status == "claim_lost"
    story.claim("half", "w2")
    assert story("w2", "half", "reserve", attempt="a3").status == "unknown", "no permission to send again"
    told = story("sam", "half", "reconcile", ordinal=0, outcome="ok", value="250", evidence=CONFIRMED)
    assert told.status == "settled"
    late = story.report("half", 0, "ok", claim=old, value="250")
    assert late.status == "already_settled"


def test_once_for_each_backup_and_it_goes_on_after_a_crash(story: Story, manage: Manage, at: str) -> None:
    story("system", "out", "restored", at=at)  # the crash came after this one
    assert manage("restored", "--at", at).out.splitlines()[0] == "6 jobs in doubt now"
    assert manage("restored", "--at", at).out.splitlines()[0] == "0 jobs in doubt now"
    assert Receipt.objects.filter(kind="restored").count() == 7
    assert Step.objects.filter(job__job_id="out", ordinal=1).get().state == "pending"


def test_wrong_use(story: Story, manage: Manage) -> None:
    for text in ("yesterday", "2026-11-29T12:00:00", as_text(story.now + timedelta(days=1))):
        assert manage("restored", "--at", text).code == 2
