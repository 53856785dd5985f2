"""What an administrator changes: by the commands that rule over it, with a reason that is kept, never for
themselves, and no password, token or hash on a page or in a log."""

import logging
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client

from runs import causes
from runs.models import Alteration, Cause, Claim, Grant, Queue, Token, Tool, User
from runs.permissions import Action, Actor, Line, Scope, authenticate, grant, issue_token
from tests.board.cast import Stage

from .conftest import Desk, told

GRANT = {"user": "", "group": "", "template": "", "action": "", "effect": "allow", "scope": ""}
ACCOUNT = {"kind": "person", "name": "", "username": "", "is_active": "on", "owner_key": "", "sponsor": ""}
PASSWORD = "correct horse battery staple"


def reason_of(row: object) -> str:
    entry = LogEntry.objects.order_by("-pk").first()
    assert entry is not None
    assert entry.object_id == str(row.pk)  # type: ignore[attr-defined]
    return str(entry.change_message)


# -- grants --------------------------------------------------------------------------------------------------
def test_a_grant_is_given_with_its_reason(stage: Stage, lena: Desk) -> None:
    stage.submit("order-1")
    sam = stage.people["sam"]
    given = {"user": sam.pk, "action": "cancel", "scope": "queue", "queue": "mail"}
    assert lena.post("runs/grant/add/", **GRANT | given).status_code == 302
    row = Grant.objects.latest("pk")
    assert (str(row), row.reason, row.granted_by) == (
        "allow cancel queue mail",
        "asked for",
        stage.people["lena"],
    )
    assert sam.has_perm("can.cancel", stage.row("order-1"))
    assert reason_of(row).startswith("asked for [")
    assert lena.post(f"runs/grant/{row.pk}/change/", because="left the team").status_code == 302
    row.refresh_from_db()
    assert row.revoked_by == stage.people["lena"]
    assert row.reason == "asked for"
    assert not sam.has_perm("can.cancel", stage.row("order-1"))
    assert "left the team" in reason_of(row)
    assert lena.post(f"runs/grant/{row.pk}/change/").status_code == 403, "revoked once and for all"


def test_a_template_is_copied(stage: Stage, lena: Desk) -> None:
    group = Group.objects.create(name="acme/night")
    given = {"group": group.pk, "template": "operator", "queue": "ledger"}
    assert lena.post("runs/grant/add/", **GRANT | given).status_code == 302
    assert sorted(map(str, Grant.objects.filter(group=group))) == [
        *(f"allow {action} queue ledger" for action in ("block", "cancel", "pause", "revoke")),
        "allow view tenant",
    ]
    assert "which one?" in told(
        lena.post("runs/grant/add/", **GRANT | {"group": group.pk, "template": "worker"})
    )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"user": "sam", "group": "g", "action": "view", "scope": "tenant"},
        {"user": "sam", "scope": "tenant"},
        {"user": "sam", "action": "view", "scope": "queue"},
        {"user": "sam", "action": "view", "scope": "tenant", "queue": "mail"},
        {"user": "sam", "action": "seal", "scope": "queue", "queue": "mail"},
        {"user": "sam", "action": "view", "scope": "queue", "queue": "nowhere"},
        {"user": "sam", "action": "everything", "scope": "tenant"},
        {"user": "sam", "action": "view", "scope": "tenant", "because": ""},
        {"user": "sam", "action": "view", "scope": "tenant", "because": "a\x1b[2Jb"},
        {"user": "lena", "action": "view", "scope": "tenant"},
        {"group": "mine", "action": "view", "scope": "tenant"},
    ],
)
def test_no_grant_that_will_not_do_and_none_for_oneself(
    stage: Stage, lena: Desk, given: dict[str, str]
) -> None:
    groups = {name: Group.objects.create(name=f"acme/{name}") for name in ("g", "mine")}
    groups["mine"].user_set.add(stage.people["lena"])
    named = {"user": stage.people, "group": groups}
    given = {name: named[name][value].pk if name in named else value for name, value in given.items()}  # type: ignore[index,misc]
    before = Grant.objects.count()
    assert told(lena.post("runs/grant/add/", **GRANT | given))
    assert Grant.objects.count() == before
    assert not LogEntry.objects.exists()


def test_nobody_lifts_their_own_ban(stage: Stage, lena: Desk, system: Actor) -> None:
    (ban,) = grant(system, stage.people["lena"], [Line(Action.SEAL, allows=False)])
    assert "Nobody gives rights to themselves" in told(lena.post(f"runs/grant/{ban.pk}/change/"))
    ban.refresh_from_db()
    assert ban.revoked_at is None


# -- people --------------------------------------------------------------------------------------------------
def test_a_person_is_made_signs_in_and_is_switched_off(stage: Stage, lena: Desk) -> None:
    night = Group.objects.create(name="acme/night")
    given = {
        "name": "Nia",
        "username": "nia",
        "password": PASSWORD,
        "again": PASSWORD,
        "members_of": night.pk,
    }
    assert lena.post("runs/user/add/", **ACCOUNT | given).status_code == 302
    nia = User.objects.get(username="nia")
    assert (nia.name, nia.tenant, nia.is_staff, list(nia.groups.all())) == (
        "Nia",
        stage.tenant,
        False,
        [night],
    )
    browser = Client()
    assert browser.post("/login/", {"username": "nia", "password": PASSWORD}).status_code == 302
    assert browser.get("/jobs/").status_code == 200
    off = {name: value for name, value in ACCOUNT.items() if name != "is_active"}
    assert lena.post(f"runs/user/{nia.pk}/change/", **off, because="left").status_code == 302
    assert browser.get("/jobs/").status_code == 302
    nia.refresh_from_db()
    assert (nia.is_active, list(nia.groups.all())) == (False, [])
    assert "left" in reason_of(nia)


def test_a_new_password_ends_the_sessions(stage: Stage, lena: Desk) -> None:
    sam = stage.people["sam"]
    browser = stage.browser("sam")
    assert browser.get("/jobs/").status == 200
    given = ACCOUNT | {"password": PASSWORD, "again": PASSWORD}
    assert lena.post(f"runs/user/{sam.pk}/change/", **given).status_code == 302
    assert browser.get("/jobs/").status == 302
    sam.refresh_from_db()
    assert sam.check_password(PASSWORD)
    assert PASSWORD not in reason_of(sam)


@pytest.mark.parametrize(
    "given",
    [
        {"name": "sam"},
        {"name": "Nia", "username": "omar"},
        {"name": "Nia", "username": "acme/nia"},
        {"name": "system"},
        {"name": "Verifier:mail"},
        {"name": "Nia", "password": PASSWORD, "again": "another"},
        {"name": "Nia", "password": "password123", "again": "password123"},
        {"name": "Nia", "password": "short", "again": "short"},
        {"name": "w2", "kind": "service", "password": PASSWORD, "again": PASSWORD},
        {"name": "w2", "kind": "service", "administers": "on"},
        {"name": "no id", "kind": "service"},
        {"name": "Nia", "sponsor": "omar"},
        {"name": "line\nbreak"},
    ],
)
def test_no_account_that_will_not_do(stage: Stage, lena: Desk, given: dict[str, str]) -> None:
    if "sponsor" in given:
        given = given | {"sponsor": stage.people[given["sponsor"]].pk}
    before = User.objects.count()
    answer = lena.post("runs/user/add/", **ACCOUNT | given)
    assert told(answer)
    assert User.objects.count() == before
    assert PASSWORD not in answer.content.decode()


def test_nobody_changes_their_own_account_nor_shakes_off_one_they_answer_for(
    stage: Stage, lena: Desk
) -> None:
    me, w1 = stage.people["lena"], stage.people["w1"]
    assert "themselves" in told(
        lena.post(f"runs/user/{me.pk}/change/", **ACCOUNT | {"owner_key": "customer-1"})
    )
    User.objects.filter(pk=w1.pk).update(sponsor=me)
    assert "themselves" in told(
        lena.post(f"runs/user/{w1.pk}/change/", **ACCOUNT | {"sponsor": stage.people["omar"].pk})
    )
    w1.refresh_from_db()
    assert w1.sponsor == me


def test_what_is_not_on_the_form_is_not_taken(stage: Stage, lena: Desk) -> None:
    """Mass assignment: a hand-made form names columns that its page does not."""
    sam = stage.people["sam"]
    more = {
        "is_superuser": "on",
        "is_staff": "on",
        "name": "lena2",
        "username": "x",
        "tenant": "99",
        "kind": "service",
    }
    assert lena.post(f"runs/user/{sam.pk}/change/", **ACCOUNT | more).status_code == 302
    sam.refresh_from_db()
    assert (sam.name, sam.username, sam.kind, sam.is_superuser) == ("sam", "sam", "person", False)
    assert sam.tenant == stage.tenant


def test_groups_are_the_tenants_own(stage: Stage, lena: Desk) -> None:
    foreign = Group.objects.create(name="elsewhere/night")
    assert lena.post("auth/group/add/", called="night").status_code == 302
    night = Group.objects.get(name="acme/night")
    assert "such a group already" in told(lena.post("auth/group/add/", called="night"))
    assert lena.post(f"auth/group/{night.pk}/change/", called="day", permissions="1").status_code == 302
    assert Group.objects.get(pk=night.pk).name == "acme/day"
    assert not night.permissions.exists()
    assert "elsewhere" not in lena.text("auth/group/")
    assert lena.get(f"auth/group/{foreign.pk}/change/").status_code == 302
    assert told(
        lena.post("runs/grant/add/", **GRANT | {"group": foreign.pk, "action": "view", "scope": "tenant"})
    )
    assert "elsewhere" not in lena.text("runs/grant/add/")


# -- tokens --------------------------------------------------------------------------------------------------
def test_a_token_is_shown_once_and_revoked(
    stage: Stage, lena: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    given = {"user": stage.people["w1"].pk, "actions": ["view", "execute"], "queues": ["mail"], "days": "30"}
    made = lena.post("runs/token/add/", **given)
    assert made.status_code == 200
    assert "no-store" in made["Cache-Control"]
    (text,) = re.findall(r"cb_[A-Za-z0-9]{8}_[A-Za-z0-9_-]+", made.content.decode())
    assert authenticate(f"Bearer {text}").name == "w1"
    token, secret = Token.objects.get(), text.split("_", 2)[2]
    for path in (
        "runs/token/",
        f"runs/token/{token.pk}/change/",
        f"runs/token/{token.pk}/history/",
        "admin/logentry/",
        "",
    ):
        page = lena.text(path)
        assert secret not in page
        assert token.secret_hash not in page
    assert secret not in caplog.text
    assert secret not in str(list(LogEntry.objects.values()))
    assert secret not in str(made.client.cookies)
    assert lena.post(f"runs/token/{token.pk}/change/", because="leaked").status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert "leaked" in reason_of(token)


@pytest.mark.parametrize(
    "given",
    [{"days": "366"}, {"actions": ["approve"]}, {"actions": []}, {"user": "sam"}, {"queues": ["nowhere"]}],
)
def test_no_token_that_will_not_do(stage: Stage, lena: Desk, given: dict[str, object]) -> None:
    fields = {"user": "w1", "actions": ["view"], "days": "30"} | given
    fields["user"] = stage.people[str(fields["user"])].pk
    assert told(lena.post("runs/token/add/", **fields))
    assert not Token.objects.exists()


def test_no_page_shows_a_hash(stage: Stage, lena: Desk, system: Actor) -> None:
    stage.begin("order-1")
    issue_token(system, stage.people["w1"], [Action.VIEW])
    secrets = {
        *User.objects.exclude(password="").values_list("password", flat=True),
        *Token.objects.values_list("secret_hash", flat=True),
        *Claim.objects.values_list("token_hash", flat=True),
        stage.tokens["order-1"],
    }
    row = stage.row("order-1")
    pages = [
        f"runs/job/{row.pk}/change/",
        "runs/claim/",
        f"runs/claim/{row.claims.get().pk}/change/",
        "runs/user/",
    ]
    pages += [f"runs/user/{user.pk}/change/" for user in stage.people.values()]
    for path in pages:
        page = lena.text(path)
        assert not [secret for secret in secrets if secret and secret in page], path


# -- queues, tools, causes -----------------------------------------------------------------------------------
def test_a_queue_and_its_rules(stage: Stage, lena: Desk) -> None:
    given = {"name": "bulk", "id_prefix": "bulk-", "reconcile_needs": "2", "limit_seconds": "60"}
    assert lena.post("runs/queue/add/", **given).status_code == 302
    assert told(lena.post("runs/queue/add/", **given)), "its name is taken"
    assert told(lena.post("runs/queue/add/", **given | {"name": "other"})), "its prefix is taken"
    assert told(lena.post("runs/queue/add/", **given | {"name": "a b", "id_prefix": ""}))
    queue = Queue.objects.get(name="bulk")
    changed = {"name": "renamed", "id_prefix": "bulk-", "reconcile_needs": "1", "limit_seconds": "60"}
    assert lena.post(f"runs/queue/{queue.pk}/change/", **changed).status_code == 302
    queue.refresh_from_db()
    assert (queue.name, queue.reconcile_needs) == ("bulk", "1")
    assert "reconcile_needs=1" in reason_of(queue)


def test_a_queue_that_nobody_could_approve_in_says_so(stage: Stage, lena: Desk, system: Actor) -> None:
    path = f"runs/queue/{Queue.objects.get(name='books').pk}/change/"
    assert "nobody may approve" not in lena.text(path)
    approving = Grant.objects.filter(action="approve", effect="allow").get()
    assert lena.post(f"runs/grant/{approving.pk}/change/").status_code == 302
    assert "nobody may approve" in lena.text(path)
    listed = lena.text("runs/queue/")
    assert listed.count('<strong class="bad">nobody may approve</strong>') == 2, (
        "books and shop, and not mail"
    )


def test_an_approver_who_sees_no_job_of_it_is_none(stage: Stage, lena: Desk, system: Actor) -> None:
    assert "nobody may approve" not in lena.text("runs/queue/")
    grant(system, stage.people["lena"], [Line(Action.VIEW, Scope.QUEUE, allows=False, queue="books")])
    assert lena.text("runs/queue/").count("nobody may approve") == 1


@pytest.mark.parametrize(
    "given",
    [
        {"link_template": "javascript:alert(1)"},
        {"link_template": "/local"},
        {"link_template": "https://x.test/{secret}"},
        {"reference_pattern": "("},
        {"name": "smtp"},
    ],
)
def test_a_tool_leads_to_the_web_and_nowhere_else(stage: Stage, lena: Desk, given: dict[str, str]) -> None:
    good = {
        "name": "smtp",
        "label": "Mail",
        "link_template": "https://mail.test/?key={key}",
        "reference_pattern": "M-\\d+",
    }
    assert lena.post("runs/tool/add/", **good).status_code == 302
    assert told(lena.post("runs/tool/add/", **good | {"name": "other"} | given))
    assert Tool.objects.count() == 1


def test_causes_are_added_and_retired(stage: Stage, lena: Desk) -> None:
    own = {"code": "fraud", "short": "Fraud", "text": "Somebody else ordered it.", "built_in": ""}
    assert lena.post("runs/cause/add/", **own).status_code == 302
    assert causes.known_and_live(stage.tenant.pk, "fraud")
    assert told(lena.post("runs/cause/add/", **own)), "there already"
    assert told(lena.post("runs/cause/add/", **own | {"code": "goal_met"})), "built in"
    fraud = Cause.objects.get(code="fraud")
    assert lena.post(f"runs/cause/{fraud.pk}/change/", short="Reworded").status_code == 302
    fraud.refresh_from_db()
    assert (fraud.short, causes.known_and_live(stage.tenant.pk, "fraud")) == ("Fraud", False)
    assert lena.post("runs/cause/add/", code="", short="", text="", built_in="goal_met").status_code == 302
    assert not causes.known_and_live(stage.tenant.pk, "goal_met")
    assert causes.describe(stage.tenant.pk, "goal_met")["short"] == "Goal met"


@pytest.mark.parametrize("code", ["canceled_no_cause", "other", "deadline_exceeded"])
def test_what_a_stop_falls_back_on_is_never_retired(stage: Stage, lena: Desk, code: str) -> None:
    assert told(lena.post("runs/cause/add/", code="", short="", text="", built_in=code))
    assert told(lena.post("runs/cause/add/", code=code, short="x", text="y", built_in=""))
    stage.submit("order-1")
    assert stage.cancel("order-1", cause="canceled_no_cause").status == "requested"


def test_all_or_nothing_and_under_the_tenants_lock(stage: Stage, lena: Desk) -> None:
    from django.test.utils import CaptureQueriesContext

    given = {"user": stage.people["sam"].pk, "template": "lead"}
    with CaptureQueriesContext(connection) as seen:
        assert lena.post("runs/grant/add/", **GRANT | given).status_code == 302
    said = [query["sql"] for query in seen.captured_queries]
    if connection.vendor == "postgresql":
        lock = next(n for n, sql in enumerate(said) if "pg_advisory_xact_lock(" in sql)
        written = [
            n for n, sql in enumerate(said) if re.match(r"INSERT INTO \"(runs_grant|django_admin_log)", sql)
        ]
        assert len(written) == 2
        assert lock < min(written)


# -- the trail -----------------------------------------------------------------------------------------------
def trail() -> list[tuple[str, str, str, str]]:
    rows = Alteration.objects.filter(by__name="lena").order_by("pk")
    return [(row.what, row.object, row.reason, row.address) for row in rows]


def test_what_is_changed_here_is_in_the_trail_with_its_reason_and_where_from(
    stage: Stage, lena: Desk
) -> None:
    lena.client.defaults["REMOTE_ADDR"] = "10.1.2.3"
    sam, mail = stage.people["sam"], Queue.objects.get(name="mail")
    lena.post("auth/group/add/", called="night", because="a night shift")
    night = Group.objects.get(name="acme/night")
    lena.post(f"auth/group/{night.pk}/change/", called="late", because="nobody sleeps")
    on = {"is_active": "on", "owner_key": "", "sponsor": "", "members_of": [night.pk]}
    lena.post(f"runs/user/{sam.pk}/change/", because="joins them", **on)
    changed = {"id_prefix": "", "reconcile_needs": "2", "limit_seconds": "60"}
    lena.post(f"runs/queue/{mail.pk}/change/", because="four eyes", **changed)
    assert trail() == [
        ("group: made", "night", "a night shift", "10.1.2.3"),
        ("group: renamed", "late", "nobody sleeps", "10.1.2.3"),
        ("member: added", "sam", "joins them", "10.1.2.3"),
        ("queue: changed", "mail", "four eyes", "10.1.2.3"),
    ]
    last = Alteration.objects.latest("pk")
    assert "reconcile_needs 1" in last.before
    assert "reconcile_needs 2" in last.after
    lena.post(f"runs/queue/{mail.pk}/change/", because="", **changed)
    assert len(trail()) == 4, "without a reason nothing was changed"


def test_a_password_is_in_the_trail_and_never_what_it_is(stage: Stage, lena: Desk) -> None:
    sam = stage.people["sam"]
    on = {"is_active": "on", "owner_key": "", "sponsor": ""}
    lena.post(f"runs/user/{sam.pk}/change/", password=PASSWORD, again=PASSWORD, **on)
    assert [row[:2] for row in trail()] == [("password: set", "sam")]
    assert not [row for row in Alteration.objects.values() if PASSWORD in str(row) or "pbkdf2" in str(row)]
