"""The admin as a way in: lookups by hidden columns, Django's own side doors, and stored markup."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from runs.models import Cause, Grant, Job, Queue, Token, Tool, User
from runs.permissions import Action, Line, grant, issue_token
from tests.board.cast import BACKEND, Stage
from tests.board.pages import page
from tests.board.test_markup import evil


@pytest.fixture
def lena(stage: Stage) -> Client:
    User.objects.filter(name="lena").update(is_staff=True, is_superuser=True)
    grant(stage.actors["system"], stage.people["lena"], [Line(Action.MANAGE_GRANTS)])
    client = Client()
    client.force_login(User.objects.get(name="lena"), BACKEND)
    return client


LOOKUPS = (
    *("token/?secret_hash__startswith=", "token/?user__password__startswith=", "user/?password__startswith="),
    *("claim/?token_hash__startswith=", "job/?claim_hash__startswith=", "step/?attempt__startswith="),
    *(
        "grant/?user__password__startswith=",
        "receipt/?job__claim_hash__startswith=",
        "job/?tenant__id=",
        "job/?owner=",
    ),
    *("user/?kind=", "user/?is_superuser__exact=", "token/?revoked_at__isnull=", "job/?control__in="),
)


@pytest.mark.parametrize("path", LOOKUPS)
def test_no_list_is_filtered_by_a_column_of_the_callers_choice(stage: Stage, lena: Client, path: str) -> None:
    """One letter more at each try would read out a hash."""
    stage.begin("order-1")
    issue_token(stage.actors["system"], stage.people["w1"], [Action.VIEW])
    assert {lena.get(f"/admin/runs/{path}{value}").status_code for value in ("0", "a", "1", "")} == {400}


def test_no_list_is_put_in_order_by_a_column_of_the_callers_choice(stage: Stage, lena: Client) -> None:
    for n in range(3):
        stage.submit(f"order-{n}")
    orders = set()
    for asked in ("", "?o=1", "?o=-2", "?o=99", "?o=x", "?o=password"):
        answer = lena.get(f"/admin/runs/job/{asked}")
        orders.add(tuple(job.job_id for job in answer.context["cl"].result_list))
    assert len(orders) == 1


@pytest.mark.parametrize(
    "path", ["r/1/1/", "autocomplete/?app_label=runs&model_name=grant&field_name=user", "axes/", "auth/user/"]
)
def test_djangos_side_doors_are_shut(stage: Stage, lena: Client, path: str) -> None:
    assert lena.get(f"/admin/{path}").status_code == 404


@pytest.mark.parametrize("field", ["password", "secret_hash", "username", "pk__in"])
def test_no_window_hands_over_a_column(stage: Stage, lena: Client, field: str) -> None:
    sam = stage.people["sam"].pk
    for path in (
        f"/admin/runs/user/?_popup=1&_to_field={field}",
        f"/admin/runs/user/{sam}/change/?_to_field={field}",
    ):
        assert lena.get(path).status_code == 400, path


def test_save_as_new_copies_no_ledger_row(stage: Stage, lena: Client) -> None:
    stage.submit("order-1")
    row = stage.row("order-1")
    assert (
        lena.post(f"/admin/runs/job/{row.pk}/change/", {"_saveasnew": "1", "job_id": "x"}).status_code == 403
    )
    assert Job.objects.count() == 1
    ban = Grant.objects.filter(effect="deny").first()
    assert ban is not None
    before = Grant.objects.count()
    lena.post(f"/admin/runs/grant/{ban.pk}/change/", {"_saveasnew": "1", "because": "x"})
    ban.refresh_from_db()
    assert (Grant.objects.count(), ban.revoked_at) == (before, None)


def test_a_strange_page_or_search_is_no_error(stage: Stage, lena: Client) -> None:
    stage.submit("order-1")
    for query in (
        "p=0",
        "p=-1",
        "p=99999999999",
        "p=x",
        "all=",
        "q=%00",
        "q=" + "x" * 5000,
        "q='",
        'q="',
        "e=1",
    ):
        assert lena.get(f"/admin/runs/job/?{query}").status_code in (200, 302, 400), query


def test_stored_markup_is_text_in_the_admin(stage: Stage, lena: Client) -> None:
    system = stage.actors["system"]
    tenant = stage.tenant
    person = User.objects.create(username="evil", name=evil("person"), tenant=tenant, owner_key=evil("key"))
    group = Group.objects.create(name=f"acme/{evil('group')}")
    Queue.objects.create(tenant=tenant, name=evil("queue"))
    Tool.objects.create(tenant=tenant, name=evil("tool"), label=evil("label"), where_to_look=evil("where"))
    Cause.objects.create(tenant=tenant, code=evil("code"), short=evil("short")[:80], text=evil("text"))
    grant(system, person, [Line(Action.VIEW)], reason=evil("reason"))
    grant(system, group, [Line(Action.VIEW)], reason=evil("reason"))
    step = {
        "label": evil("label"),
        "tool": evil("tool"),
        "target": evil("target"),
        "params": {evil("k"): evil("v")},
    }
    stage.begin("order-1", step, owner=evil("owner"))
    stage.report("order-1", 0, "ok", value=evil("value"))
    stage(
        "system",
        "stone",
        "cancel",
        spec=stage.specs["order-1"],
        cause="other",
        note=evil("note"),
        asked_by=evil("by"),
    )
    token, _ = issue_token(system, stage.people["w1"], [Action.VIEW])
    from django.contrib import admin

    for model, shown in admin.site._registry.items():
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        listed = lena.get(path)
        rows: Any = shown.get_queryset(listed.wsgi_request)
        for answer in (listed, *(lena.get(f"{path}{row.pk}/change/") for row in rows.order_by("-pk")[:3])):
            assert answer.status_code == 200
            found = page(answer)
            assert "<i-" not in found.html, path
            assert not [node for node in found.root.every() if str(node.element.name).startswith("i-")]
    assert Token.objects.get(pk=token.pk)


def test_a_persons_and_a_queues_name_are_text_on_the_board(stage: Stage) -> None:
    Queue.objects.create(tenant=stage.tenant, name=evil("queue"))
    User.objects.filter(name="lena").update(name=evil("lena"))
    lena = User.objects.get(username="lena")
    stage.submit("order-1")
    client = Client()
    client.force_login(lena, BACKEND)
    answer = client.get("/jobs/order-1/cancel/")
    fields = page(answer).fields | {"cause": "other"}
    assert client.post("/jobs/order-1/cancel/", fields).status_code == 302
    for path in ("/jobs/", "/verify/", "/jobs/order-1/", "/tombstones/", "/help/words/"):
        found = page(client.get(path))
        assert found.status == 200
        assert "<i-" not in found.html, path
    assert "<i-lena" in page(client.get("/jobs/order-1/")).text
