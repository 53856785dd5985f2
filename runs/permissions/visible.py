"""The decision's steps 1 to 4 as one SQL condition, for lists, counts, charts, search, exports and sockets.

Equal to `Rights.judge()` row by row: tests/permissions proves it on random grants. Plain SQL, because Django
takes longer to build this than a database to answer it. No sub-select names a column of the row, so each is
worked out once for the whole list.
"""

import re
from datetime import datetime
from typing import Any, TypeVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, F, Func, Model, QuerySet
from django.db.models.sql.compiler import SQLCompiler

from .actor import Actor
from .terms import BARRED, TENANT_WIDE, Action

Row = TypeVar("Row", bound=Model)

#: Step 1 and 2. `{words}` is the engine's function that makes rows of a JSON list.
PRINCIPAL = """EXISTS (SELECT 1 FROM runs_user
    WHERE id = :user AND tenant_id = :tenant AND is_active AND kind <> :barred)"""
CEILING = """EXISTS (SELECT 1 FROM runs_token AS t, {words}(t.actions) AS word WHERE t.id = :token
    AND t.user_id = :user AND t.revoked_at IS NULL AND t.expires_at > :now AND word.value = :action)"""
ALL_QUEUES = "EXISTS (SELECT 1 FROM runs_token WHERE id = :token AND queues = '[]')"
THIS_QUEUE = """{queue} IN
    (SELECT word.value FROM runs_token AS t, {words}(t.queues) AS word WHERE t.id = :token)"""
WORDS = {"sqlite": "json_each", "postgresql": "jsonb_array_elements_text"}

#: Step 3 with the effect `deny`, step 4 with `allow`.
GRANTS = """FROM runs_grant WHERE effect = '{effect}' AND tenant_id = :tenant AND action = :action
    AND revoked_at IS NULL AND not_before <= :now AND (expires_at IS NULL OR expires_at > :now)
    AND (user_id = :user OR group_id IN (SELECT group_id FROM runs_user_groups WHERE user_id = :user))"""
TENANT = f"EXISTS (SELECT 1 {GRANTS} AND scope = 'tenant')"
NARROWER = f"""{{queue}} IN (SELECT queue {GRANTS} AND scope = 'queue')
    OR {{owner}} IN (SELECT owner {GRANTS} AND scope = 'owner')
    OR {{owner}} IN (SELECT owner_key FROM runs_user
        WHERE id = :user AND owner_key <> '' AND EXISTS (SELECT 1 {GRANTS} AND scope = 'self'))
    OR {{job}} IN (SELECT job {GRANTS} AND scope = 'job')"""  # noqa: S608  # constants of this file


def visible(
    rows: QuerySet[Row], actor: Actor, now: datetime, action: Action = Action.VIEW, prefix: str = ""
) -> QuerySet[Row]:
    """The `rows` on whose job the actor may do `action` at `now`, still as one statement.

    `rows` are jobs, or belong to one that `prefix` leads to ("job__"). Rows without a job are left out.
    """
    rows = rows.filter(**{f"{prefix}tenant_id": actor.tenant_id})
    return rows if actor.user_id is None else rows.filter(May(actor, now, action, prefix))


class May(Func):
    """True where the actor may do the action to the row's job, by steps 1 to 4."""

    output_field = BooleanField()

    def __init__(self, actor: Actor, now: datetime, action: Action, prefix: str = "") -> None:
        super().__init__(F(f"{prefix}queue"), F(f"{prefix}owner"), F(f"{prefix}job_id"))
        self.condition = condition(action, by_token=actor.token_id is not None)
        self.now = now
        self.values = {
            "user": actor.user_id,
            "tenant": actor.tenant_id,
            "token": actor.token_id,
            "action": str(action),
            "barred": str(BARRED.get(action, "")),
        }

    def as_sql(  # type: ignore[override]  # Func's takes a template, which this has none of
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> tuple[str, list[Any]]:
        queue, owner, job = (compiler.compile(column)[0] for column in self.get_source_expressions())
        sql = self.condition.format(queue=queue, owner=owner, job=job, words=WORDS[connection.vendor])
        values = {**self.values, "now": connection.ops.adapt_datetimefield_value(self.now)}
        names = re.findall(r":(\w+)", sql)
        return re.sub(r":\w+", "%s", sql), [values[name] for name in names]


def condition(action: Action, *, by_token: bool) -> str:
    """The SQL, with names for its values and braces for what the row and the engine fill in."""
    wide = action in TENANT_WIDE
    reached = TENANT if wide else f"({TENANT} OR {NARROWER})"
    parts = [PRINCIPAL]
    if by_token:
        parts += [CEILING, ALL_QUEUES if wide else f"({ALL_QUEUES} OR {THIS_QUEUE})"]
    parts += [reached.replace("{effect}", "allow"), f"NOT {reached.replace('{effect}', 'deny')}"]
    return "(" + " AND ".join(parts) + ")"
