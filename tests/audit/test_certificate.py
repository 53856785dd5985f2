"""Certificates: whatever is changed in one, `verify` says so, from the file alone; and with one at hand, the
audit finds what was cut off the ledger."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.management import CommandError, call_command

from runs.audit.certificate import UNTOLD
from runs.certificates import checked
from runs.ledger import shown
from runs.models import Job, Receipt
from runs.permissions import Actor
from runs.protocol.canonical import NO_DIGEST, receipt_digest
from runs.queries.certificate import certificate
from tests.support.scale import scale

from .cast import Story
from .tampering import rechain, tampering
from .test_cells import FORGED, leaves, replaced

ROOT = Path(__file__).resolve().parents[2]
TRIES = scale(60, 2000)
KEY = Ed25519PrivateKey.generate()
Make = Callable[..., Any]


@pytest.fixture
def make(told: Story, settings: Any) -> Make:
    """`make("stopped")`: its certificate, signed unless said otherwise."""

    def made(job: str, key: Any = KEY) -> Any:
        settings.CANCELBOARD_SIGNING_KEY = key
        return json.loads(json.dumps(certificate(Actor.system(told.tenant), job)))

    return made


def wrong(document: Any) -> list[str]:
    return [str(finding) for finding in checked(json.dumps(document).encode())[1]]


def jobs() -> list[str]:
    return list(Job.objects.values_list("job_id", flat=True))


def test_of_every_job_it_holds(make: Make) -> None:
    """Whatever state it is in: what the API shows is what the receipts add up to."""
    assert len(jobs()) > 10
    for job in jobs():
        assert wrong(make(job)) == [], job
        assert wrong(make(job, key=None)) == [], job


@pytest.mark.prove
def test_every_change_of_a_signed_one_is_found(make: Make) -> None:
    chance = Random(1)
    for _ in range(TRIES):
        whole = make(chance.choice(jobs()))
        path, forged = chance.choice(list(leaves(whole))), chance.choice(FORGED)
        other = replaced(whole, path, forged)
        if json.dumps(other) != json.dumps(whole) and path[0] != "signature":
            assert wrong(other) != [], (path, forged)


@pytest.mark.prove
def test_every_change_of_an_unsigned_one_is_found_but_for_what_no_receipt_tells(make: Make) -> None:
    chance, changed = Random(2), 0
    for _ in range(TRIES):
        whole = make(chance.choice(jobs()), key=None)
        path, forged = chance.choice(list(leaves(whole))), chance.choice(FORGED)
        dotted = ".".join(map(str, path[1:]))
        free = (path[0] == "job" and dotted in UNTOLD) or path[0] in ("signature", "issued_at")
        if not free and json.dumps(other := replaced(whole, path, forged)) != json.dumps(whole):
            changed += 1
            assert wrong(other) != [], (path, forged)
    assert changed > TRIES / 2


def test_what_no_receipt_tells_is_all_that_is_listed(make: Make) -> None:
    """Each of it can be changed in an unsigned certificate, and nobody could tell."""
    whole = make("stopped", key=None)
    for name in UNTOLD:
        other = replaced(whole, ("job", *name.split(".")), "anything")
        assert wrong(other) == [], name


def test_a_chain_made_anew_holds_unsigned_and_not_signed(make: Make) -> None:
    def forged(whole: Any) -> Any:
        head = NO_DIGEST
        for receipt in whole["receipts"]:
            if receipt["kind"] == "cancel":
                receipt["body"]["note"] = whole["job"]["cancel"]["note"] = "never mind"
            receipt["prev_digest"] = head
            head = receipt["digest"] = receipt_digest(receipt)
        whole["head_digest"] = whole["job"]["head_digest"] = head
        return whole

    assert wrong(forged(make("stopped", key=None))) == []
    assert [finding.split(":")[0] for finding in wrong(forged(make("stopped")))] == ["signature"]


def test_a_receipt_left_out_at_either_end_or_between(make: Make) -> None:
    whole = make("completed", key=None)
    for n in range(len(whole["receipts"])):
        kept = whole["receipts"][:n] + whole["receipts"][n + 1 :]
        assert wrong({**whole, "receipts": kept}) != []


@pytest.mark.parametrize(
    "text",
    [b"", b"no JSON", b"[]", b"null", b"{}", b'{"a":1,"a":2}', b"\xff", b"[" * 100_000, b'{"format": 1e3}'],
)
def test_what_is_no_certificate(text: bytes) -> None:
    assert [finding.rule for finding in checked(text)[1]] == ["form"]


def test_another_format_is_not_guessed_at(make: Make) -> None:
    assert wrong({**make("ready"), "format": "cancelboard certificate 2"})[0].startswith("form: format")


def test_the_sentence_may_be_in_any_of_our_languages(make: Make) -> None:
    from django.utils.translation import override

    with override("zh-hans"):
        chinese = make("stopped", key=None)
    assert wrong(chinese) == []
    assert "。" in chinese["sentence"]
    assert make("stopped")["sentence"].startswith("Stopped; 1 of 2 steps had happened. Confirmed: ")
    assert make("doubted")["sentence"].startswith("Disputed, reports differ. ")


# -- at the doors --------------------------------------------------------------------------------------------
def pem(tmp_path: Path, key: Ed25519PrivateKey) -> Path:
    file = tmp_path / f"{id(key)}.pem"
    file.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return file


def verify(*arguments: Any, **environment: str) -> subprocess.CompletedProcess[str]:
    """In a process whose database is nowhere."""
    nowhere = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nowhere"}
    return subprocess.run(
        [sys.executable, "manage.py", "verify", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | nowhere | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_verify_needs_the_file_alone(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(make("stopped")))
    done = verify(file, "--key", pem(tmp_path, KEY))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("stopped of acme, receipts 1 to 9\n")
    assert "Stopped; 1 of 2 steps had happened. Confirmed:" in done.stdout
    assert "The holder of the key that you gave has said all of this" in done.stdout
    assert "does not prove that nothing came later" in done.stdout
    file.write_text(file.read_text().replace('"late"', '"soon"'))
    done = verify(file)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith("digest: digest of receipt 8 (report settled): expected ")
    assert "Stopped" not in done.stdout


def test_verify_says_whose_word_it_is(make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(make("ready")))
    call_command("verify", str(file))
    said = capsys.readouterr().out
    assert KEY.public_key().public_bytes_raw().hex() in said
    assert "whoever that is" in said
    with pytest.raises(SystemExit) as end:
        call_command("verify", str(file), key=pem(tmp_path, Ed25519PrivateKey.generate()))
    assert end.value.code == 1
    capsys.readouterr()
    file.write_text(json.dumps(make("ready", key=None)))
    call_command("verify", str(file))
    assert "It is not signed." in capsys.readouterr().out
    with pytest.raises(SystemExit):
        call_command("verify", str(file), key=pem(tmp_path, KEY))
    assert "signature: signature: expected" in capsys.readouterr().out


def test_wrong_use_of_verify(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    for arguments in ([str(file)], [str(ROOT / "README.md"), "--key", str(ROOT / "README.md")]):
        with pytest.raises(CommandError) as refused:
            call_command("verify", *arguments)
        assert refused.value.returncode == 2
    file.write_text("hello")
    with pytest.raises(SystemExit) as end:
        call_command("verify", str(file))
    assert end.value.code == 1


def test_a_tail_that_was_cut_off_is_found_with_a_certificate(
    told: Story, make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both rows and receipts brought back to before the last receipt: of itself the ledger is clean."""
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(make("completed")))
    call_command("audit", certificate=[file])
    capsys.readouterr()
    with tampering():
        job = Job.objects.get(job_id="completed")
        Receipt.objects.filter(job=job, seq=job.seq)._raw_delete("default")
        last = Receipt.objects.get(job=job, seq=job.seq - 1)
        Job.objects.filter(pk=job.pk).update(seq=last.seq, head_digest=last.digest, updated_at=last.at)
        call_command("audit")
        assert "clean" in capsys.readouterr().err
        with pytest.raises(SystemExit):
            call_command("audit", certificate=[file])
        said = capsys.readouterr().out
    assert said.startswith(f'job "completed" of "acme": I10: receipt {job.seq}, which a certificate holds: ')
    assert len(said.splitlines()) == 1


def test_a_history_made_anew_or_a_job_gone_is_found_too(make: Make, tmp_path: Path) -> None:
    from runs.audit import lost

    kept = make("completed")
    with tampering():
        note = Receipt.objects.get(job__job_id="completed", seq=4)
        Receipt.objects.filter(pk=note.pk).update(body=note.body.replace("not there yet", "all is well"))
        rechain("completed")
        assert [(breach.where, breach.found) for breach in lost(kept)] == [
            ("receipt 4, which a certificate holds", shown(Receipt.objects.get(pk=note.pk))["digest"])
        ]
    with tampering():
        Receipt.objects.filter(job__job_id="completed")._raw_delete("default")
        assert [breach.found for breach in lost(kept)] == [None]
    assert list(lost(kept)) == []


def test_what_does_not_hold_judges_no_ledger(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    for text in (json.dumps({**make("ready"), "head_digest": "f" * 64}), None):
        file.unlink(missing_ok=True) if text is None else file.write_text(text)
        with pytest.raises(CommandError) as refused:
            call_command("audit", certificate=[file])
        assert refused.value.returncode == 2
