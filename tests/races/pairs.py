"""Which two commands meet, and in what story. Each begins on a tenant of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runs import settle
from runs.permissions import Actor, grants

from .scene import CONFIRMED, REFUSED, Scene, digest, spec

Work = Callable[[Any], Any]  #: on a stage


@dataclass(frozen=True)
class Asked:
    """A command, with claims and proposals by their turn."""

    command: str
    job_id: str | None
    who: str
    body: dict[str, Any]

    def __call__(self, stage: Any) -> Any:
        return stage.told(self.command, self.job_id, self.who, **self.body)


def asks(command: str, job_id: str | None = "j", who: str = "w1", **body: Any) -> Asked:
    return Asked(command, job_id, who, body)


@dataclass(frozen=True)
class Settle:
    """A pass of the settle loop. Only this tenant's jobs are there to be due."""

    def __call__(self, stage: Scene) -> str:
        done = settle.one_pass()
        return "left" if done["left"] else "passed"


@dataclass(frozen=True)
class Lose:
    """An administrator takes the action away from w1."""

    action: str

    def __call__(self, stage: Scene) -> str:
        grants.revoke_grant(Actor.system(stage.tenant), stage.held(self.action))
        return "revoked"


settle_pass = Settle()


def nothing(stage: Any) -> None:
    """The job is not there yet."""


def submitted(*steps: str, **given: Any) -> Work:
    return lambda stage: stage.do("submit", spec=spec(*steps, **given))


def claimed(stage: Any, ttl_seconds: int = 3600, **given: Any) -> None:
    stage.do("submit", spec=spec(**given))
    stage.do("claim", ttl_seconds=ttl_seconds)


def out(ttl_seconds: int = 3600, *steps: str, **given: Any) -> Work:
    """Its first step is out."""

    def story(stage: Any) -> None:
        stage.do("submit", spec=spec(*steps, **given))
        stage.do("claim", ttl_seconds=ttl_seconds)
        stage.do("reserve", claim=1, attempt="a1")

    return story


def then(*stories: Work) -> Work:
    def story(stage: Any) -> None:
        for each in stories:
            each(stage)

    return story


MARKED = {"dispatch": "marked"}
ONE = digest("Send it")
TWO = digest()
TWO_MARKED = digest(**MARKED)


def cancel(event_id: str, job_id: str = "j", **body: Any) -> Asked:
    """Of a job with two steps, unless said otherwise."""
    named = {} if "spec" in body else {"spec_digest": TWO}
    return asks("cancel", job_id, event_id=event_id, **(named | body))


def report(event_id: str, **body: Any) -> Asked:
    return asks("report", event_id=event_id, **({"claim": 1, "ordinal": 0, "outcome": "ok"} | body))


def reconcile(event_id: str, **body: Any) -> Asked:
    given = {"ordinal": 0, "outcome": "ok", "value": "by mail", "evidence": CONFIRMED}
    return asks("reconcile", who="lena", event_id=event_id, **(given | body))


def a_parent(stage: Any) -> None:
    stage.do("submit", "p", spec=spec())


def a_child(stage: Any) -> None:
    a_parent(stage)
    stage.do("submit", "j", spec=spec("Send it", parent="p"))
    stage.do("claim", ttl_seconds=3600)
    stage.do("reserve", claim=1)


def proposed(stage: Any) -> None:
    out(queue="books")(stage)
    stage.do("report", claim=1, ordinal=0, outcome="unknown")
    stage.do("reconcile", who="sam", ordinal=0, outcome="ok", value="by hand", evidence=CONFIRMED)


@dataclass(frozen=True)
class Pair:
    """`goes_on`: the first one's command goes on with an ancestor's checkpoint, in a later transaction."""

    name: str
    first: Asked | Settle | Lose
    second: Asked | Settle | Lose
    story: Work = nothing
    goes_on: bool = False

    @property
    def sides(self) -> tuple[Asked | Settle | Lose, Asked | Settle | Lose]:
        return self.first, self.second

    @property
    def swapped(self) -> "Pair":
        return Pair(self.name, self.second, self.first, self.story)


PAIRS = [
    Pair("cancel x cancel", cancel("a"), cancel("b"), submitted()),
    Pair("cancel x the same", cancel("a"), cancel("a"), submitted()),
    Pair("cancel x same id, other content", cancel("a"), cancel("a", note="no"), submitted()),
    Pair(
        "cancel x same id on another job",
        cancel("a"),
        cancel("a", "k"),
        then(submitted(), lambda s: s.do("submit", "k", spec=spec())),
    ),
    Pair("tombstone x same id on another id", cancel("a", spec=spec()), cancel("a", "k", spec=spec())),
    Pair("tombstone x tombstone", cancel("a", spec=spec()), cancel("b", spec=spec())),
    Pair("tombstone x the same", cancel("a", spec=spec()), cancel("a", spec=spec())),
    Pair("cancel x report, same id", cancel("a"), report("a"), out()),
    Pair("submit x cancel", asks("submit"), cancel("a", spec=spec())),
    Pair("submit x the same", asks("submit"), asks("submit")),
    Pair("submit x another spec", asks("submit"), asks("submit", spec=spec("Other"))),
    Pair("submit x seal", asks("submit"), asks("seal", None, event_id="s", generation=0)),
    Pair("tombstone x seal", cancel("a", spec=spec()), asks("seal", None, event_id="s", generation=0)),
    Pair(
        "seal x seal",
        asks("seal", None, event_id="s", generation=0),
        asks("seal", None, event_id="t", generation=5),
    ),
    Pair("claim x claim", asks("claim"), asks("claim", worker="worker-2"), submitted()),
    Pair("claim x cancel", asks("claim"), cancel("a"), submitted()),
    Pair("takeover x late report", asks("claim"), report("r"), out(ttl_seconds=60)),
    Pair("takeover x heartbeat", asks("claim"), asks("heartbeat", claim=1), out(ttl_seconds=60)),
    Pair("reserve x cancel", asks("reserve", claim=1), cancel("a"), claimed),
    Pair(
        "reserve x reserve",
        asks("reserve", claim=1, attempt="a"),
        asks("reserve", claim=1, attempt="b"),
        claimed,
    ),
    Pair(
        "reserve x the same",
        asks("reserve", claim=1, attempt="a"),
        asks("reserve", claim=1, attempt="a"),
        claimed,
    ),
    Pair("reserve x pause", asks("reserve", claim=1), asks("pause", event_id="p"), claimed),
    Pair("reserve x revoke", asks("reserve", claim=1), asks("revoke", event_id="x"), claimed),
    Pair(
        "dispatch x dispatch",
        asks("dispatch", claim=1, ordinal=0, attempt="a1"),
        asks("dispatch", claim=1, ordinal=0, attempt="a2"),
        out(**MARKED),
    ),
    Pair(
        "dispatch x the same",
        asks("dispatch", claim=1, ordinal=0, attempt="a1"),
        asks("dispatch", claim=1, ordinal=0, attempt="a1"),
        out(**MARKED),
    ),
    Pair(
        "dispatch x cancel",
        asks("dispatch", claim=1, ordinal=0, attempt="a1"),
        cancel("a", spec_digest=TWO_MARKED),
        out(**MARKED),
    ),
    Pair(
        "dispatch x revoke",
        asks("dispatch", claim=1, ordinal=0, attempt="a1"),
        asks("revoke", event_id="x"),
        out(**MARKED),
    ),
    Pair(
        "dispatch x release",
        asks("dispatch", claim=1, ordinal=0, attempt="a1"),
        asks("release", event_id="x", claim=1, ordinal=0),
        out(**MARKED),
    ),
    Pair("last report x cancel", report("r"), cancel("a", spec_digest=ONE), out(3600, "Send it")),
    Pair("report x report", report("r"), report("s", value="other"), out()),
    Pair("report x checkpoint", report("r"), asks("checkpoint"), then(out(), cancel("a"))),
    Pair("report x revoke", report("r"), asks("revoke", event_id="x"), out()),
    Pair("report x lapse", report("r"), settle_pass, out(ttl_seconds=60)),
    Pair("reconcile x late report", reconcile("c"), report("r", value="250"), out(ttl_seconds=60)),
    Pair("reconcile x heartbeat", reconcile("c"), asks("heartbeat", claim=1), out(ttl_seconds=60)),
    Pair("reconcile x lapse", reconcile("c"), settle_pass, out(ttl_seconds=60)),
    Pair(
        "reconcile x opposite",
        reconcile("c"),
        reconcile("d", outcome="rejected", evidence=REFUSED),
        out(ttl_seconds=60),
    ),
    Pair(
        "approve x late report",
        asks("approve", who="lena", event_id="y", proposal=0),
        report("r", value="250"),
        proposed,
    ),
    Pair(
        "approve x decline",
        asks("approve", who="lena", event_id="y", proposal=0),
        asks("decline", who="sam", event_id="z", proposal=0),
        proposed,
    ),
    Pair(
        "approve x approve",
        asks("approve", who="lena", event_id="y", proposal=0),
        asks("approve", who="lena", event_id="z", proposal=0),
        proposed,
    ),
    Pair(
        "propose x propose",
        reconcile("c", value="one"),
        reconcile("d", value="two"),
        then(out(queue="books"), report("u", outcome="unknown")),
    ),
    Pair("child x parent's cancel", asks("submit", spec=spec(parent="p")), cancel("a", "p"), a_parent),
    Pair(
        "child x its tombstone",
        asks("submit", spec=spec(parent="p")),
        cancel("a", spec=spec(parent="p")),
        a_parent,
    ),
    Pair("child's end x parent's cancel", report("r"), cancel("a", "p"), a_child, goes_on=True),
    Pair(
        "child's end x parent's checkpoint",
        report("r"),
        asks("checkpoint", "p"),
        then(a_child, cancel("a", "p")),
        goes_on=True,
    ),
    Pair(  # the one locks its parent's row and then its own, the other the same two the other way round
        "submit x submit, each the other's parent",
        asks("submit", "j", spec=spec(parent="k")),
        asks("submit", "k", spec=spec(parent="j")),
        then(submitted(), lambda s: s.do("submit", "k", spec=spec())),
    ),
    Pair("cancel x lapse", cancel("a"), settle_pass, out(ttl_seconds=60)),
    Pair("takeover x lapse", asks("claim"), settle_pass, out(ttl_seconds=60)),
    Pair("settle x settle", settle_pass, settle_pass, then(out(ttl_seconds=60), cancel("a"))),
    Pair("grant revocation x cancel", Lose("cancel"), cancel("a"), submitted()),
    Pair("grant revocation x report", Lose("execute"), report("r"), out()),
    Pair(
        "close dispute x report",
        asks("close_dispute", who="lena", event_id="y", ordinal=0),
        report("r", outcome="rejected", evidence={"kind": "worker_refused", "text": "no"}),
        then(
            out(),
            report("q"),
            report("q2", outcome="rejected", evidence={"kind": "worker_refused", "text": "no"}),
        ),
    ),
]
