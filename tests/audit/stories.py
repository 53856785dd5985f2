"""Short stories that leave every kind of receipt and every state of a job behind."""

from .cast import CONFIRMED, REFUSED, Story, spec


def completed(story: Story) -> None:
    """Two steps, an observation, a pause between them, a cancel that comes too late, twice."""
    job = "completed"
    story.begin(job)
    story("sam", job, "observe", ordinal=0, note="not there yet", evidence=CONFIRMED)
    story.report(job, 0, "ok", value="250 queued")
    story("lena", job, "pause", cause="paused_by_user")
    story("lena", job, "pause")
    story("lena", job, "resume")
    story("w1", job, "reserve", attempt="a2")
    story.report(job, 1, "ok", value="")
    digest = spec().digest
    story(
        "lena",
        job,
        "cancel",
        spec_digest=digest,
        cause="user_requested",
        note="stop!",
        asked_by="the customer",
    )
    story("lena", job, "cancel", spec_digest=digest)
    story("lena", job, "pause")


def failed(story: Story) -> None:
    story.begin("failed")
    story.report("failed", 0, "rejected", value="550 no such user")
    story("sam", "failed", "reconcile", ordinal=0, outcome="ok", value="250", evidence=CONFIRMED)


def stopped(story: Story) -> None:
    """A cancel while a step is out, whose late success is kept; then the stop is confirmed."""
    story.begin("stopped")
    story("lena", "stopped", "cancel", spec_digest=spec().digest, cause="user_requested", grace_seconds=0)
    story("system", "stopped", "escalate")
    story("lena", "stopped", "cancel", spec_digest=spec("something else").digest)
    story("lena", "stopped", "cancel", spec_digest=spec().digest)
    assert story.report("stopped", 0, "ok", value="late").status == "settled"


def buried(story: Story) -> None:
    story("lena", "buried", "cancel", spec=spec(), cause="task_deleted")
    story.submit("buried")
    story("app", "buried", "cancel", spec=spec("another"))
    story("lena", "buried", "revoke")


def disputed(story: Story) -> None:
    """A claim is taken over; the old worker's word is testimony, and the receiver's contradicts it. Twice."""
    old = story.begin("disputed")
    story.later(minutes=5)
    story.claim("disputed", "w2")
    story.report("disputed", 0, "ok", claim=old, value="sent by w1")
    story("sam", "disputed", "reconcile", ordinal=0, outcome="rejected", evidence=CONFIRMED)
    story("sam", "disputed", "reconcile", ordinal=0, outcome="ok", value="seen by sam", evidence=CONFIRMED)
    story("lena", "disputed", "close_dispute", ordinal=0, note="both mean the same message")
    story.report("disputed", 0, "rejected", "w2")


def in_dispute_before_it_ran(story: Story) -> None:
    """A marked step went back to pending; its old worker says it was sent after all; somebody settles it."""
    job = "doubted"
    old = story.begin(job, dispatch="marked")
    story("lena", job, "revoke", cause="operator_requested", note="stuck")
    story.report(job, 0, "ok", claim=old)
    story.claim(job, "w2")
    assert story("w2", job, "reserve").status == "disputed"
    story("sam", job, "reconcile", ordinal=0, outcome="ok", value="it was sent", evidence=CONFIRMED)


def marked(story: Story) -> None:
    """Released once, marked and reported; then reported without a mark; then a stop refuses the mark."""
    job = "marked"
    story.begin(job, "one", "two", "three", dispatch="marked")
    story("w1", job, "release", ordinal=0)
    story("w1", job, "reserve", attempt="a1")
    story("w1", job, "dispatch", ordinal=0, attempt="a1")
    story("w1", job, "release", ordinal=0)
    story.report(job, 0, "ok")
    story("w1", job, "reserve", attempt="a2")
    story.report(job, 1, "ok", value="no mark")
    story("w1", job, "reserve", attempt="a3")
    story("lena", job, "cancel", spec_digest=spec("one", "two", "three", dispatch="marked").digest)
    assert story("w1", job, "dispatch", ordinal=2, attempt="a3").status == "cancelled"


def lapsed(story: Story) -> None:
    """Leases that end over an unmarked step, and over one that a stop keeps from being marked."""
    story.begin("lapsed")
    late = story.begin("lapsed-back", dispatch="marked")
    story("lena", "lapsed-back", "cancel", spec_digest=spec(dispatch="marked").digest)
    story.later(minutes=5)
    story("system", "lapsed", "lapse")
    assert story("system", "lapsed-back", "lapse").status == "lapsed"
    story.report("lapsed-back", 0, "unknown", claim=late)
    story.report("lapsed", 0, "unknown")


def proposed(story: Story) -> None:
    """Two people: approved, declined, withdrawn, expired; one waits. And a verifier, who needs no second."""
    for job in ("approved", "declined", "withdrawn", "expired", "waiting", "verified"):
        story.begin(job, queue="books")
        story.report(job, 0, "unknown")
        if job == "verified":
            story("verifier", job, "reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED)
            continue
        entered = {"ordinal": 0, "outcome": "rejected", "value": "550", "evidence": REFUSED}
        proposal = story("sam", job, "reconcile", **entered).fields["proposal"]
        if job == "approved":
            story("lena", job, "approve", proposal=proposal, note="seen")
            story("lena", job, "approve", proposal=proposal)
        elif job == "declined":
            story("lena", job, "decline", proposal=proposal)
        elif job == "withdrawn":
            story("sam", job, "decline", proposal=proposal)
        elif job == "expired":
            story.later(hours=25)
            story("lena", job, "approve", proposal=proposal)
            story("system", job, "expire", proposal=proposal)


def family(story: Story) -> None:
    """A parent whose stop waits for its child's."""
    story.submit("parent")
    story.submit("child", parent="parent")
    story("lena", "parent", "cancel", spec_digest=spec().digest)
    story("lena", "child", "cancel", spec_digest=spec(parent="parent").digest)


def young(story: Story) -> None:
    story.submit("ready", "one", "two", "three")
    story.submit("paused")
    story("lena", "paused", "pause", cause="paused_on_reload")
    story.begin("held")


def alone(story: Story) -> None:
    """Receipts without a job."""
    story("app", None, "seal", generation=7)
    story("lena", "order-1@3", "cancel", spec=spec())
    story("w1", "nobody", "report", claim="1-x", ordinal=0, outcome="unknown")


def restored(story: Story) -> None:
    """A backup comes back: the step that is out is unknown now, and so is one that nobody held."""
    at = "2026-11-29T12:00:00.000000Z"
    story.begin("restored")
    story("system", "restored", "restored", at=at)
    story.submit("restored-ready")
    story("system", "restored-ready", "restored", at=at)


STOPS = (completed, failed, stopped, buried, family)
DOUBTS = (disputed, in_dispute_before_it_ran, marked, lapsed, proposed)
ALL = (*STOPS, *DOUBTS, young, restored, alone)  # the last one seals what is not yet known


def tell_all(story: Story) -> None:
    for tell in ALL:
        tell(story)
