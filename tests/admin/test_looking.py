"""What the admin shows: every model, only what its viewer may see, nothing that can be changed past a rule,
and at the same cost however much there is."""

import re
from datetime import UTC, datetime

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.commands import do
from runs.models import Queue, Reading, Receipt, Tally, Tenant, User
from runs.permissions import Action, Actor, Line, grant, issue_token
from runs.protocol.asks import Submit
from tests.board.cast import CONFIRMED, Stage, spec

from .conftest import Desk

READ_ONLY = (
    *("job", "tombstone", "step", "claim", "receipt", "proposal", "delivery", "refusal", "tenant"),
    *("operation", "operationjob", "archive", "archivedjob", "reading", "drill", "alteration"),
    *("check", "alert", "alertsent", "savedview", "tally", "spell", "folded"),
)
EDITED = ("user", "grant", "token", "queue", "tool", "cause")
ABOUT_PEOPLE = ("user", "grant", "token", "refusal", "reading", "drill", "alteration", "savedview", "folded")


def test_every_model_has_its_page_and_nothing_else_has() -> None:
    shown = {*apps.get_app_config("runs").get_models(), LogEntry, Group}
    assert set(admin.site._registry) == shown
    assert {model._meta.model_name for model in shown} == {*READ_ONLY, *EDITED, "logentry", "group"}


@pytest.mark.parametrize("who", ["lena", "ada"])
def test_every_list_and_every_row_opens(stage: Stage, desk, who: str) -> None:  # type: ignore[no-untyped-def]
    stage.unknown("order-1")
    stage("system", "stone", "cancel", spec=spec(), cause="other")
    issue_token(stage.actors["system"], stage.people["w1"], [Action.VIEW])
    person = desk(who)
    for model, page in admin.site._registry.items():
        path = f"{model._meta.app_label}/{model._meta.model_name}/"
        person.text(path)
        for row in page.get_queryset(person.get(path).wsgi_request)[:2]:
            person.text(f"{path}{row.pk}/change/")
            person.text(f"{path}{row.pk}/history/")


def test_a_superuser_without_view_sees_no_job_and_is_told_why(stage: Stage, ada: Desk) -> None:
    stage.unknown("order-1")
    for model in ("job", "step", "claim", "receipt", "proposal", "tombstone", "delivery"):
        page = ada.text(f"runs/{model}/")
        assert "order-1" not in page
        assert "You may view no job of this tenant" in page
    row = stage.row("order-1")
    assert ada.get(f"runs/job/{row.pk}/change/").status_code == 302, "as one that is not there"


def test_rows_are_filtered_like_the_board(stage: Stage, lena: Desk, system: Actor) -> None:
    stage.submit("order-1")
    stage.submit("unseen-1", owner="customer-2")
    grant(system, stage.people["lena"], [Line(Action.VIEW, "owner", allows=False, owner="customer-2")])  # type: ignore[arg-type]
    for model in ("job", "receipt", "step"):
        page = lena.text(f"runs/{model}/")
        assert "order-1" in page
        assert "unseen-1" not in page
    assert lena.get(f"runs/job/{stage.row('unseen-1').pk}/change/").status_code == 302


def test_another_tenants_rows_are_not_there(stage: Stage, lena: Desk) -> None:
    other = Tenant.objects.create(name="elsewhere")
    queue = Queue.objects.create(tenant=other, name="mail", id_prefix="foreign-")
    do(Actor.system(other), "foreign-1", Submit(job_id="foreign-1", spec=spec()))
    eve = User.objects.create(username="eve", name="foreign-eve", tenant=other)
    (theirs,) = grant(Actor.system(other), eve, [Line(Action.VIEW)], reason="foreign-reason")
    for model, page in admin.site._registry.items():
        assert "foreign-" not in lena.text(f"{model._meta.app_label}/{page.opts.model_name}/"), model
    for path in (f"user/{eve.pk}", f"grant/{theirs.pk}", f"queue/{queue.pk}", f"tenant/{other.pk}"):
        for page in ("change", "history"):
            assert lena.get(f"runs/{path}/{page}/").status_code == 302, path
    assert lena.post(f"runs/grant/{theirs.pk}/change/").status_code == 302
    theirs.refresh_from_db()
    assert theirs.revoked_at is None


@pytest.mark.parametrize("model", READ_ONLY)
def test_the_ledger_is_only_read(stage: Stage, lena: Desk, model: str) -> None:
    stage.unknown("order-1")
    stage("system", "stone", "cancel", spec=spec(), cause="other")
    stage("system", "stone", "cancel", spec=spec(), cause="other", event_id="e-again")
    stage("system", "stone", "cancel", spec=spec(), cause="other", event_id="e-again")
    before = list(Receipt.objects.values_list("digest", flat=True))
    page = admin.site._registry[apps.get_model("runs", model)]
    assert lena.get(f"runs/{model}/add/").status_code == 403
    assert lena.post(f"runs/{model}/add/").status_code == 403
    for row in page.get_queryset(lena.get(f"runs/{model}/").wsgi_request)[:1]:
        assert lena.post(f"runs/{model}/{row.pk}/change/", label="x").status_code == 403
        assert lena.post(f"runs/{model}/{row.pk}/delete/", post="yes").status_code == 403
        chosen = {"action": "delete_selected", "_selected_action": str(row.pk), "post": "yes"}
        lena.post(f"runs/{model}/", **chosen)
        assert page.model.objects.filter(pk=row.pk).exists()
    assert list(Receipt.objects.values_list("digest", flat=True)) == before


@pytest.mark.parametrize("model", [*EDITED, "group"])
def test_nothing_is_deleted_here(stage: Stage, lena: Desk, model: str) -> None:
    path = "auth/group/" if model == "group" else f"runs/{model}/"
    listed = lena.get(path)
    assert "delete_selected" not in listed.content.decode()
    for row in listed.context["cl"].queryset[:1]:
        assert lena.post(f"{path}{row.pk}/delete/", post="yes").status_code == 403


def test_without_the_right_a_superuser_changes_nothing_and_learns_of_nobody(
    stage: Stage,
    desk,
    system: Actor,  # type: ignore[no-untyped-def]
) -> None:
    User.objects.filter(name="omar").update(is_staff=True, is_superuser=True)
    omar = desk("omar")
    for model in EDITED:
        assert omar.get(f"runs/{model}/add/").status_code == 403
        assert omar.post(f"runs/{model}/add/", name="x").status_code == 403
    for model in ABOUT_PEOPLE:
        assert omar.get(f"runs/{model}/").status_code == 403
    assert omar.get("admin/logentry/").status_code == 403
    queue = Queue.objects.get(tenant=stage.tenant, name="books")
    assert omar.post(f"runs/queue/{queue.pk}/change/", reconcile_needs="1").status_code == 403
    omar.text("runs/job/")


def test_counts_of_a_queue_are_for_who_sees_it_whole(stage: Stage, desk) -> None:  # type: ignore[no-untyped-def]
    for queue in ("mail", "ledger"):
        Tally.objects.create(tenant=stage.tenant, queue=queue, at=datetime(2026, 11, 30, tzinfo=UTC), asked=1)
    seen = desk("lena").text("runs/tally/")
    assert ('queue">mail<' in seen, 'queue">ledger<' in seen) == (True, True)
    nothing = desk("ada").text("runs/tally/")
    assert ('queue">mail<' in nothing, 'queue">ledger<' in nothing) == (False, False)


def test_it_is_found_by_whole_ids_and_filtered_by_written_choices(stage: Stage, lena: Desk) -> None:
    stage.unknown("order-1")
    stage.submit("order-2", queue="ledger")
    stage("omar", "order-1", "pause", event_id="e-asked")
    found = {
        "runs/job/?q=order-1": 1,
        "runs/job/?q=order": 0,
        "runs/job/?control=requested": 1,
        "runs/job/?control=nonsense": 2,
        "runs/job/?queue=ledger": 1,
        "runs/step/?q=order-1": 3,
        "runs/receipt/?q=order-2": 1,
        "runs/receipt/?q=e-asked": 1,
        "runs/receipt/?kind=cancel": 1,
        "runs/receipt/?q=nothing": 0,
        "runs/user/?q=om": 1,
        "runs/grant/?q=omar": 5,
        "runs/grant/?now=live&action=approve": 2,
        "runs/grant/?now=revoked": 0,
        "runs/grant/?effect=deny": 10,
    }
    counts = {}
    for path in found:
        answer = lena.get(path)
        assert answer.status_code == 200, path
        counts[path] = answer.context["cl"].queryset.count()
    assert counts == found


def test_lists_cost_the_same_however_much_there_is(stage: Stage, lena: Desk, system: Actor) -> None:
    def cost(path: str) -> int:
        with CaptureQueriesContext(connection) as seen:
            lena.text(path)
        return sum("clock_timestamp" not in query["sql"] for query in seen.captured_queries)

    def more(first: int, last: int) -> None:
        for n in range(first, last):
            stage.unknown(f"order-{n}")
            stage("system", f"stone-{n}", "cancel", spec=spec(), cause="other")
            grant(system, stage.people["sam"], [Line(Action.EXPORT)], reason=f"{n}")
            lena.post("runs/queue/add/", name=f"q-{n}", reconcile_needs="1", limit_seconds="60")

    paths = [f"{m._meta.app_label}/{m._meta.model_name}/" for m in admin.site._registry]
    more(0, 2)
    issue_token(system, stage.people["w1"], [Action.VIEW])
    few = {path: cost(path) for path in paths}
    more(2, 9)
    issue_token(system, stage.people["w1"], [Action.VIEW])
    assert {path: cost(path) for path in paths} == few
    assert max(few.values()) <= 14, few


def test_it_leads_to_the_board_and_the_board_to_it(stage: Stage, lena: Desk) -> None:
    stage.submit("order-1")
    for path in ("runs/job/", f"runs/job/{stage.row('order-1').pk}/change/", "runs/receipt/"):
        assert 'href="/jobs/order-1/"' in lena.text(path)
    assert "/admin/" in lena.client.get("/jobs/").content.decode()
    assert 'href="/"' in lena.text("")


def test_who_may_not_enter_is_not_sent_round_in_circles(stage: Stage, desk) -> None:  # type: ignore[no-untyped-def]
    sam = desk("sam")
    away = sam.get("")
    assert away.status_code == 302
    assert sam.client.get(away["Location"]).status_code == 403
    sam.client.logout()
    there = sam.client.get(sam.get("runs/job/")["Location"])
    assert there["Location"] == "/login/?next=/admin/runs/job/"


def test_it_holds_nothing_inline(stage: Stage, lena: Desk) -> None:
    """What the policy would refuse: a browser test looks for complaints besides."""
    stage.submit("order-1")
    for path in (
        "",
        "runs/job/",
        "runs/grant/add/",
        "runs/user/add/",
        f"runs/job/{stage.row('order-1').pk}/change/",
    ):
        page = lena.text(path)
        for inline in (" style=", " onclick=", " onload=", "<style", "javascript:"):
            assert inline not in page, (path, inline)
        assert not re.findall(r"<script(?![^>]* src=)", page), path


@pytest.mark.parametrize("model", ["receipt", "proposal"])
def test_who_opens_a_row_with_evidence_is_kept_as_its_reader(stage: Stage, lena: Desk, model: str) -> None:
    stage.unknown("order-1", queue="books")
    stage("lena", "order-1", "reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED)
    stage.submit("order-2")
    page = admin.site._registry[apps.get_model("runs", model)]
    bare = Receipt.objects.get(job__job_id="order-2")
    row = page.model.objects.filter(job__job_id="order-1").latest("pk")
    lena.text(f"runs/receipt/{bare.pk}/change/")
    assert not Reading.objects.exists(), "it holds none"
    lena.text(f"runs/{model}/{row.pk}/change/")
    assert list(Reading.objects.values_list("user__name", "job_ref")) == [("lena", "order-1")]
