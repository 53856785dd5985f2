"""Every action through every door that offers it, by one who may and one who may not: API, page, fragment,
what the command line says, and the admin. Sockets carry `view` (tests/live/test_socket.py) and a worker's
`execute` (tests/live/test_worker_socket.py), each with what is told and what is not.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from runs.models import Job, Proposal, Receipt, Refusal, User
from runs.permissions import Action, Actor, Line, Scope, grant, issue_token
from tests.board.cast import CONFIRMED, Stage, spec

#: Who may, and who sees the job and may not.
WHO = {
    "view": ("lena", "olga"),
    "submit": ("w1", "w2"),
    "execute": ("w1", "w2"),
    "cancel": ("lena", "sam"),
    "block": ("omar", "sam"),
    "pause": ("omar", "lena"),
    "revoke": ("lena", "sam"),
    "reconcile": ("lena", "aud"),
    "approve": ("lena", "omar"),
    "seal": ("w1", "w2"),
    "export": ("aud", "sam"),
    "manage_grants": ("ada", "lena"),
}
#: What a refusal is: a job that one may not see is not there.
REFUSED = {action: 404 if action == "view" else 403 for action in WHO}


@pytest.fixture
def stage(db: None) -> Stage:
    """order-1 of customer-2, unknown, with an entry that waits; the queue asks for two people."""
    made = Stage()
    made.people["w2"] = User.objects.create(
        username="acme/w2", name="w2", tenant=made.tenant, kind=User.Kind.SERVICE
    )
    system = Actor.system(made.tenant)
    grant(system, made.people["w2"], [Line(Action.VIEW)])
    wide = [Line(action) for action in (Action.VIEW, Action.SUBMIT, Action.EXECUTE, Action.SEAL)]
    grant(system, made.people["w1"], wide)
    grant(system, made.people["sam"], [Line(Action.RECONCILE, Scope.QUEUE, queue="books")])
    made.unknown("order-1", queue="books", owner="customer-2")
    made.begin("order-2", owner="customer-2")
    made("sam", "order-1", "reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED, value="v")
    return made


def api(stage: Stage, name: str) -> Callable[..., int]:
    """`call("POST", path, body)`: the status; a person by session, a service account by token."""
    user, client, headers = stage.people[name], Client(), {}
    if user.kind == "service":
        actions = [action for action in Action if action not in ("approve", "manage_grants")]
        headers = {"Authorization": f"Bearer {issue_token(Actor.system(stage.tenant), user, actions)[1]}"}
    else:
        client.force_login(user, "django.contrib.auth.backends.ModelBackend")

    def call(method: str, path: str, body: Any = None) -> int:
        send = client.get if method == "GET" else client.post
        more = {} if method == "GET" else {"data": body, "content_type": "application/json"}
        return send(f"/api/v1{path}", headers=headers, **more).status_code

    return call


def proposal() -> str:
    return Proposal.objects.get().proposal_id


CALLS: dict[str, Callable[[str], tuple[str, str, Any]]] = {
    "view": lambda e: ("GET", "/jobs/order-1", None),
    "submit": lambda e: ("POST", "/jobs", {"job_id": "new", "spec": spec(owner="customer-2").whole}),
    "execute": lambda e: ("POST", "/jobs/order-2/checkpoint", {}),
    "cancel": lambda e: (
        *("POST", "/jobs/order-2/cancel"),
        {"event_id": e, "spec_digest": spec(owner="customer-2").digest},
    ),
    "block": lambda e: ("POST", "/jobs/never/cancel", {"event_id": e, "spec": spec().whole}),
    "pause": lambda e: ("POST", "/jobs/order-2/pause", {"event_id": e}),
    "revoke": lambda e: ("POST", "/jobs/order-1/revoke", {"event_id": e}),
    "reconcile": lambda e: (
        *("POST", "/jobs/order-1/observe"),
        {"event_id": e, "ordinal": 0, "evidence": {"kind": "not_found", "text": "x"}},
    ),
    "approve": lambda e: ("POST", "/jobs/order-1/approve", {"event_id": e, "proposal": proposal()}),
    "seal": lambda e: ("POST", "/seal", {"event_id": e, "generation": 1}),
    "export": lambda e: ("GET", "/jobs/order-1/certificate", None),
    "manage_grants": lambda e: ("GET", "/can?action=view&principal=sam", None),
}
#: No page submits, executes or seals: workers and callers do.
PAGES: dict[str, Callable[[], str]] = {
    "view": lambda: "/jobs/order-1/",
    "cancel": lambda: "/jobs/order-2/cancel/",
    "block": lambda: "/tombstones/new/",
    "pause": lambda: "/jobs/order-2/pause/",
    "revoke": lambda: "/jobs/order-1/revoke/",
    "reconcile": lambda: "/jobs/order-2/steps/0/outcome/",
    "approve": lambda: f"/approvals/{proposal()}/",
    "export": lambda: "/audit/export.csv",
    "manage_grants": lambda: "/can/?action=view&principal=sam",
}


def test_every_action_is_in_it() -> None:
    assert set(WHO) == set(CALLS) == set(Action)
    assert set(PAGES) == set(Action) - {"submit", "execute", "seal"}


@pytest.mark.parametrize("action", WHO)
def test_the_api(stage: Stage, action: str) -> None:
    may, may_not = WHO[action]
    before, count = Receipt.objects.count(), Refusal.objects.count()
    assert api(stage, may_not)(*CALLS[action]("e-no")) == REFUSED[action]
    assert Receipt.objects.count() == before, "a refusal leaves no receipt"
    assert Refusal.objects.count() == count + 1, "and is counted"
    assert api(stage, may)(*CALLS[action]("e-yes")) < 300


@pytest.mark.parametrize("fragment", [False, True], ids=["page", "fragment"])
@pytest.mark.parametrize("action", PAGES)
def test_the_pages(stage: Stage, action: str, fragment: bool) -> None:
    may, may_not = WHO[action]
    if action == "reconcile":
        stage.report("order-2", 0, "unknown")
    path = PAGES[action]()
    assert stage.browser(may).get(path, fragment=fragment).status == 200
    refused = stage.browser(may_not)
    form = {
        "event_id": "e-no",
        "cause": "other",
        "note": "n",
        "job_id": "never",
        "queue": "mail",
        "steps": "a",
    }
    takes_form = action not in ("view", "export", "manage_grants")
    page = refused.post(path, form, fragment=fragment) if takes_form else refused.get(path, fragment=fragment)
    assert page.status == REFUSED[action]
    assert not Receipt.objects.filter(event_id="e-no").exists()


@pytest.mark.parametrize("action", WHO)
def test_the_command_line_says_the_same(stage: Stage, action: str, capsys: Any) -> None:
    may, may_not = (stage.people[name].username for name in WHO[action])
    if action == "block":  # judged there as on any job of the queue
        stage.submit("order-3")
    job = {"block": "order-3", "pause": "order-2"}.get(action, "order-1")
    call_command("can", may, action, job)
    assert capsys.readouterr().out.endswith("yes\n")
    with pytest.raises(CommandError) as no:
        call_command("can", may_not, action, job)
    assert no.value.returncode == 1


#: What the admin offers of an action: a list with the row, or a form; of the others nothing, to nobody.
ADMIN: dict[str, tuple[str, dict[str, str] | None]] = {
    "view": ("runs/job/", None),
    "export": ("runs/refusal/", None),
    "manage_grants": ("auth/group/add/", {"called": "night", "because": "a night shift"}),
}


@pytest.mark.parametrize("action", WHO)
def test_the_admin(stage: Stage, action: str) -> None:
    """As superusers, so that only the right can tell them apart. A service account never enters."""
    may, may_not = (stage.people[name] for name in WHO[action])
    User.objects.filter(kind="person").update(is_staff=True, is_superuser=True)
    path, form = ADMIN.get(action, ("runs/job/", None))
    for user, allowed in ((may, True), (may_not, False)):
        client = Client()
        client.force_login(user, "django.contrib.auth.backends.ModelBackend")
        before = Receipt.objects.count()
        answer = client.get(f"/admin/{path}") if form is None else client.post(f"/admin/{path}", form)
        if user.kind == "service":
            assert answer.status_code == 302
            assert "/login/" in answer["Location"]
        elif action == "view":
            assert (">order-1<" in answer.content.decode()) is allowed
        elif action in ADMIN:
            assert (answer.status_code < 400) is allowed
        else:  # no command is given here, whoever may give it elsewhere
            row = Job.objects.get(job_id="order-1")
            for way in ("change", "delete"):
                assert client.post(f"/admin/runs/job/{row.pk}/{way}/", {"post": "yes"}).status_code in (
                    302,
                    403,
                )
            assert client.post("/admin/runs/job/add/").status_code == 403
        assert Receipt.objects.count() == before
