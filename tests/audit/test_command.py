"""`manage.py audit` at its door: exit codes, lines, one moment judged while others write."""

import ast
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from runs.audit import Breach, breaches, snapshot
from runs.audit import rows as reading
from runs.models import Job, Step
from tests.support.databases import Database

from .cast import Story, spec

ROOT = Path(__file__).resolve().parents[2]


def test_clean(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story.submit("order-1")
    call_command("audit")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "1 jobs, 1 receipts: clean\n")


def test_a_breach_is_one_line_and_exit_1(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story.submit("order-1")
    Step.objects.filter(ordinal=0).update(label="Send\nit\u2028twice")
    with pytest.raises(SystemExit) as end:
        call_command("audit")
    said = capsys.readouterr()
    assert end.value.code == 1
    assert len(said.out.splitlines()) == 2  # the label, and the digest of what is stored
    assert 'job "order-1" of "acme": spec: label of step 0: expected "Send it", there is' in said.out
    assert said.err == "1 jobs, 1 receipts: 2 breaches\n"


def test_json_is_one_object_a_line(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story.submit("order-1")
    Job.objects.update(title="Another")
    with pytest.raises(SystemExit):
        call_command("audit", json=True)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {
            "tenant": "acme",
            "job": "order-1",
            "rule": "spec",
            "where": "title",
            "expected": "Send it",
            "found": "Another",
        }
    ]


def test_one_job(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    for job in ("order-1", "order-2"):
        story.submit(job)
    Job.objects.filter(job_id="order-2").update(title="Another")
    call_command("audit", job="order-1")
    with pytest.raises(SystemExit):
        call_command("audit", job="order-2")
    with pytest.raises(CommandError) as wrong:
        call_command("audit", job="order-3")
    assert wrong.value.returncode == 2


def test_as_a_process(real_db: Database) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "audit", "--no-such"],
        cwd=ROOT,
        env=real_db.environment,
        capture_output=True,
    )
    assert done.returncode == 2
    done = subprocess.run([sys.executable, "manage.py", "audit"], cwd=ROOT, env=real_db.environment)
    assert done.returncode == 0


def test_it_judges_one_moment_while_others_write(story: Story) -> None:
    """A job is read, then a writer changes it, then its receipts are read: a mixture would be a breach."""
    story.submit("order-1")

    def meanwhile() -> None:
        story("lena", "order-1", "cancel", spec_digest=spec().digest)
        connection.close()

    def audited() -> list[Breach]:
        read = breaches()
        Job.objects.count()  # the first read: what it sees, all the others must
        writer = threading.Thread(target=meanwhile)
        writer.start()
        writer.join(30)
        assert not writer.is_alive(), "the writer waits for the audit"
        return list(read)

    with snapshot():
        assert audited() == []
        assert Job.objects.get().control == "run"
    assert Job.objects.get().control == "acknowledged"


def test_rows_that_pass_by_are_not_kept(story: Story) -> None:
    """A lane holds one row, and hands out those of the job that is asked for, whatever stands before them."""
    rows = [type("Row", (), {"job_id": job})() for job in (1, 1, 3, 4, 4)]
    lane = reading.Lane(iter(rows))
    assert [len(list(lane.of(job))) for job in (1, 2, 4, 5)] == [2, 0, 2, 0]


def test_it_shares_nothing_with_the_transitions() -> None:
    """It may know the names of columns; how anything is decided, written or digested it knows by itself."""
    for file in sorted((ROOT / "runs/audit").rglob("*.py")):
        for name in imported(file):
            assert name.split(".")[0] in {*sys.stdlib_module_names, "django"} or name == "runs.models", (
                file,
                name,
            )


def imported(file: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append(node.module or "")
        elif isinstance(node, ast.ImportFrom):
            inside = len(file.relative_to(ROOT / "runs/audit").parts)
            assert node.level <= inside, f"{file} imports from above runs.audit"
    return found


def test_importing_it_loads_no_protocol() -> None:
    quiet = "from django.contrib.admin.apps import AdminConfig; AdminConfig.ready = lambda self: None; "
    code = quiet + "import django; django.setup(); import sys, runs.audit; print(*sys.modules)"
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "cancelboard.settings"}
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert [
        name for name in loaded.stdout.split() if name.startswith(("runs.protocol", "runs.commands"))
    ] == []
