"""All that may be said at a place: every command, by everybody, with every token that was ever issued."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from runs.protocol import asks
from runs.protocol.evidence import Evidence
from runs.protocol.spec import Spec
from runs.protocol.states import ActorType, Parent, Token, World
from tests.protocol.shapes import a_spec

from .bound import Bound
from .place import NEWEST, NOW, Place

WORKER, RECEIVER = "worker_reported", "receiver_confirmed"
NEVER_ISSUED = Token()
BY_CLOCK = (asks.Lapse(), asks.Escalate())


@cache
def spec_of(bound: Bound) -> Spec:
    return a_spec(*(f"step {n}" for n in range(bound.steps)), dispatch=bound.dispatch)


def said_at(place: Place, bound: Bound) -> Iterator[tuple[World, Any]]:
    """Every command of everybody here, with the world it is decided in."""
    world = World(
        now=NOW,
        job=place.job,
        sealed_generation=0 if place.sealed else -1,
        reconcile_needs=bound.needs,
        actor_type=ActorType.PERSON,
        actor="sam",
    )
    for ask in by_callers(bound) + by_staff(bound):
        yield world, ask
    if place.job is None:
        yield from odd_beginnings(world, bound)
    else:
        yield from ((world, ask) for ask in (*BY_CLOCK, another_intent(bound)))
    yield from about_proposals(world, place)
    for by in (ActorType.PERSON, ActorType.VERIFIER):
        for ordinal, asked in reconciles(bound).items():
            known = replace(world, actor_type=by, proposal=open_one(place, ordinal))
            for ask in asked:
                yield known, ask
    for token in tokens(place):
        known = replace(world, actor_type=ActorType.SERVICE, actor="w1", token=token)
        for ask in by_worker(bound) if token.newest else by_late_worker(bound):
            yield known, ask


def tokens(place: Place) -> Iterator[Token]:
    yield NEVER_ISSUED
    for fence in place.issued:
        yield Token(fence, newest=fence == NEWEST)


def open_one(place: Place, ordinal: int) -> Any:
    found = place.proposal
    return found if found and found.ordinal == ordinal and found.state == "open" else None


def odd_beginnings(world: World, bound: Bound) -> Iterator[tuple[World, Any]]:
    submit, cancel = by_callers(bound)[:2]
    for parent in (Parent(visible=False), Parent(open=False), Parent(depth=8), Parent(depth=7)):
        yield replace(world, parent=parent), submit
    yield replace(world, wrong_queue=True), submit
    yield replace(world, wrong_queue=True), cancel
    yield world, asks.Approve(event_id="e", proposal="p")
    yield world, asks.Decline(event_id="e", proposal="p")


def about_proposals(world: World, place: Place) -> Iterator[tuple[World, Any]]:
    if place.proposal is not None:
        of_another, own = (replace(place.proposal, own=is_own) for is_own in (False, True))
        yield replace(world, proposal=of_another), asks.Approve(event_id="e", proposal="p")
        for proposal in (of_another, own):
            yield replace(world, proposal=proposal), asks.Decline(event_id="e", proposal="p")
        yield replace(world, proposal=of_another), asks.Expire(proposal="p")


@cache
def by_callers(bound: Bound) -> tuple[Any, ...]:
    spec = spec_of(bound)
    other = another_intent(bound).spec
    grace = 0 if bound.escalates else 90
    return (
        asks.Submit(job_id="j", spec=spec),
        asks.Cancel(event_id="e", spec=spec, grace_seconds=grace),
        asks.Cancel(event_id="e", spec_digest=spec.digest, grace_seconds=grace),
        asks.Cancel(event_id="e", spec_digest=other.digest),
        asks.Claim(worker="w1"),
        asks.Checkpoint(),
        *([asks.Seal(event_id="e", generation=0)] if bound.sealed else []),
    )


@cache
def another_intent(bound: Bound) -> asks.Submit:
    return asks.Submit(job_id="j", spec=a_spec("another intent", dispatch=bound.dispatch))


@cache
def by_staff(bound: Bound) -> tuple[Any, ...]:
    looked = Evidence(kind="not_found", text="no such mail")
    return (
        asks.Revoke(event_id="e"),
        asks.Pause(event_id="e"),
        asks.Resume(event_id="e"),
        *(asks.Observe(event_id="e", ordinal=n, evidence=looked) for n in ordinals(bound)),
        *(asks.CloseDispute(event_id="e", ordinal=n) for n in ordinals(bound)),
    )


@cache
def reconciles(bound: Bound) -> dict[int, list[Any]]:
    return {
        n: [
            *(_verified(n, "ok", value, RECEIVER) for value in bound.values),
            _verified(n, "ok", "a", WORKER),
            _verified(n, "ok", "a", "not_found"),
            _verified(n, "rejected", "", "receiver_sealed"),
            _verified(n, "rejected", "", "worker_refused"),
        ]
        for n in ordinals(bound)
    }


def _verified(ordinal: int, outcome: Any, value: str, kind: Any) -> asks.Reconcile:
    evidence = Evidence(kind=kind, text="as seen")
    return asks.Reconcile(event_id="e", ordinal=ordinal, outcome=outcome, value=value, evidence=evidence)


@cache
def by_worker(bound: Bound) -> tuple[Any, ...]:
    """Under the newest token."""
    return (
        *by_late_worker(bound),
        *(asks.Reserve(claim="c", attempt=attempt) for attempt in bound.attempts),
        *(
            asks.Dispatch(claim="c", ordinal=n, attempt=a)
            for n in ordinals(bound)
            for a in (*bound.attempts, "y")
        ),
        *(_said(n, "ok", "a", "not_found") for n in ordinals(bound)),
        *(_said(n, "ok", "a", RECEIVER) for n in ordinals(bound)),
        *(_said(n, "rejected", "", "receiver_refused") for n in ordinals(bound)),
        asks.Heartbeat(claim="c", heard=0),
    )


@cache
def by_late_worker(bound: Bound) -> tuple[Any, ...]:
    """Under any token: what a process that has lost its claim may still send."""
    found: list[Any] = [asks.Heartbeat(claim="c"), asks.Reserve(claim="c", attempt="x")]
    for n in ordinals(bound):
        found += [
            asks.Dispatch(claim="c", ordinal=n, attempt="x"),
            asks.Release(event_id="e", claim="c", ordinal=n),
        ]
        found += [_said(n, "ok", value) for value in bound.values]
        found += [_said(n, "unknown", ""), _said(n, "rejected", "", "worker_refused")]
    return tuple(found)


def _said(ordinal: int, outcome: Any, value: str, kind: Any = None) -> asks.Report:
    evidence = Evidence(kind=kind, text="as seen") if kind else None
    return asks.Report(
        event_id="e", claim="c", ordinal=ordinal, outcome=outcome, value=value, evidence=evidence
    )


def ordinals(bound: Bound) -> range:
    """Every step; and with one step an ordinal that no step has."""
    return range(max(2, bound.steps))
