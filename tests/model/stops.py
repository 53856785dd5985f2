"""Beginnings and ends, row by row as in PROTOCOL.md §4, §9, §11: submit, cancel, checkpoint, seal.

Each takes (world, job, ask) and returns a Verdict; `job` is None for an unknown job. How a cascade
goes down is world.py's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .asks import Ask, generation, read_spec
from .state import Cancel, Job, Step, Verdict

if TYPE_CHECKING:
    from .world import World


def submit(world: World, job: Job | None, ask: Ask) -> Verdict:
    assert ask.job_id is not None
    spec = read_spec(ask.spec)
    told = {"spec_digest": spec.digest}
    if job is not None and job.spec.digest != spec.digest:
        return Verdict("conflict", 409)
    if job is not None and not job.admitted:
        return Verdict("blocked_cancelled", 409, replace(job, blocked=job.blocked + 1))
    if job is not None:
        return Verdict("existing", fields=told)
    if generation(ask.job_id) <= world.sealed:
        return Verdict("sealed", 409)
    if wrong_queue(world, ask.job_id, spec.queue):
        return Verdict("wrong_queue", 409)
    if spec.parent is not None:
        parent = world.jobs.get(spec.parent)
        if parent is None:
            return Verdict("parent_missing", 409)
        if not parent.admitted or parent.control != "run" or parent.result != "open":
            return Verdict("parent_closed", 409)
        if depth(world, parent) + 1 > 8:
            return Verdict("too_deep", 409)
    new = Job(ask.job_id, spec, True, (Step(),) * spec.size)
    return Verdict("admitted", 201, new, kept=True, fields=told)


def wrong_queue(world: World, job_id: str, queue: str) -> bool:
    """The id's prefix belongs to another queue, or the queue has one and the id lacks it."""
    own = world.queues[queue].id_prefix
    foreign = any(
        each.id_prefix and job_id.startswith(each.id_prefix)
        for name, each in world.queues.items()
        if name != queue
    )
    return foreign or bool(own and not job_id.startswith(own))


def depth(world: World, job: Job) -> int:
    """Ancestors above an admitted job; admitted jobs form no ring."""
    return 0 if job.spec.parent is None else 1 + depth(world, world.jobs[job.spec.parent])


def cancel(world: World, job: Job | None, ask: Ask) -> Verdict:
    assert ask.job_id is not None
    if job is None:
        if ask.spec is None:
            return Verdict("spec_required", 422)
        spec = read_spec(ask.spec)
        if wrong_queue(world, ask.job_id, spec.queue):
            return Verdict("wrong_queue", 409, kept=True)
        stone = Job(ask.job_id, spec, False, (Step(),) * spec.size, control="acknowledged")
        return Verdict("tombstoned", 201, replace(stone, cancel=accepted(stone, ask)), kept=True)
    told: dict[str, Any] = {"cascaded": len(world.unfinished_below(job.job_id)) if ask.cascade else 0}
    if job.spec.digest != ask.digest:
        return Verdict("spec_conflict", 409, kept=True, fields=told)
    if job.control != "run":
        return Verdict("already_requested", kept=True, fields=told)
    if job.result != "open":
        return Verdict("too_late", job=replace(job, too_late=True), kept=True, fields=told)
    after = replace(job, control="requested", cancel=accepted(job, ask))
    return Verdict("requested", 202, after, kept=True, fields=told)


def accepted(job: Job, ask: Ask) -> Cancel:
    return Cancel(job.seq + 1, ask.named_cause, ask.now + ask.grace_seconds)


def checkpoint(world: World, job: Job, ask: Ask) -> Verdict:
    """Only says how things are: a job that can be acknowledged has been, by the command that made it so.

    The row `acknowledged` ✎ is reached after `World.command`, which leaves ancestors behind.
    """
    if job.control == "run":
        return Verdict("run")
    if job.control == "acknowledged":
        return Verdict("acknowledged")
    ordinal = job.unsettled()
    if ordinal is not None:
        return Verdict(job.steps[ordinal].state, fields={"ordinal": ordinal})
    if (count := world.children_unfinished(job.job_id)) > 0:
        return Verdict("children", fields={"children": count})
    return Verdict("acknowledged", job=replace(job, control="acknowledged"), kept=True)


def seal(world: World, job: Job | None, ask: Ask) -> Verdict:
    """The new number is set by world.py, for it belongs to the tenant and not to a job."""
    if ask.generation <= world.sealed:
        return Verdict("already_sealed", kept=True, fields={"sealed_generation": world.sealed})
    return Verdict("sealed", kept=True, fields={"sealed_generation": ask.generation})
