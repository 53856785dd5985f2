"""The audit trail: who sees which lines of it, its filters, its files; and that looking is itself in it."""

import csv
import io
import json

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from runs.board.csv_file import harmless
from runs.errors import CancelboardError
from runs.models import Reading
from runs.permissions import (
    Action,
    Actor,
    Line,
    Scope,
    grant,
    issue_token,
    join_group,
    leave_group,
    open_account,
    revoke_grant,
    revoke_token,
    set_active,
)
from runs.queries.trail import Wanted, page_of

from .cast import CONFIRMED, Browser, Stage

EXPORT = "/audit/export.{}"


@pytest.fixture
def aud(stage: Stage) -> Browser:
    return stage.browser("aud")


@pytest.fixture
def told(stage: Stage) -> Stage:
    """A cancel by lena, an observation by sam, a right given to sam and taken again, a refusal of olga."""
    stage.begin("order-1")
    stage("sam", "order-1", "observe", ordinal=0, evidence=CONFIRMED)
    stage.cancel("order-1")
    given = grant(
        Actor.system(stage.tenant), stage.people["sam"], [Line(Action.PAUSE, Scope.QUEUE, queue="mail")]
    )
    revoke_grant(stage.actors["ada"], given[0].pk)
    stage.browser("olga").get("/jobs/nothing/")
    return stage


def lines(browser: Browser, form: str = "json", **query: str) -> list[dict[str, str]]:
    answer = browser.client.get(EXPORT.format(form), query)
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.content.decode().splitlines()]


def test_only_who_exports_or_manages_grants(told: Stage) -> None:
    for name, status in (
        ("sam", 403),
        ("lena", 403),
        ("omar", 403),
        ("olga", 403),
        ("aud", 200),
        ("ada", 200),
    ):
        browser = told.browser(name)
        assert browser.get("/audit/").status == status, name
        for form in ("csv", "json"):
            assert browser.get(EXPORT.format(form)).status == status
        rail = browser.get("/help/words/").root.links
        assert ("/audit/" in rail.values()) is (status == 200)


def test_it_tells_who_did_what(told: Stage, aud: Browser) -> None:
    text = aud.get("/audit/").text
    for words in (
        "lena cancel: requested commands order-1",
        "sam observe: observed commands order-1",
        "system grant rights sam allow pause queue mail",
        "ada revoke rights sam allow pause queue mail",
        "olga view: not_found refusals nothing",
    ):
        assert words in text, words


def test_who_manages_grants_reads_of_rights_and_not_of_jobs(told: Stage) -> None:
    kinds = {line["kind"] for line in lines(told.browser("ada"))[1:]}
    assert kinds == {"right", "refusal", "reading", "account"}
    assert "cancel: requested" not in told.browser("ada").get("/audit/").text


def test_who_exports_some_jobs_reads_of_those_alone(told: Stage) -> None:
    told.submit("theirs", owner="customer-2")
    line = Line(Action.EXPORT, Scope.OWNER, owner="customer-1")
    grant(Actor.system(told.tenant), told.people["olga"], [line])
    found = lines(told.browser("olga"))[1:]
    assert {each["object"] for each in found} == {"order-1"}
    assert {each["kind"] for each in found} == {"command"}


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        ({"person": "lena"}, {"cancel: requested"}),
        ({"kind": "right", "object": "sam", "person": "ada"}, {"revoke"}),
        ({"object": "nothing"}, {"view: not_found"}),
        ({"person": "nobody"}, set()),
        ({"until": "2000-01-01"}, set()),
        ({"person": "lena", "since": "2000-01-01"}, {"cancel: requested"}),
    ],
)
def test_filters(told: Stage, aud: Browser, query: dict[str, str], seen: set[str]) -> None:
    assert {line["what"] for line in lines(aud, **query)[1:]} == seen


@pytest.mark.parametrize("query", [{"kind": "x"}, {"since": "x"}, {"person": "a\0b"}])
def test_a_filter_that_cannot_be_meant(told: Stage, aud: Browser, query: dict[str, str]) -> None:
    assert aud.get("/audit/", **query).status == 404
    assert aud.get("/audit/", cursor="mine").status == 422


def test_pages_hold_every_line_once_in_the_order_of_time(told: Stage, aud: Browser) -> None:
    everything = len(lines(aud)[1:])
    actor, cursor, seen = told.actors["aud"], None, []
    while True:
        found, cursor = page_of(actor, Wanted(), cursor, 3)
        seen += [(line.at, line.key) for line in found]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) >= everything
    assert seen == sorted(seen, reverse=True)


def test_the_first_line_of_a_file_says_what_narrowed_it(told: Stage, aud: Browser) -> None:
    about = lines(aud, person="lena", kind="command")[0]
    assert (about["filter"], about["by"], about["tenant"]) == ("person=lena; kind=command", "aud", "acme")
    assert (about["lines"], about["whole"]) == (1, True)
    answer = aud.client.get("/audit/export.csv", {"person": "lena"})
    assert answer["Content-Disposition"] == 'attachment; filename="audit-trail.csv"'
    first, head, *rows = csv.reader(io.StringIO(answer.content.decode()))
    assert first[0].startswith("cancelboard audit trail; filter: person=lena; tenant: acme; by: aud")
    assert head == ["at", "who", "kind", "what", "object", "before", "after", "seq", "address", "reason"]
    assert [row[1] for row in rows] == ["lena"]
    assert lines(aud)[0]["filter"] == "everything"


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_is_a_formula(told: Stage, aud: Browser, begin: str) -> None:
    assert harmless(f"{begin}1+1") == f"'{begin}1+1"
    assert harmless("1=1") == "1=1"


def test_a_name_that_is_a_formula_is_harmless_in_the_file(told: Stage, aud: Browser) -> None:
    told.people["lena"].name = "=HYPERLINK(1)"
    told.people["lena"].save()
    told.browser("lena").get("/jobs/nothing/")
    answer = aud.client.get("/audit/export.csv", {"kind": "refusal"})
    assert "'=HYPERLINK(1)" in {
        row[1] for row in csv.reader(io.StringIO(answer.content.decode())) if len(row) > 1
    }


def test_taking_it_away_is_in_it(told: Stage, aud: Browser) -> None:
    lines(aud, person="lena")
    row = next(line for line in lines(aud, kind="reading")[1:] if line["after"] == "person=lena")
    assert (row["who"], row["what"]) == ("aud", "read: export")


def test_reading_evidence_is_in_it(told: Stage, aud: Browser) -> None:
    lena = told.browser("lena")
    told.submit("bare")
    for _ in range(2):
        lena.get("/jobs/bare/")
        lena.get("/jobs/order-1/")
    found = Reading.objects.filter(kind="evidence").values_list("user__name", "job_ref")
    assert list(found) == [("lena", "order-1")], "once an hour, and only where there is evidence"
    assert "lena from 127.0.0.1 read: evidence readings order-1" in aud.get("/audit/").text
    told.browser("omar").client.get("/api/v1/jobs/order-1/receipts")
    assert Reading.objects.filter(user__name="omar", job_ref="order-1").count() == 1


def test_who_may_not_see_it_leaves_no_reading(told: Stage) -> None:
    told.browser("ada").get("/jobs/order-1/")
    assert not Reading.objects.filter(user__name="ada").exists()


@pytest.mark.parametrize("table", ["runs_reading", "runs_alteration"])
@pytest.mark.parametrize("change", ["UPDATE {} SET address = 'x'", "DELETE FROM {}"])
def test_the_database_changes_no_reading_and_no_alteration(told: Stage, change: str, table: str) -> None:
    Reading.objects.create(tenant=told.tenant, user=told.people["sam"], kind="export", at=timezone.now())
    set_active(told.actors["ada"], told.people["sam"], False)
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(change.format(table))


def test_a_refused_look_is_counted(told: Stage, aud: Browser) -> None:
    told.browser("sam").get("/audit/")
    assert "sam export: no_grant" in aud.get("/audit/").text


# -- accounts, groups, tokens, and what is set up ----------------------------------------------------------
def accounts(aud: Browser, **query: str) -> list[tuple[str, str, str, str, str]]:
    found = lines(aud, kind="account", **query)[1:]
    return [tuple(line[name] for name in ("who", "what", "object", "before", "after")) for line in found]  # type: ignore[misc]


def test_who_changed_which_account_group_and_token(stage: Stage, aud: Browser) -> None:
    ada, sam, w1 = stage.actors["ada"], stage.people["sam"], stage.people["w1"]
    night = Group.objects.create(name="acme/night")
    set_active(ada, sam, False)
    set_active(ada, sam, False)
    join_group(ada, sam, night)
    leave_group(ada, sam, night)
    token, text = issue_token(ada, w1, [Action.VIEW], ["mail"], days=7)
    for _again in range(2):
        revoke_token(ada, token.pk)
    token.refresh_from_db()
    until = f"{token.expires_at:%Y-%m-%d}"
    mine = [line for line in accounts(aud) if line[0] == "ada"]
    assert mine[::-1] == [
        ("ada", "account: changed", "sam", "on", "off"),
        ("ada", "member: added", "sam", "", "night"),
        ("ada", "member: removed", "sam", "night", ""),
        ("ada", "token: made", "w1", "", f"cb_{token.prefix}_…: view in mail, until {until}"),
        ("ada", "token: revoked", "w1", f"cb_{token.prefix}_…: view in mail, until {until}", ""),
    ], "and what changed nothing is not in it"
    answer = aud.client.get(EXPORT.format("json"), {"kind": "account"}).content.decode()
    assert text.rsplit("_", 1)[1] not in answer
    assert "ada token: made accounts and setup w1" in aud.get("/audit/", object="w1").text


def test_what_is_made_from_the_shell_is_the_systems(stage: Stage, aud: Browser) -> None:
    call_command("token", "--tenant", "acme", "--name", "w9", "--allow", "view", "--sponsor", "omar")
    found = [line[:3] for line in accounts(aud, object="w9")]
    assert found == [("system", "token: made", "w9"), ("system", "account: made", "w9")]
    assert accounts(aud, person="ada") == []


def test_a_refused_change_is_not_in_it(stage: Stage, aud: Browser) -> None:
    before = accounts(aud)
    with pytest.raises(CancelboardError):
        set_active(stage.actors["sam"], stage.people["lena"], False)
    with pytest.raises(CancelboardError):
        open_account(stage.actors["ada"], "w9", [Action.APPROVE])
    assert accounts(aud) == before


# -- evidence read through every other door ----------------------------------------------------------------
def readers(kind: str = "evidence") -> list[tuple[str, str, str]]:
    rows = Reading.objects.filter(kind=kind).order_by("pk")
    return list(rows.values_list("user__name", "job_ref", "address"))


@pytest.mark.parametrize(
    "path",
    [
        "/jobs/order-1/",
        "/jobs/order-1/steps/0/outcome/",
        "/api/v1/jobs/order-1/receipts",
        "/api/v1/receipts/e-seen",
    ],
)
def test_where_evidence_is_read_that_is_kept(stage: Stage, path: str) -> None:
    stage.begin("order-1")
    stage("sam", "order-1", "observe", ordinal=0, evidence=CONFIRMED, event_id="e-seen")
    assert stage.browser("lena").client.get(path, REMOTE_ADDR="10.9.8.7").status_code == 200
    assert readers() == [("lena", "order-1", "10.9.8.7")]


def test_a_certificate_is_an_export(told: Stage, aud: Browser, capsys: pytest.CaptureFixture[str]) -> None:
    assert aud.client.get("/api/v1/jobs/order-1/certificate").status_code == 200
    assert told.browser("sam").client.get("/api/v1/jobs/order-1/certificate").status_code == 403
    call_command("certificate", "order-1", "--as", "aud")
    assert readers("export") == [("aud", "order-1", "127.0.0.1"), ("aud", "order-1", "")]
    assert "aud read: export readings order-1 certificate" in aud.get("/audit/").text


def test_the_page_says_where_it_came_from(told: Stage, aud: Browser) -> None:
    told.browser("lena").client.get("/jobs/order-1/", REMOTE_ADDR="10.9.8.7")
    assert "lena from 10.9.8.7 read: evidence" in aud.get("/audit/").text
    assert lines(aud, person="lena", kind="reading")[1]["address"] == "10.9.8.7"
