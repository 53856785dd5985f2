"""The database itself refuses to change what was written: receipts until
they are archived, grants but for their one revocation, operations but for their progress.

Made in `post_migrate`, because a migration that rebuilds a SQLite table drops its triggers without a word.
"""

from typing import Any

from django.db import connections

RECEIPT, GRANT = "runs_receipt", "runs_grant"
OPERATION, LISTED = "runs_operation", "runs_operationjob"
ARCHIVE, ARCHIVED = "runs_archive", "runs_archivedjob"
READING, ALTERATION = "runs_reading", "runs_alteration"
KEPT = (  # of a grant: everything but its revocation
    *("id", "tenant_id", "user_id", "group_id", "action", "effect", "scope", "queue", "owner", "job"),
    *("not_before", "expires_at", "reason", "granted_by_id", "granted_at"),
)
ASKED = (  # of an operation: everything but how far it is
    *("id", "tenant_id", "operation_id", "event_id", "command", "title", "cause", "note", "filter", "jobs"),
    *("by_id", "token_id", "created_at"),
)
PLACE = ("id", "operation_id", "position", "job_ref")  # of a job in its list: everything but its one answer


def changed(columns: tuple[str, ...], unlike: str) -> str:
    return " OR ".join(f"OLD.{column} {unlike} NEW.{column}" for column in columns)


POSTGRESQL = f"""
CREATE OR REPLACE FUNCTION cb_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE =
'insufficient_privilege'; END $$;
CREATE OR REPLACE TRIGGER cb_receipt_row BEFORE UPDATE ON {RECEIPT} FOR EACH ROW EXECUTE FUNCTION cb_refuse();
CREATE OR REPLACE FUNCTION cb_archived() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_user = (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID) AND EXISTS (
        SELECT 1 FROM {ARCHIVED} listed JOIN {ARCHIVE} file ON file.id = listed.archive_id
        WHERE listed.tenant_id = OLD.tenant_id AND listed.job_ref = OLD.job_ref AND listed.seq >= OLD.seq
        AND file.xid <> pg_current_xact_id()::text::bigint
    ) THEN RETURN OLD; END IF;
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE =
'insufficient_privilege';
END $$;
CREATE OR REPLACE TRIGGER cb_receipt_gone BEFORE DELETE ON {RECEIPT} FOR EACH ROW EXECUTE FUNCTION
cb_archived();
CREATE OR REPLACE TRIGGER cb_receipt_all BEFORE TRUNCATE ON {RECEIPT} FOR EACH STATEMENT EXECUTE FUNCTION
cb_refuse();
CREATE OR REPLACE TRIGGER cb_grant_row BEFORE DELETE ON {GRANT} FOR EACH ROW EXECUTE FUNCTION cb_refuse();
CREATE OR REPLACE TRIGGER cb_grant_all BEFORE TRUNCATE ON {GRANT} FOR EACH STATEMENT EXECUTE FUNCTION
cb_refuse(); CREATE OR REPLACE TRIGGER cb_grant_once BEFORE UPDATE ON {GRANT} FOR EACH ROW WHEN (
    OLD.revoked_at IS NOT NULL OR NEW.revoked_at IS NULL
    OR ({", ".join(f"OLD.{c}" for c in KEPT)}) IS DISTINCT FROM ({", ".join(f"NEW.{c}" for c in KEPT)})
) EXECUTE FUNCTION cb_refuse();
CREATE OR REPLACE TRIGGER cb_operation_row BEFORE DELETE ON {OPERATION} FOR EACH ROW EXECUTE FUNCTION
cb_refuse();
CREATE OR REPLACE TRIGGER cb_operation_all BEFORE TRUNCATE ON {OPERATION} FOR EACH STATEMENT EXECUTE FUNCTION
cb_refuse(); CREATE OR REPLACE TRIGGER cb_operation_once BEFORE UPDATE ON {OPERATION} FOR EACH ROW WHEN (
    OLD.state <> 'open' OR {changed(ASKED, "IS DISTINCT FROM")}) EXECUTE FUNCTION cb_refuse();
CREATE OR REPLACE TRIGGER cb_listed_row BEFORE DELETE ON {LISTED} FOR EACH ROW EXECUTE FUNCTION cb_refuse();
CREATE OR REPLACE TRIGGER cb_listed_all BEFORE TRUNCATE ON {LISTED} FOR EACH STATEMENT EXECUTE FUNCTION
cb_refuse(); CREATE OR REPLACE TRIGGER cb_listed_once BEFORE UPDATE ON {LISTED} FOR EACH ROW WHEN (
    OLD.status <> '' OR {changed(PLACE, "IS DISTINCT FROM")}) EXECUTE FUNCTION cb_refuse();
CREATE OR REPLACE TRIGGER cb_archive_row BEFORE UPDATE OR DELETE ON {ARCHIVE} FOR EACH ROW EXECUTE FUNCTION
cb_refuse();
CREATE OR REPLACE TRIGGER cb_archive_all BEFORE TRUNCATE ON {ARCHIVE} FOR EACH STATEMENT EXECUTE FUNCTION
cb_refuse();
CREATE OR REPLACE TRIGGER cb_archived_row BEFORE UPDATE OR DELETE ON {ARCHIVED} FOR EACH ROW EXECUTE FUNCTION
cb_refuse();
CREATE OR REPLACE TRIGGER cb_archived_all BEFORE TRUNCATE ON {ARCHIVED} FOR EACH STATEMENT EXECUTE FUNCTION
cb_refuse();
CREATE OR REPLACE TRIGGER cb_reading_row BEFORE UPDATE OR DELETE ON {READING} FOR EACH ROW EXECUTE FUNCTION
cb_refuse();
CREATE OR REPLACE TRIGGER cb_reading_all BEFORE TRUNCATE ON {READING} FOR EACH STATEMENT EXECUTE FUNCTION
cb_refuse();
CREATE OR REPLACE TRIGGER cb_alteration_row BEFORE UPDATE OR DELETE ON {ALTERATION} FOR EACH ROW EXECUTE
FUNCTION cb_refuse();
CREATE OR REPLACE TRIGGER cb_alteration_all BEFORE TRUNCATE ON {ALTERATION} FOR EACH STATEMENT EXECUTE
FUNCTION cb_refuse();
"""

SQLITE = [
    f"CREATE TRIGGER IF NOT EXISTS cb_receipt_update BEFORE UPDATE ON {RECEIPT} "
    "BEGIN SELECT RAISE(ABORT, 'runs_receipt is append-only: UPDATE refused'); END",
    "DROP TRIGGER IF EXISTS cb_receipt_delete",  # an older one let nothing go
    f"CREATE TRIGGER cb_receipt_delete BEFORE DELETE ON {RECEIPT} WHEN NOT EXISTS (SELECT 1 FROM {ARCHIVED} "
    "WHERE tenant_id = OLD.tenant_id AND job_ref = OLD.job_ref AND seq >= OLD.seq) "
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
    *(
        f"CREATE TRIGGER IF NOT EXISTS {trigger} BEFORE {when} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: {what} refused'); END"
        for trigger, table, what, when in (
            ("cb_operation_delete", OPERATION, "DELETE", f"DELETE ON {OPERATION}"),
            (
                "cb_operation_replace",
                *(OPERATION, "REPLACE"),
                f"INSERT ON {OPERATION} WHEN EXISTS (SELECT 1 FROM {OPERATION} WHERE id = NEW.id)",
            ),
            (
                "cb_operation_once",
                *(OPERATION, "UPDATE"),
                f"UPDATE ON {OPERATION} WHEN OLD.state <> 'open' OR {changed(ASKED, 'IS NOT')}",
            ),
            ("cb_reading_delete", READING, "DELETE", f"DELETE ON {READING}"),
            ("cb_reading_update", READING, "UPDATE", f"UPDATE ON {READING}"),
            (
                "cb_reading_replace",
                *(READING, "REPLACE"),
                f"INSERT ON {READING} WHEN EXISTS (SELECT 1 FROM {READING} WHERE id = NEW.id)",
            ),
            ("cb_alteration_delete", ALTERATION, "DELETE", f"DELETE ON {ALTERATION}"),
            ("cb_alteration_update", ALTERATION, "UPDATE", f"UPDATE ON {ALTERATION}"),
            (
                "cb_alteration_replace",
                *(ALTERATION, "REPLACE"),
                f"INSERT ON {ALTERATION} WHEN EXISTS (SELECT 1 FROM {ALTERATION} WHERE id = NEW.id)",
            ),
            ("cb_listed_delete", LISTED, "DELETE", f"DELETE ON {LISTED}"),
            (
                "cb_listed_replace",
                *(LISTED, "REPLACE"),
                f"INSERT ON {LISTED} WHEN EXISTS (SELECT 1 FROM {LISTED} WHERE id = NEW.id)",
            ),
            (
                "cb_listed_once",
                *(LISTED, "UPDATE"),
                f"UPDATE ON {LISTED} WHEN OLD.status <> '' OR {changed(PLACE, 'IS NOT')}",
            ),
            *(
                (f"cb_{short}_{word.lower()}", table, word, f"{word} ON {table}")
                for short, table in (("archive", ARCHIVE), ("archived", ARCHIVED))
                for word in ("UPDATE", "DELETE")
            ),
        )
    ),
]


def install(using: str = "default", **_: Any) -> None:
    """Create the triggers where they are missing (`post_migrate`, so `using` is the database just
    migrated)."""
    connection = connections[using]
    tables = connection.introspection.table_names()
    if not {RECEIPT, GRANT, OPERATION, LISTED, ARCHIVE, ARCHIVED, READING, ALTERATION} <= set(tables):
        return  # migrated back
    with connection.cursor() as cursor:
        for statement in [POSTGRESQL] if connection.vendor == "postgresql" else SQLITE:
            cursor.execute(statement)
