"""The database itself refuses to change what was written: receipts wholly, grants but for their one
revocation.

Made in `post_migrate`, because a migration that rebuilds a SQLite table drops its triggers without a word.
"""

from typing import Any

from django.db import connections

RECEIPT, GRANT = "runs_receipt", "runs_grant"
KEPT = (  # of a grant: everything but its revocation
    *("id", "tenant_id", "user_id", "group_id", "action", "effect", "scope", "queue", "owner", "job"),
    *("not_before", "expires_at", "reason", "granted_by_id", "granted_at"),
)


POSTGRESQL = f"""
CREATE OR REPLACE FUNCTION cb_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE =
'insufficient_privilege'; END $$;
CREATE OR REPLACE TRIGGER cb_receipt_row BEFORE UPDATE OR DELETE ON {RECEIPT} FOR EACH ROW EXECUTE FUNCTION
cb_refuse();
CREATE OR REPLACE TRIGGER cb_receipt_all BEFORE TRUNCATE ON {RECEIPT} FOR EACH STATEMENT EXECUTE FUNCTION
cb_refuse();
CREATE OR REPLACE TRIGGER cb_grant_row BEFORE DELETE ON {GRANT} FOR EACH ROW EXECUTE FUNCTION cb_refuse();
CREATE OR REPLACE TRIGGER cb_grant_all BEFORE TRUNCATE ON {GRANT} FOR EACH STATEMENT EXECUTE FUNCTION
cb_refuse(); CREATE OR REPLACE TRIGGER cb_grant_once BEFORE UPDATE ON {GRANT} FOR EACH ROW WHEN (
    OLD.revoked_at IS NOT NULL OR NEW.revoked_at IS NULL
    OR ({", ".join(f"OLD.{c}" for c in KEPT)}) IS DISTINCT FROM ({", ".join(f"NEW.{c}" for c in KEPT)})
) EXECUTE FUNCTION cb_refuse();
"""

SQLITE = [
    f"CREATE TRIGGER IF NOT EXISTS cb_receipt_update BEFORE UPDATE ON {RECEIPT} "
    "BEGIN SELECT RAISE(ABORT, 'runs_receipt is append-only: UPDATE refused'); END",
    f"CREATE TRIGGER IF NOT EXISTS cb_receipt_delete BEFORE DELETE ON {RECEIPT} "
    "BEGIN SELECT RAISE(ABORT, 'runs_receipt is append-only: DELETE refused'); END",
    # INSERT OR REPLACE goes past the two above: refuse an insert over what exists.
    f"CREATE TRIGGER IF NOT EXISTS cb_receipt_replace BEFORE INSERT ON {RECEIPT} "
    f"WHEN EXISTS (SELECT 1 FROM {RECEIPT} "
    "WHERE id = NEW.id OR (tenant_id = NEW.tenant_id AND event_id = NEW.event_id) "
    "OR (job_id = NEW.job_id AND seq = NEW.seq)) "
    "BEGIN SELECT RAISE(ABORT, 'runs_receipt is append-only: REPLACE refused'); END",
    f"CREATE TRIGGER IF NOT EXISTS cb_grant_delete BEFORE DELETE ON {GRANT} "
    "BEGIN SELECT RAISE(ABORT, 'runs_grant is append-only: DELETE refused'); END",
    f"CREATE TRIGGER IF NOT EXISTS cb_grant_replace BEFORE INSERT ON {GRANT} "
    f"WHEN EXISTS (SELECT 1 FROM {GRANT} "
    "WHERE id = NEW.id) BEGIN SELECT RAISE(ABORT, 'runs_grant is append-only: REPLACE refused'); END",
    f"CREATE TRIGGER IF NOT EXISTS cb_grant_once BEFORE UPDATE ON {GRANT} WHEN OLD.revoked_at IS NOT NULL "
    f"OR NEW.revoked_at IS NULL OR {' OR '.join(f'OLD.{c} IS NOT NEW.{c}' for c in KEPT)} "
    "BEGIN SELECT RAISE(ABORT, 'runs_grant is append-only: UPDATE refused'); END",
]


def install(using: str = "default", **_: Any) -> None:
    """Create the triggers where they are missing (`post_migrate`, so `using` is the database just
    migrated)."""
    connection = connections[using]
    tables = connection.introspection.table_names()
    if RECEIPT not in tables or GRANT not in tables:
        return  # migrated back to nothing
    with connection.cursor() as cursor:
        for statement in [POSTGRESQL] if connection.vendor == "postgresql" else SQLITE:
            cursor.execute(statement)
