"""A family instead of one job: each the child of the one before it, all with one step, and a cancel of any of
them, alone or passed on (section 9). Composed as runs/commands composes it: those below first, from the leaf
up, then the job itself; and whatever ends checkpoints its ancestors.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from runs.protocol import asks
from runs.protocol.evidence import Evidence
from runs.protocol.states import Control, Job, Parent, Result, Token, World
from tests.protocol.composed import CHECKPOINT, carried_out

from .bound import Bound
from .explore import after
from .laws import broken
from .moves import spec_of
from .place import NEWEST, NOW, Place
from .standing import wrong

Family = tuple[Place, ...]

SPEC = spec_of(Bound(1, "unmarked", words=0))
CANCEL = asks.Cancel(event_id="e", spec_digest=SPEC.digest)
WORDS = (
    asks.Submit(job_id="j", spec=SPEC),
    CANCEL,
    CANCEL.model_copy(update={"cascade": True}),
    CANCEL.model_copy(update={"cascade": True, "spec_digest": "0" * 64}),
    asks.Claim(worker="w1"),
    asks.Reserve(claim="c", attempt="x"),
    asks.Report(event_id="e", claim="c", ordinal=0, outcome="ok"),
    asks.Report(event_id="e", claim="c", ordinal=0, outcome="unknown"),
    asks.Reconcile(
        event_id="e", ordinal=0, outcome="ok", evidence=Evidence(kind="receiver_confirmed", text="seen")
    ),
)


def search_family(size: int) -> tuple[int, list[str]]:
    """How many families there are, and every breach of an invariant or a law."""
    empty: Family = (Place(),) * size
    seen, waiting, breaches = {_key(empty)}, deque([empty]), list[str]()
    while waiting:
        here = waiting.popleft()
        for ask, member, there, found in reached(here):
            breaches += [f"{name}: {ask!r} to {member} of {here}" for name in found]
            if _key(there) not in seen:
                seen.add(_key(there))
                waiting.append(there)
                standing = [name for n in range(size) for name in wrong(_with_children(there, n))]
                breaches += [f"{name} at {there}" for name in standing]
    return len(seen), breaches


def reached(here: Family) -> Iterator[tuple[Any, int, Family, list[str]]]:
    for member in range(len(here)):
        for ask in WORDS:
            found: list[str] = []
            there = here
            if getattr(ask, "cascade", False) and here[member].job is not None:
                for below in range(len(here) - 1, member, -1):
                    if unfinished(here, below):
                        there = said(there, below, CANCEL, found)
            there = said(there, member, ask, found)
            for above in range(member - 1, -1, -1):
                if there[above].job is not None:
                    there = said(there, above, CHECKPOINT, found)
            found += family_laws(here, member, ask, there)
            yield ask, member, there, found


def said(here: Family, member: int, ask: Any, found: list[str]) -> Family:
    """The family after one transaction on one of them; the laws that it breaks are added to `found`."""
    place = _with_children(here, member)
    token = Token(NEWEST, newest=True) if NEWEST in place.issued else Token()
    if place.job is None and ask.kind != "submit":
        return here
    made = carried_out(World(now=NOW, job=place.job, parent=_parent(here, member), token=token), ask)
    for asked, decision in made:
        found += broken(asked, decision)
    later = after(place, made)
    if later.job is not None:
        later = replace(later, job=replace(later.job, children_unfinished=0))
    return (*here[:member], later, *here[member + 1 :])


def family_laws(here: Family, member: int, ask: Any, there: Family) -> list[str]:
    """What spans jobs."""
    cascades = getattr(ask, "cascade", False) and here[member].job is not None
    below = range(member + 1, len(here))
    running = [n for n in below if _stopped(there[n].job) is False and unfinished(here, n)]
    untouched = all(here[n] == there[n] for n in below)
    born = here[member].job is None and there[member].job is not None
    parent = here[member - 1].job if member else None
    holds = {
        "a cascade leaves nobody below running": not cascades or not running,
        "without a cascade children run on": cascades or untouched,
        "a child joins only an open parent": not born or not member or _is_open(parent),
        "what is asked below never stops what is above": all(
            _stopped(here[n].job) == _stopped(there[n].job) for n in range(member)
        ),
    }
    return [name for name, good in holds.items() if not good]


def unfinished(family: Family, member: int) -> bool:
    """Open without a confirmed stop, or with such a one below."""
    if member == len(family):
        return False
    job = family[member].job
    is_open = job is not None and job.result is Result.OPEN and job.control is not Control.ACKNOWLEDGED
    return is_open or unfinished(family, member + 1)


def _stopped(job: Job | None) -> bool | None:
    """Whether it will start nothing more; None for no job."""
    return None if job is None else job.control is not Control.RUN or job.result is not Result.OPEN


def _is_open(job: Job | None) -> bool:
    return job is not None and job.admitted and job.control is Control.RUN and job.result is Result.OPEN


def _parent(family: Family, member: int) -> Parent | None:
    if not member:
        return None
    above = family[member - 1].job
    return Parent(visible=above is not None, open=_is_open(above), depth=member - 1)


def _with_children(family: Family, member: int) -> Place:
    place = family[member]
    if place.job is None:
        return place
    return replace(place, job=replace(place.job, children_unfinished=int(unfinished(family, member + 1))))


def _key(family: Family) -> tuple[Any, ...]:
    return tuple(place.key() for place in family)
