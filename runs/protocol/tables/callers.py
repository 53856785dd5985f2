"""What the one who wants the work says: submit, cancel, seal."""

from runs.protocol.decide import KEPT, Row
from runs.protocol.questions import (
    already_sealed,
    another_spec,
    known,
    not_running,
    only_a_digest,
    otherwise,
    parent_closed,
    parent_missing,
    result_final,
    sealed_away,
    tombstone,
    too_deep,
    unknown_job,
    wrong_queue,
)
from runs.protocol.tells import cascaded, sealed_generation, spec_digest
from runs.protocol.verbs import bury, count_blocked, raise_seal, remember_too_late, request_stop, store

SUBMIT = (
    Row(another_spec, "conflict", 409, tells=(spec_digest,)),
    Row(tombstone, "blocked_cancelled", 409, then=(count_blocked,), tells=(spec_digest,)),
    Row(known, "existing", 200, tells=(spec_digest,)),
    Row(sealed_away, "sealed", 409, tells=(spec_digest,)),
    Row(wrong_queue, "wrong_queue", 409, tells=(spec_digest,)),
    Row(parent_missing, "parent_missing", 409, tells=(spec_digest,)),
    Row(parent_closed, "parent_closed", 409, tells=(spec_digest,)),
    Row(too_deep, "too_deep", 409, tells=(spec_digest,)),
    Row(otherwise, "admitted", 201, KEPT, (store,), (spec_digest,)),
)

CANCEL = (
    Row(sealed_away, "sealed", 409, KEPT, tells=(cascaded,)),
    Row(only_a_digest, "spec_required", 422, tells=(cascaded,)),
    Row(wrong_queue, "wrong_queue", 409, KEPT, tells=(cascaded,)),
    Row(unknown_job, "tombstoned", 201, KEPT, (bury,), (cascaded,)),
    Row(another_spec, "spec_conflict", 409, KEPT, tells=(cascaded,)),
    Row(not_running, "already_requested", 200, KEPT, tells=(cascaded,)),
    Row(result_final, "too_late", 200, KEPT, (remember_too_late,), (cascaded,)),
    Row(otherwise, "requested", 202, KEPT, (request_stop,), (cascaded,)),
)

SEAL = (
    Row(already_sealed, "already_sealed", 200, KEPT, tells=(sealed_generation,)),
    Row(otherwise, "sealed", 200, KEPT, (raise_seal,), (sealed_generation,)),
)
