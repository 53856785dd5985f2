"""What people (and verifiers) say: revoke, pause, resume, observe, reconcile, approve, decline, close a
dispute."""

from runs.protocol.decide import KEPT, Row
from runs.protocol.questions import (
    evidence_does_not_count,
    needs_second_person,
    no_holder,
    no_such_step,
    not_disputed,
    not_paused,
    not_stoppable,
    not_to_be_settled,
    otherwise,
    paused,
    proposal_decided,
    proposal_expired,
    proposal_superseded,
    step_settled,
    still_claimed,
    tombstone,
    waits_for_second_person,
)
from runs.protocol.tells import result
from runs.protocol.verbs import (
    close_dispute,
    dispute_if_contradicted,
    pause,
    proposal_becomes,
    resume,
    settle,
    settle_as_proposed,
    take_away_claim,
)

from .worker import KEPT_NO_JOB

REVOKE = (
    *KEPT_NO_JOB,
    Row(no_holder, "no_claim", 409, KEPT),
    Row(otherwise, "revoked", 200, KEPT, (take_away_claim,)),
)

PAUSE = (
    *KEPT_NO_JOB,
    Row(not_stoppable, "too_late", 409, KEPT),
    Row(paused, "already_paused", 200, KEPT),
    Row(otherwise, "paused", 200, KEPT, (pause,)),
)

RESUME = (
    *KEPT_NO_JOB,
    Row(not_stoppable, "too_late", 409, KEPT),
    Row(not_paused, "not_paused", 200, KEPT),
    Row(otherwise, "resumed", 200, KEPT, (resume,)),
)

OBSERVE = (
    *KEPT_NO_JOB,
    Row(tombstone, "not_admitted", 409, KEPT),
    Row(no_such_step, "not_reserved", 409, KEPT),
    Row(otherwise, "observed", 200, KEPT),
)

RECONCILE = (
    *KEPT_NO_JOB,
    Row(tombstone, "not_admitted", 409, KEPT, tells=(result,)),
    Row(not_to_be_settled, "not_reserved", 409, KEPT, tells=(result,)),
    Row(step_settled, "already_settled", 409, KEPT, (dispute_if_contradicted,), (result,)),
    Row(still_claimed, "still_claimed", 409, KEPT, tells=(result,)),
    Row(evidence_does_not_count, "not_evidence", 409, KEPT, tells=(result,)),
    Row(waits_for_second_person, "waiting", 409, KEPT, tells=(result,)),
    Row(needs_second_person, "proposed", 202, KEPT, tells=(result,)),
    Row(otherwise, "settled", 200, KEPT, (settle,), (result,)),
)

APPROVE = (
    *KEPT_NO_JOB,
    Row(proposal_decided, "already_decided", 409, KEPT, tells=(result,)),
    Row(proposal_expired, "expired", 409, KEPT, tells=(result,)),
    Row(proposal_superseded, "superseded", 409, KEPT, tells=(result,)),
    Row(otherwise, "settled", 200, KEPT, (settle_as_proposed, proposal_becomes("approved")), (result,)),
)

DECLINE = (
    *KEPT_NO_JOB,
    Row(proposal_decided, "already_decided", 409, KEPT, tells=(result,)),
    Row(proposal_expired, "expired", 409, KEPT, tells=(result,)),
    Row(proposal_superseded, "superseded", 409, KEPT, tells=(result,)),
    Row(otherwise, "declined", 200, KEPT, (proposal_becomes("declined"),), (result,)),
)

CLOSE_DISPUTE = (
    *KEPT_NO_JOB,
    Row(not_disputed, "not_disputed", 409, KEPT),
    Row(otherwise, "dispute_closed", 200, KEPT, (close_dispute,)),
)
