"""What time brings: the confirmation of a stop, a lapsed lease, the end of a grace, the end of a proposal,
a backup that was restored."""

from runs.protocol.decide import KEPT, Row
from runs.protocol.questions import (
    acknowledged,
    children_unfinished,
    grace_over,
    lapse_leaves_unknown,
    lapse_puts_back,
    no_cancel,
    nothing_to_run,
    otherwise,
    proposal_ends,
    step_out,
    step_unknown,
    tombstone,
)
from runs.protocol.tells import children, unsettled
from runs.protocol.verbs import become_unknown, confirm_stop, doubt, escalate, lapse_back, proposal_becomes

from .worker import NO_JOB

CHECKPOINT = (
    *NO_JOB,
    Row(no_cancel, "run", 200),
    Row(step_out, "inflight", 200, tells=(unsettled,)),
    Row(step_unknown, "unknown", 200, tells=(unsettled,)),
    Row(acknowledged, "acknowledged", 200),
    Row(children_unfinished, "children", 200, tells=(children,)),
    Row(otherwise, "acknowledged", 200, KEPT, (confirm_stop,)),
)

LAPSE = (
    Row(lapse_leaves_unknown, "lapsed", 200, KEPT, (become_unknown,)),
    Row(lapse_puts_back, "lapsed", 200, KEPT, (lapse_back,)),
    Row(otherwise, "not_lapsed", 200),
)

ESCALATE = (
    Row(grace_over, "escalated", 200, KEPT, (escalate,)),
    Row(otherwise, "not_due", 200),
)

RESTORED = (
    *NO_JOB,
    Row(tombstone, "not_admitted", 409),
    Row(nothing_to_run, "closed", 409),
    Row(otherwise, "restored", 200, KEPT, (doubt,)),
)

EXPIRE = (
    Row(proposal_ends, "expired", 200, KEPT, (proposal_becomes("expired"),)),
    Row(otherwise, "not_due", 200),
)
