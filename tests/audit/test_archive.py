"""Archives: what goes and what stays, the file offline, and every stage killed and run again."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from runs.audit import breaches, snapshot
from runs.commands import archive, do
from runs.errors import Gone
from runs.models import Archive, ArchivedJob, Claim, Delivery, Grant, Job, Receipt, Step
from runs.protocol.asks import Submit
from runs.queries import jobs
from tests.support.manage import Ended

from .cast import CONFIRMED, Story, spec

Manage = Callable[..., Ended]
GO = ["buried@1", "done@1", "failed@0", "stopped@1"]
STAY = ["child@2", "disputed@1", "later@2", "open@1", "parent@1", "unsettled@1"]


@pytest.fixture
def story(story: Story) -> Story:
    """Of two sealed generations and an open one: ended jobs, and some that wait."""
    for job in ("done@1", "failed@0", "later@2"):
        story.begin(job)
        story.report(job, 0, "rejected", value="550")
    story("lena", "done@1", "pause", event_id="known")
    story("lena", "done@1", "pause", event_id="known")
    story("lena", "buried@1", "cancel", spec=spec())
    story.submit("stopped@1")
    story("lena", "stopped@1", "cancel", spec_digest=spec().digest)
    story.submit("open@1")
    story.begin("unsettled@1")
    story("lena", "unsettled@1", "cancel", spec_digest=spec().digest)
    story.begin("disputed@1")
    story.report("disputed@1", 0, "rejected", value="550")
    story("sam", "disputed@1", "reconcile", ordinal=0, outcome="ok", value="250", evidence=CONFIRMED)
    story.submit("parent@1")
    story.submit("child@2", parent="parent@1")
    story("lena", "parent@1", "cancel", spec_digest=spec().digest)
    story("lena", None, "seal", generation=1)
    return story


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "archive.jsonl"


def left() -> list[str]:
    return sorted(Job.objects.values_list("job_id", flat=True))


def clean() -> list[str]:
    with snapshot():
        return [str(breach) for breach in breaches()]


def test_ended_jobs_of_sealed_generations_go_and_all_else_stays(
    story: Story, manage: Manage, file: Path
) -> None:
    ended = manage("archive", "--to", str(file))
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "4 jobs removed now")
    assert left() == STAY
    assert sorted(ArchivedJob.objects.values_list("job_ref", flat=True)) == GO
    for rows in (Receipt, Step, Claim):
        assert not rows._default_manager.filter(job__isnull=False).exclude(job__job_id__in=STAY).exists()
    assert not Delivery.objects.filter(event_id="known").exists()
    assert file.stat().st_mode & 0o777 == 0o600
    receipt = Receipt.objects.get(kind="archive")
    digest = json.loads(file.read_text().splitlines()[-1])["digest"]
    assert (receipt.status, json.loads(receipt.body)["digest"]) == ("archived", digest)
    assert clean() == []


def test_what_has_gone_is_sealed_for_ever(story: Story, manage: Manage, file: Path) -> None:
    manage("archive", "--to", str(file))
    late = do(story.actors["app"], "buried@1", Submit(job_id="buried@1", spec=spec()))
    assert (late.code, late.status, late.receipt) == (409, "sealed", None)
    with pytest.raises(Gone):
        jobs.one(story.actors["lena"], "done@1")
    again = story("lena", "done@1", "pause", event_id="known")
    assert (again.status, again.replayed) == ("sealed", False), "its replays have ended"
    assert clean() == []


def test_it_is_verified_offline(story: Story, manage: Manage, file: Path) -> None:
    manage("archive", "--to", str(file))
    told = manage("verify", str(file))
    assert (told.code, told.out.splitlines()[0]) == (0, "archive of acme: 4 jobs, 13 receipts")
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    value = b'"value":"550"'
    harms = {
        "a value": whole.replace(value, b'"value":"250"', 1),
        "a job left out": b"".join(lines[:2] + lines[3:]),
        "a job twice": b"".join([*lines[:2], lines[1], *lines[2:]]),
        "the order": b"".join([lines[0], lines[2], lines[1], *lines[3:]]),
        "cut off": b"".join(lines[:-1]),
        "something behind": whole + b"{}\n",
        "a space": whole.replace(b":", b": ", 1),
        "the count": whole.replace(b'"jobs":4', b'"jobs":5'),
    }
    for harm, text in harms.items():
        assert text != whole, harm
        file.write_bytes(text)
        assert manage("verify", str(file)).code == 1, harm


def test_a_file_that_does_not_hold_removes_nothing(story: Story, manage: Manage, file: Path) -> None:
    list(archive.write(file, story.tenant, 1))
    file.write_bytes(file.read_bytes()[:-100])
    assert manage("archive", "--to", str(file)).code == 1
    assert (left(), Archive.objects.count()) == (sorted(GO + STAY), 0)


@pytest.mark.parametrize("cut", [1, 300, 2500, 5000])
def test_a_write_that_was_cut_off_goes_on(story: Story, manage: Manage, file: Path, cut: int) -> None:
    list(archive.write(file, story.tenant, 1))
    part = file.with_name(file.name + ".part")
    part.write_bytes(file.read_bytes()[:-cut])
    file.unlink()
    assert manage("archive", "--to", str(file)).code == 0
    assert manage("verify", str(file)).code == 0
    assert left() == STAY


def test_a_removal_that_was_cut_off_goes_on(
    story: Story, manage: Manage, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "AT_ONCE", 1)
    whole = archive._removed

    def dies(*args: Any) -> int:
        if len(left()) == 8:
            raise KeyboardInterrupt
        return whole(*args)

    monkeypatch.setattr(archive, "_removed", dies)
    with pytest.raises(KeyboardInterrupt):
        manage("archive", "--to", str(file))
    assert (len(left()), Archive.objects.count()) == (8, 1)
    assert clean() == []
    monkeypatch.setattr(archive, "_removed", whole)
    assert manage("archive", "--to", str(file)).out.splitlines()[-1] == "2 jobs removed now"
    assert (left(), Receipt.objects.filter(kind="archive").count()) == (STAY, 1)


def test_a_job_that_got_a_receipt_meanwhile_stays_for_the_next_archive(
    story: Story, manage: Manage, file: Path, tmp_path: Path
) -> None:
    list(archive.write(file, story.tenant, 1))
    story("sam", "done@1", "observe", ordinal=0, evidence=CONFIRMED)
    assert manage("archive", "--to", str(file)).out.splitlines()[-1] == "3 jobs removed now"
    assert "done@1" in left()
    assert manage("archive", "--to", str(tmp_path / "next")).out.splitlines()[-1] == "1 jobs removed now"
    assert (left(), clean()) == (STAY, [])


def test_a_child_goes_before_its_parent(story: Story, manage: Manage, file: Path) -> None:
    story.submit("p@1")
    assert story.submit("c@1", parent="p@1").status == "sealed"
    story("lena", "child@2", "cancel", spec_digest=spec(parent="parent@1").digest)
    assert Job.objects.get(job_id="parent@1").control == "acknowledged"
    manage("archive", "--to", str(file))
    assert "parent@1" in left(), "its child's generation is not sealed"
    story("lena", None, "seal", generation=2)
    assert manage("archive", "--to", f"{file}2").code == 0
    assert left() == ["disputed@1", "open@1", "unsettled@1"]


@pytest.fixture
def whole_tables(story: Story) -> Iterator[None]:
    yield
    assert left() == sorted(GO + STAY)


def test_the_database_lets_no_other_receipt_go(story: Story, whole_tables: None) -> None:
    done = Job.objects.get(job_id="done@1")
    receipts = Receipt.objects.filter(job=done)
    other = Archive.objects.create(
        tenant=story.tenant, digest="0" * 64, sealed_generation=1, jobs=1, receipts=1, at=story.now
    )
    row = {"archive": other, "tenant": story.tenant, "head_digest": "0" * 64}
    ArchivedJob.objects.create(job_ref="done@1", seq=done.seq - 1, **row)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        receipts._raw_delete("default")  # its newest is in no archive
    for model in (Archive, ArchivedJob):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            model._default_manager.all()._raw_delete("default")
    if connection.vendor == "postgresql":
        with transaction.atomic():
            other = Archive.objects.create(
                tenant=story.tenant, digest="1" * 64, sealed_generation=1, jobs=1, receipts=1, at=story.now
            )
            ArchivedJob.objects.create(job_ref="done@1", seq=done.seq, **row | {"archive": other})
            with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
                receipts._raw_delete("default")  # the archive that names it is not committed
            transaction.set_rollback(True)


def test_wrong_use(story: Story, manage: Manage, file: Path) -> None:
    assert manage("archive", "--to", str(file), "--tenant", "nobody").code == 2
    assert manage("archive", "--to", str(file / "no" / "folder")).code == 2
    part = file.with_name(file.name + ".part")
    part.write_text("{}\n")
    assert manage("archive", "--to", str(file)).code == 2
    part.unlink()
    Grant.objects.filter(user__name="p1", action="seal").update(revoked_at=story.now)
    refused = manage("archive", "--to", str(file), "--as", "acme/p1")
    assert (refused.code, "no_grant" in refused.err) == (1, True)
    assert manage("archive", "--to", str(file), "--as", "acme/w1").code == 2
    assert left() == sorted(GO + STAY)
