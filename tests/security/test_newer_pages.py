"""Approvals, blocking, who may what, the audit trail and its files: as ways in, and as places where what
somebody stored comes out."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from runs.models import Cause, Grant, Proposal, Queue, Reading, Receipt, User
from runs.permissions import Action, Line, Scope, changing, grant
from runs.permissions.accounts import set_active
from runs.queries.trail import Wanted, page_of
from tests.board.cast import CONFIRMED, Browser, Stage
from tests.board.test_markup import evil

Look = Callable[[str], Browser]


@pytest.fixture
def waiting(stage: Stage) -> str:
    """The page of an entry of sam's that waits; its job is customer-2's."""
    grant(stage.actors["system"], stage.people["sam"], [Line(Action.RECONCILE, Scope.QUEUE, queue="books")])
    stage.unknown("theirs", "Their title", queue="books", owner="customer-2")
    given: dict[str, Any] = {"ordinal": 0, "outcome": "ok", "evidence": CONFIRMED, "value": "v"}
    return f"/approvals/{stage('sam', 'theirs', 'reconcile', **given).fields['proposal']}/"


def test_each_of_the_newer_forms_wants_its_token(stage: Stage, strict: Any, waiting: str) -> None:
    before = Receipt.objects.count()
    sent = {
        "event_id": "forged",
        "note": "n",
        "job_id": "never",
        "queue": "mail",
        "steps": "a",
        "cause": "other",
    }
    for name, paths in (
        ("lena", (waiting, f"{waiting}decline/", "/operations/new/")),
        ("omar", ("/tombstones/new/",)),
    ):
        client = strict(stage.people[name])
        for path in paths:
            assert client.post(path, sent).status_code == 403, path
    assert (Receipt.objects.count(), Proposal.objects.get().state) == (before, "open")


def test_a_hidden_entry_reads_as_one_that_there_is_not(stage: Stage, page: Look, waiting: str) -> None:
    olga = page("olga")
    for path in (waiting, f"{waiting}decline/"):
        proposal = Proposal.objects.get().proposal_id
        there, missing = olga.get(path), olga.get(path.replace(proposal, "p-none"))
        assert there.status == missing.status == 404
        assert there.lasting.replace(proposal, "p-none") == missing.lasting
        assert olga.post(path, {"event_id": "e-x", "note": "n"}).status == 404
    assert "Their title" not in olga.get("/approvals/?show=open").html
    assert Proposal.objects.get().state == "open"


def test_asking_about_people_tells_nothing_of_who_there_is(stage: Stage, page: Look) -> None:
    asked = {"action": "view"}
    there = page("sam").get("/can/", principal="lena", **asked)
    missing = page("sam").get("/can/", principal="nobody", **asked)
    assert there.lasting.replace("lena", "nobody") == missing.lasting
    assert there.status == missing.status == 403


def test_a_what_if_gives_nothing(stage: Stage, page: Look) -> None:
    stage.submit("order-1")
    before = Grant.objects.count()
    asked = {"action": "cancel", "job_id": "order-1", "principal": "sam", "what_if": "allow tenant"}
    assert page("ada").get("/can/", **asked).status == 200
    assert Grant.objects.count() == before
    assert not stage.people["sam"].has_perm("can.cancel", stage.row("order-1"))


def test_the_trail_of_some_jobs_tells_nothing_of_others_nor_of_people(
    stage: Stage, page: Look, waiting: str
) -> None:
    stage.submit("mine")
    line = Line(Action.EXPORT, Scope.OWNER, owner="customer-1")
    grant(stage.actors["system"], stage.people["olga"], [line])
    for query in (
        {"object": "theirs"},
        {"kind": "right"},
        {"kind": "account"},
        {"kind": "reading"},
        {"person": "sam"},
    ):
        assert "Nothing here that you may see." in page("olga").get("/audit/", **query).text, query
    assert "theirs" not in page("olga").get("/audit/").html


def test_somebody_elses_cursor_leads_on_through_ones_own_trail(stage: Stage, waiting: str) -> None:
    stage.submit("mine")
    grant(
        stage.actors["system"], stage.people["olga"], [Line(Action.EXPORT, Scope.OWNER, owner="customer-1")]
    )
    _, cursor = page_of(stage.actors["aud"], Wanted(), None, 1)
    assert cursor
    found, _ = page_of(stage.actors["olga"], Wanted(), cursor, 50)
    assert {line.object for line in found} <= {"mine"}


def test_stored_markup_is_text_on_the_newer_pages(stage: Stage, page: Look, waiting: str) -> None:
    Queue.objects.create(tenant=stage.tenant, name=evil("queue"), reconcile_needs="2")
    Cause.objects.create(tenant=stage.tenant, code="evil", short=evil("short")[:80], text=evil("text"))
    User.objects.filter(name__in=["sam", "aud"]).update(owner_key=evil("key"))
    for name in ("sam", "lena", "aud", "ada"):
        User.objects.filter(username=name).update(name=evil(name))
    people = {name: User.objects.get(username=name) for name in ("sam", "lena", "aud", "ada")}
    grant(stage.actors["system"], people["sam"], [Line(Action.PAUSE)], reason=evil("reason"))
    with changing(stage.actors["system"], evil("why")) as change:
        change.keep("account: changed", evil("object"), evil("before"), evil("after"))
    looks = {name: Browser(user) for name, user in people.items()}
    looks["sam"].get("/jobs/order-none/")
    paths = (
        *("/approvals/?show=open", "/approvals/?show=mine", waiting, f"{waiting}decline/", "/audit/"),
        *(
            "/can/?action=cancel&job_id=theirs",
            "/can/?action=<i-a>",
            f"/audit/?person={evil('q')}&object=<i-o>",
        ),
        *("/tombstones/new/", "/operations/", "/disputed/", "/workers/"),
    )
    seen = 0
    for look in looks.values():
        for path in paths:
            found = look.get(path)
            assert "<i-" not in found.html, path
            seen += "<i-" in found.text
    asked = {"action": "cancel", "job_id": "theirs", "principal": evil("sam")}
    assert "<i-" not in looks["ada"].get("/can/", **asked).html
    assert seen > len(paths), "it was there, as text"


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_the_trails_file_is_a_formula_whatever_is_called_so(
    stage: Stage, page: Look, begin: str
) -> None:
    with changing(stage.actors["system"], f"{begin}why") as change:
        change.keep("account: changed", f"{begin}cmd|' /C calc'!A0", f"{begin}1", f"{begin}2")
    answer = page("aud").client.get("/audit/export.csv", {"kind": "account"})
    cells = [cell for row in csv.reader(io.StringIO(answer.content.decode(), newline="")) for cell in row]
    assert f"'{begin}cmd|' /C calc'!A0" in cells
    assert not [cell for cell in cells if cell.startswith(begin)]


def test_a_filter_smuggles_no_header_and_no_line_into_a_file(stage: Stage, page: Look) -> None:
    smuggled = 'x\r\nX-Evil: 1\r\n=HYPERLINK("http://evil.test")'
    answer = page("aud").client.get("/audit/export.csv", {"person": smuggled})
    assert answer.status_code == 200
    assert "X-Evil" not in answer.headers
    assert answer["Content-Disposition"] == 'attachment; filename="audit-trail.csv"'
    rows = list(csv.reader(io.StringIO(answer.content.decode(), newline="")))
    assert len(rows) == 2, "what narrowed it is one cell, and the head"
    assert len(rows[0]) == 1


def test_no_header_makes_another_address_in_the_trail(stage: Stage, page: Look) -> None:
    stage.begin("order-1")
    stage("sam", "order-1", "observe", ordinal=0, evidence=CONFIRMED)
    headers = {"X-Forwarded-For": "1.2.3.4", "X-Real-IP": "1.2.3.4", "Forwarded": "for=1.2.3.4"}
    page("lena").client.get("/jobs/order-1/", headers=headers)
    assert Reading.objects.get().address == "127.0.0.1"


def test_the_trail_is_written_with_the_change_or_not_at_all(stage: Stage, page: Look) -> None:
    def fails() -> None:
        with changing(stage.actors["ada"]) as change:
            change.keep("account: changed", "sam")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    set_active(stage.actors["ada"], stage.people["sam"], False)
    answer = page("aud").client.get("/audit/export.json", {"person": "ada", "kind": "account"})
    assert len(answer.content.decode().splitlines()) == 2, "the first says what narrowed it"
