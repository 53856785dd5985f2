"""Alerts: who is told when a step stays unknown past its queue's limit (docs/protocol.md, section 10).

    due         which steps are past which threshold: one row for each, made once, whoever comes first
    channels    the log, e-mail, a signed webhook: how each is told, without the database

A threshold is so many times the limit. Of those that a step has passed unnoticed only the last is told. What
waits to be told is kept in the database and tried again with back-off, so that a restart forgets nothing; a
step that was settled meanwhile needs no alert. Whoever is killed between telling and noting it has it told
again: each alert has an id that stays the same.
"""

from .channels import configured, tell
from .due import Batch, mark, raise_due, take

__all__ = ["Batch", "configured", "mark", "raise_due", "take", "tell"]
