"""What a worker says: claim, heartbeat, reserve, dispatch, report, release.

An answer 200 under the newest token renews the lease; section 4 calls such a command accepted.
"""

from runs.protocol.decide import KEPT, NOTHING, Row
from runs.protocol.questions import (
    claim_live,
    evidence_does_not_count,
    marked_by_this_attempt,
    may_have_been_sent,
    next_step_disputed,
    no_such_step,
    not_running,
    nothing_to_run,
    otherwise,
    paused,
    reserved_by_this_attempt,
    reserved_under_another_attempt,
    result_final,
    says_unknown,
    sealed_away,
    step_marked,
    step_not_inflight,
    step_out,
    step_pending,
    step_settled,
    step_unknown,
    token_never_issued,
    token_stale,
    tombstone,
    unknown_job,
    unmarked_job,
)
from runs.protocol.tells import (
    cancel_cause,
    control,
    fence,
    handed_out,
    held_by,
    lease,
    lost_by,
    out_now,
    result,
    signal,
    stop_signal,
)
from runs.protocol.tells import paused as tell_paused
from runs.protocol.verbs import (
    become_unknown,
    dispute,
    dispute_if_contradicted,
    hand_out,
    mark,
    put_back,
    renew_lease,
    said_unknown,
    settle,
    take_claim,
    take_heard,
    testify,
)

NO_JOB = (Row(sealed_away, "sealed", 409), Row(unknown_job, "not_found", 404))
KEPT_NO_JOB = (Row(sealed_away, "sealed", 409, KEPT), Row(unknown_job, "not_found", 404))

CLAIM = (
    *NO_JOB,
    Row(tombstone, "not_admitted", 409),
    Row(nothing_to_run, "closed", 409),
    Row(claim_live, "claim_held", 409, tells=(held_by,)),
    Row(otherwise, "claimed", 200, KEPT, (take_claim,), (fence,)),
)

HEARTBEAT = (
    *NO_JOB,
    Row(token_stale, "claim_lost", 409, tells=(lost_by,)),
    Row(nothing_to_run, "closed", 200, NOTHING, (take_heard,), (control, tell_paused, stop_signal, lease)),
    Row(otherwise, "ok", 200, NOTHING, (renew_lease, take_heard), (control, tell_paused, signal, lease)),
)

RESERVE = (
    *NO_JOB,
    Row(token_stale, "claim_lost", 409, tells=(lost_by,)),
    Row(reserved_by_this_attempt, "reserved", 200, NOTHING, (renew_lease,), (handed_out,), replayed=True),
    Row(step_out, "inflight", 200, NOTHING, (renew_lease,), (out_now,)),
    Row(step_unknown, "unknown", 200, NOTHING, (renew_lease,), (out_now,)),
    Row(result_final, "finished", 200),
    Row(not_running, "cancelled", 200, NOTHING, (renew_lease,), (cancel_cause,)),
    Row(paused, "paused", 200, NOTHING, (renew_lease,)),
    Row(next_step_disputed, "disputed", 200, NOTHING, (renew_lease,)),
    Row(otherwise, "reserved", 200, KEPT, (hand_out, renew_lease), (handed_out,)),
)

DISPATCH = (
    *NO_JOB,
    Row(token_stale, "claim_lost", 409, tells=(lost_by,)),
    Row(unmarked_job, "unmarked", 409),
    Row(step_not_inflight, "not_reserved", 409),
    Row(reserved_under_another_attempt, "not_reserved", 409),
    Row(marked_by_this_attempt, "dispatched", 200, NOTHING, (renew_lease,), replayed=True),
    Row(step_marked, "already_dispatched", 409),
    Row(not_running, "cancelled", 200, KEPT, (put_back, renew_lease), (cancel_cause,)),
    Row(otherwise, "dispatched", 200, KEPT, (mark, renew_lease)),
)

REPORT = (
    Row(sealed_away, "sealed", 409, KEPT),
    Row(unknown_job, "not_admitted", 409, KEPT),
    Row(tombstone, "not_admitted", 409, KEPT, tells=(result,)),
    Row(token_never_issued, "claim_lost", 409, KEPT, tells=(result, lost_by)),
    Row(no_such_step, "not_reserved", 409, KEPT, tells=(result,)),
    Row(may_have_been_sent, "fenced", 409, KEPT, (testify, dispute), (result,)),
    Row(step_pending, "not_reserved", 409, KEPT, tells=(result,)),
    Row(step_settled, "already_settled", 409, KEPT, (dispute_if_contradicted,), (result,)),
    Row(token_stale, "fenced", 409, KEPT, (testify,), (result,)),
    Row(says_unknown, "unresolved", 200, KEPT, (become_unknown, said_unknown, renew_lease), (result,)),
    Row(evidence_does_not_count, "not_evidence", 409, KEPT, tells=(result,)),
    Row(otherwise, "settled", 200, KEPT, (settle, renew_lease), (result,)),
)

RELEASE = (
    *KEPT_NO_JOB,
    Row(token_stale, "claim_lost", 409, KEPT, tells=(lost_by,)),
    Row(unmarked_job, "unmarked", 409, KEPT),
    Row(step_not_inflight, "not_reserved", 409, KEPT),
    Row(step_marked, "already_dispatched", 409, KEPT),
    Row(otherwise, "released", 200, KEPT, (put_back, renew_lease)),
)
