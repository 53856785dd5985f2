"""Seeded scripts of commands that go deep: the author plays along on a model and asks for what fits, or not.

A script is fixed by its seed alone, never by what a server answers.
`OVER_HTTP` holds no moves of the clock: every claim is long, and is taken over by revoke. `WITH_CLOCK` lets
time pass (kinds `wait` and `settle`, which are not commands) and seals generations: a tenant for each script.
"""

from __future__ import annotations

import random
from dataclasses import replace

from .asks import BODY
from .bodies import Bodies
from .commands import CLOCK, Command, play
from .state import Job

WORKER = ("claim", "heartbeat", "reserve", "dispatch", "report", "release", "checkpoint", "submit")

#: How often each kind is asked for where nothing speaks for it.
OVER_HTTP = {
    kind: weight
    for weight, kinds in {
        12: "report",
        6: "claim reserve dispatch reconcile",
        5: "submit",
        3: "cancel heartbeat release checkpoint revoke observe close_dispute",
        2: "pause resume approve decline",
    }.items()
    for kind in kinds.split()
}
WITH_CLOCK = OVER_HTTP | {"wait": 6, "settle": 5, "seal": 1}


def script(seed: int, length: int = 60, weights: dict[str, int] = OVER_HTTP, run: str = "r") -> list[Command]:
    """`length` commands; ids begin with `run` and hold the seed, so scripts can share a tenant (no seals)."""
    rng = random.Random(f"{run}/{seed}")
    author = Author(rng, weights, f"{run}{seed}")
    return [author.next() for _ in range(length)]


class Author:
    """Writes one script, with a model at hand to know what would fit."""

    def __init__(self, rng: random.Random, weights: dict[str, int], run: str):
        self.rng, self.weights, self.run = rng, weights, run
        self.written: list[Command] = []
        self.events = 0
        self.bodies = Bodies(rng, run, clock="wait" in weights)
        self.world, self.specs = self.bodies.world, self.bodies.specs

    def next(self) -> Command:
        draw = self.rng.random()
        asked_by_id = [command for command in self.written if command.kind in BODY]
        if self.written and draw < 0.2:
            command = self.rng.choice(self.written[-12:] if draw < 0.12 else self.written)
        elif asked_by_id and draw < 0.24:
            used = self.rng.choice(asked_by_id).fields["event_id"]
            command = self.fresh(self.rng.choice([kind for kind in BODY if kind in self.weights]))
            command = replace(command, fields=command.fields | {"event_id": used})
        else:
            command = self.fresh(None)
        play(command, self.world)
        self.written.append(command)
        return command

    def fresh(self, kind: str | None) -> Command:
        job_id = self.rng.choice([*self.specs, *self.alive() * 3])
        job = self.world.jobs.get(job_id)
        if kind is None and self.rng.random() < 0.7:
            kind = self.rng.choice([each for each in self.apt(job) if each in self.weights])
        if kind is None:
            kind = self.rng.choices(tuple(self.weights), tuple(self.weights.values()))[0]
        body = self.bodies.write(kind, job_id, job)
        if kind in BODY:
            self.events += 1
            body = {"event_id": f"{self.run}:{self.events}"} | body
        who = self.rng.choice(("w1", "w2") if kind in WORKER else ("p1", "p2"))
        return Command(kind, None if kind in (*CLOCK, "seal") else job_id, who, body)

    def alive(self) -> list[str]:
        """Jobs with something left to happen, parents before their children."""
        jobs = self.world.jobs
        known = [key for key, job in jobs.items() if job.result == "open" and job.control != "acknowledged"]
        new = [key for key, spec in self.specs.items() if key not in jobs and spec["parent"] in (None, *jobs)]
        return known + new

    def apt(self, job: Job | None) -> list[str]:
        """Kinds that would lead on from here."""
        if job is None:
            return ["submit"] * 12 + ["cancel"]
        if not job.admitted:
            return ["submit", "cancel", "report", "checkpoint"]
        disputed = ["close_dispute", "reconcile"] if any(step.disputed for step in job.steps) else []
        deciding = ["approve", "approve", "decline"] if job.proposals else []
        return disputed + deciding + self.onward(job)

    def onward(self, job: Job) -> list[str]:
        out = job.unsettled()
        halts = ["revoke", "cancel", "checkpoint", "reconcile", "wait", "settle"]
        if job.result != "open" or job.control == "acknowledged":
            return ["report", "reconcile", "observe", "heartbeat", "revoke", "cancel"]
        if job.paused is not None and job.control == "run":
            return ["resume", "heartbeat", "report"]
        if out is None and job.control != "run":
            return ["checkpoint", "reserve", "cancel", "heartbeat", "pause"]
        if out is None and job.claim is None:
            return ["claim", "claim", "report"]
        if out is None:
            return ["reserve"] * 6 + ["report", "report", self.rng.choice(["pause", *halts])]
        if job.steps[out].state == "unknown":
            return ["reconcile", "report"] * 3 + [
                "revoke",
                "claim",
                "cancel",
                "checkpoint",
                "reserve",
                "wait",
            ]
        if job.marked and not job.steps[out].dispatched:
            return ["dispatch"] * 4 + ["reserve", "report", "release", *halts]
        return ["report"] * 5 + ["reserve", "dispatch", "release", *halts]
