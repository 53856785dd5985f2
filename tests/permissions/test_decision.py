"""The six steps, their order and their codes, on plain values. No database."""

from datetime import UTC, datetime, timedelta

import pytest

from runs.permissions.decision import Rights, Verdict
from runs.permissions.terms import WHOLE, Action, Ceiling, Held, Target
from runs.protocol.states import ActorType

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MAIL_1 = Target("mail", "customer-1", "job-1")
LATER = NOW + 90 * SECOND


def held(
    number: int = 1, action: str = "cancel", scope: str = "tenant", allows: bool = True, **rest: object
) -> Held:
    where = {"queue": "", "owner": "", "job": "", "not_before": NOW, "expires_at": None} | rest
    return Held(number, action, allows, scope, **where)  # type: ignore[arg-type]


def person(*grants: Held, **rest: object) -> Rights:
    return Rights(ActorType.PERSON, grants=grants, **rest)  # type: ignore[arg-type]


def service(*grants: Held, **token: object) -> Rights:
    ceiling = {"actions": frozenset({"cancel"}), "queues": frozenset(), "expires_at": LATER, "revoked": False}
    return Rights(ActorType.SERVICE, token=Ceiling(**(ceiling | token)), grants=grants)  # type: ignore[arg-type]


def judge(
    rights: Rights, action: str = "cancel", target: Target = MAIL_1, now: datetime = NOW, **facts: bool
) -> Verdict:
    return rights.judge(Action(action), target, now=now, **facts)


def code(rights: Rights, *args: object, **facts: object) -> str:
    verdict = judge(rights, *args, **facts)  # type: ignore[arg-type]
    assert verdict.allowed == (verdict.code == "allowed")
    assert verdict.steps[-1][2] == verdict.code
    assert [n for n, *_ in verdict.steps] == list(range(1, len(verdict.steps) + 1))
    return verdict.code


def test_nothing_granted_is_nothing_allowed() -> None:
    assert code(person()) == "no_grant"
    assert code(person(held(action="view"))) == "no_grant", "no action implies another"


REACH = {
    "tenant": held(scope="tenant"),
    "queue": held(scope="queue", queue="mail"),
    "owner": held(scope="owner", owner="customer-1"),
    "self": held(scope="self"),
    "job": held(scope="job", job="job-1"),
}


@pytest.mark.parametrize("scope", REACH)
def test_a_scope_reaches_its_jobs_and_no_others(scope: str) -> None:
    rights = person(REACH[scope], owner_key="customer-1")
    assert code(rights) == "allowed"
    assert (code(rights, "cancel", Target("x", "y", "z")) == "allowed") == (scope == "tenant")


def test_self_without_an_owner_key_reaches_nothing_least_of_all_jobs_without_an_owner() -> None:
    assert code(person(held(scope="self"), owner_key=""), "cancel", Target("mail", "", "job-1")) == "no_grant"


def test_the_deciding_grant_is_of_highest_rank_then_lowest_id() -> None:
    ranked = ("tenant", "queue", "owner", "self", "job")
    grants = [
        held(10 - rank, scope=scope, **{k: getattr(REACH[scope], k) for k in ("queue", "owner", "job")})
        for rank, scope in enumerate(ranked)
    ]
    while grants:
        assert judge(person(*grants, owner_key="customer-1")).grant == grants.pop().id
    assert judge(person(held(8), held(7), held(9))).grant == 7


def test_a_live_deny_beats_every_allow_and_is_named() -> None:
    deny = held(9, allows=False)
    verdict = judge(person(*REACH.values(), deny, owner_key="customer-1"))
    assert (verdict.code, verdict.grant) == ("explicit_deny", 9)
    elsewhere = held(9, allows=False, scope="queue", queue="ledger")
    assert code(person(held(), elsewhere)) == "allowed"
    over = held(9, allows=False, not_before=NOW - SECOND, expires_at=NOW)
    assert code(person(held(), over)) == "allowed"


def test_a_grant_lives_from_its_beginning_until_just_before_its_end() -> None:
    rights = person(held(4, not_before=NOW, expires_at=NOW + SECOND))
    assert code(rights, now=NOW - SECOND / 1000) == "no_grant", "not begun is not expired"
    assert code(rights, now=NOW) == "allowed"
    assert code(rights, now=NOW + SECOND - SECOND / 1000) == "allowed"
    verdict = judge(rights, now=NOW + SECOND)
    assert (verdict.code, verdict.grant) == ("grant_expired", 4)


def test_an_expired_grant_is_named_only_where_it_would_have_reached() -> None:
    over = held(4, scope="queue", queue="ledger", not_before=NOW - SECOND, expires_at=NOW)
    assert code(person(over)) == "no_grant"


def test_dead_credentials_come_first() -> None:
    deny = held(2, allows=False)
    assert code(Rights(ActorType.PERSON, active=False, grants=(held(), deny))) == "principal_inactive"
    assert code(service(held(), deny, revoked=True)) == "token_dead"
    assert code(service(held(), deny, expires_at=NOW)) == "token_dead"
    assert code(service(held(), deny, expires_at=NOW + SECOND)) == "explicit_deny"
    assert code(service(held(), deny, actions=frozenset({"view"}))) == "token_ceiling"


def test_a_token_is_a_ceiling_not_a_grant() -> None:
    assert code(service()) == "no_grant"
    assert code(service(held())) == "allowed"
    assert code(service(held(), actions=frozenset())) == "token_ceiling"
    assert code(service(held(), queues=frozenset({"mail"}))) == "allowed"
    assert code(service(held(), queues=frozenset({"ledger"}))) == "token_ceiling"


@pytest.mark.parametrize(
    ("kind", "action"),
    [(ActorType.SERVICE, "approve"), (ActorType.SERVICE, "manage_grants"), (ActorType.PERSON, "execute")],
)
def test_the_kind_comes_before_the_grants(kind: ActorType, action: str) -> None:
    assert code(Rights(kind, grants=(held(action=action),)), action) == "principal_kind"
    assert code(Rights(kind, grants=(held(action=action, allows=False),)), action) == "principal_kind"
    other = ActorType.PERSON if kind is ActorType.SERVICE else ActorType.SERVICE
    assert code(Rights(other, grants=(held(action=action),)), action) == "allowed"


def test_two_people() -> None:
    approver = person(
        held(action="approve"), held(2, action="reconcile"), held(3, action="manage_grants"), held(4)
    )
    assert code(approver, "approve", own_proposal=True) == "same_person"
    assert code(approver, "approve", own_proposal=True, executor=True) == "same_person"
    assert code(approver, "approve", executor=True) == "sod_executor"
    assert code(approver, "reconcile", executor=True) == "sod_executor"
    assert code(approver, "manage_grants", to_self=True) == "sod_self_grant"
    assert code(approver, "cancel", own_proposal=True, executor=True, to_self=True) == "allowed", (
        "a stop is one's own"
    )
    assert code(person(), "approve", own_proposal=True) == "no_grant", "the right is asked first"


@pytest.mark.parametrize("action", ["seal", "manage_grants"])
def test_what_is_about_the_tenant_needs_a_tenant_wide_grant(action: str) -> None:
    narrow = person(held(action=action, scope="queue", queue="mail"))
    assert code(narrow, action) == "no_grant", "whatever job it is asked about"
    assert code(narrow, action, WHOLE) == "no_grant"
    assert code(person(held(action=action)), action) == "allowed"


def test_sealing_needs_a_token_without_queues() -> None:
    seal = held(action="seal")
    assert code(service(seal, actions=frozenset({"seal"})), "seal") == "allowed"
    limited = service(seal, actions=frozenset({"seal"}), queues=frozenset({"mail"}))
    assert code(limited, "seal") == "token_ceiling"


def test_the_system_and_verifiers_hold_every_right() -> None:
    for kind in (ActorType.SYSTEM, ActorType.VERIFIER):
        assert {code(Rights(kind), action) for action in Action} == {"allowed"}
        assert Rights(kind).anywhere(Action.VIEW, NOW)


def test_the_steps_show_how_far_it_came() -> None:
    passed = (("credentials", "pass"), ("principal_kind", "pass"), ("deny", "pass"), ("allow", "pass"))
    assert tuple((check, result) for _, check, result in judge(person(held())).steps) == (
        *passed,
        ("separation_of_duties", "pass"),
        ("decision", "allowed"),
    )
    assert judge(person()).steps[3:] == ((4, "allow", "no_grant"),)


@pytest.mark.parametrize(
    ("rights", "anywhere"),
    [
        (person(), False),
        (person(held()), True),
        (person(held(scope="queue", queue="mail")), True),
        (person(held(scope="job", job="job-9")), True),
        (person(held(scope="self")), False),
        (person(held(scope="self"), owner_key="customer-1"), True),
        (person(held(), held(2, allows=False)), False),
        (person(held(), held(2, allows=False, scope="queue", queue="mail")), True),
        (
            person(held(scope="queue", queue="mail"), held(2, allows=False, scope="queue", queue="mail")),
            False,
        ),
        (person(held(not_before=NOW - SECOND, expires_at=NOW)), False),
        (service(held()), True),
        (service(held(), actions=frozenset({"view"})), False),
        (service(held(), queues=frozenset({"mail"})), True),
        (service(held(scope="queue", queue="ledger"), queues=frozenset({"mail"})), False),
        (service(held(scope="job", job="job-9"), queues=frozenset({"mail"})), True),
        (service(held(), revoked=True), False),
        (Rights(ActorType.PERSON, active=False, grants=(held(),)), False),
    ],
)
def test_anywhere(rights: Rights, anywhere: bool) -> None:
    assert rights.anywhere(Action.CANCEL, NOW) is anywhere


def test_nobody_barred_holds_it_anywhere() -> None:
    assert not person(held(action="execute")).anywhere(Action.EXECUTE, NOW)
