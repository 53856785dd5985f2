"""Mutants written by hand: what a hurried change could break, and the tests that are about it.

Each is an exact text of the code and what stands there instead; where that text has changed, the runner (and
a test) says so. First the spine with its locks and clock, then replays, rights, what is written, the fence
and other questions of the protocol, the database, and who looks after all of it: audit and certificates.
"""

from .mutant import Mutant, Selection

LOCKED, SPINE, WRITE, ROWS = (f"runs/commands/{name}.py" for name in ("locked", "spine", "write", "rows"))
QUESTIONS, DATABASE = "runs/protocol/questions.py", "cancelboard/database.py"


def files(*arguments: str, db: str = "sqlite") -> Selection:
    return Selection(tuple(arguments), db)


REPLAY = files("tests/commands/test_replays.py")
TIME = files("tests/commands/test_time.py")
PROPOSALS = files("tests/commands/test_proposals.py")
TWO_PEOPLE = files("tests/commands/test_two_people.py")
CHILDREN = files("tests/commands/test_children.py")
LOCKS, LOCKS_PG = (files("tests/commands/test_locks.py", db=db) for db in ("sqlite", "postgres"))
RIGHTS = files("tests/api/test_who.py")
WHO = files("tests/commands/test_who.py")
BLOCKING = files("tests/permissions/test_blocking.py")
JOBS = files("tests/api/test_jobs.py")
BAD_INPUT = files("tests/api/test_bad_input.py", "-k", "refused_by_name")
CUT = files("tests/faults/test_commands.py", "-k", "cut_at_any")
ANCESTOR = files("tests/faults/test_commands.py", "-k", "ancestor")
PROTOCOL = Selection(("tests/protocol", "--ignore=tests/protocol/test_search.py"))
CONNECTION, CONNECTION_PG = (
    files("tests/project/test_databases.py", "-k", "durable or write_lock", db=db)
    for db in ("sqlite", "postgres")
)
TRIGGERS, TRIGGERS_PG = (files("tests/project/test_triggers.py", db=db) for db in ("sqlite", "postgres"))
AUDIT = files("tests/audit/test_clean.py", "tests/audit/test_receipts.py")
ROWS_AUDITED = files("tests/audit/test_rows.py")
CERTIFICATE = files("tests/audit/test_certificate.py", "tests/api/test_certificate.py")


def races(words: str, db: str = "postgres") -> Selection:
    return Selection(("tests/races/test_pairs.py", "-k", words), db)


JOB_LOCK = "row = plain.first(Job, ONE, actor.tenant_id, job_id, lock=True)"
PARENT_LOCK = "parent = plain.first(Job, ONE, actor.tenant_id, ask.spec.parent, lock=True)"
TENANT_LOCK = '(lock_exclusive if ask.kind == "seal" else lock_shared)(actor.tenant_id)'
ORDER = """        at.authorise()
        at.look()
        return write.replay(at) or _decided(at, ask), at
"""
SAME = "same = (earlier.kind, earlier.job_ref, canonical(kept)) == (at.ask.kind, at.job_id, asked)"
HIDDEN = "same = same and not (at.hidden and earlier.job_id)"
SAVE = "rows.save(at.row, at.steps, decision.after.at, at.now, actor)"

SPINE_AND_LOCKS = [
    Mutant("no lock of the job", LOCKED, JOB_LOCK, JOB_LOCK.replace(", lock=True", ""), LOCKS_PG),
    Mutant(
        "no lock of the parent",
        LOCKED,
        PARENT_LOCK,
        PARENT_LOCK.replace(", lock=True", ""),
        races("child and parent"),
    ),
    Mutant(
        "no locks below, for a cascade",
        "runs/commands/below.py",
        "tenant_id, *parents, lock=True",
        "tenant_id, *parents",
        LOCKS_PG,
    ),
    Mutant("no lock of the tenant", LOCKED, TENANT_LOCK, "pass", LOCKS_PG),
    Mutant(
        "a seal that shares the tenant's lock", LOCKED, TENANT_LOCK, "lock_shared(actor.tenant_id)", LOCKS_PG
    ),
    Mutant(
        "rights read before the locks",
        LOCKED,
        f"    {TENANT_LOCK}\n",
        f"    standing = (lambda early: lambda *_: early)(globals()['standing'](actor))\n    {TENANT_LOCK}\n",
        LOCKS_PG,
    ),
    Mutant(
        "the clock read before the locks",
        LOCKED,
        f"    {TENANT_LOCK}\n",
        "    early = globals()['standing'](actor)\n"
        "    standing = lambda *_: early._replace(rights=globals()['standing'](actor).rights)\n"
        f"    {TENANT_LOCK}\n",
        LOCKS,
    ),
    Mutant(
        "time before the last receipt",
        LOCKED,
        "now = max(now, *(each.updated_at for each in (row, *below)))",
        "pass",
        TIME,
    ),
    Mutant("one try only", SPINE, "TRIES = 6", "TRIES = 1", races("tombstone or submit")),
    Mutant(
        "a lost race for a name is a fault",
        SPINE,
        'if getattr(error.__cause__, "sqlstate", None) == UNIQUE:',
        "if False:",
        races("tombstone or submit"),
    ),
    Mutant("not durable", SPINE, "transaction.atomic(durable=True)", "transaction.atomic()", LOCKS),
    Mutant(
        "SQLite takes no lock at BEGIN",
        DATABASE,
        '"transaction_mode": "IMMEDIATE"',
        '"transaction_mode": "DEFERRED"',
        CONNECTION,
    ),
    Mutant("SQLite commits without a flush", DATABASE, "synchronous=FULL", "synchronous=NORMAL", CONNECTION),
    Mutant(
        "PostgreSQL commits without a flush",
        DATABASE,
        '"synchronous_commit": "on"',
        '"synchronous_commit": "off"',
        CONNECTION_PG,
    ),
    Mutant(
        "no end to a wait for a lock", DATABASE, '"lock_timeout": "5s"', '"lock_timeout": "0"', CONNECTION_PG
    ),
    Mutant("no lapse before a reconcile", SPINE, "        if lapse.row.kept:", "        if False:", TIME),
    Mutant(
        "a stop is not confirmed", SPINE, "        write.confirm_if_settled(at)", "        pass", CHILDREN
    ),
    Mutant("ancestors are not confirmed", SPINE, "    _confirm_ancestors(at)\n", "", CHILDREN),
    Mutant(
        "an ancestor's failure is the child's",
        SPINE,
        'except (CancelboardError, Error) as error:\n        logger.warning(\n            "the checkpoint',
        'except ZeroDivisionError as error:\n        logger.warning(\n            "the checkpoint',
        ANCESTOR,
    ),
    Mutant(
        "a seal is not stored",
        SPINE,
        'if ask.kind == "seal" and answer.status == "sealed":',
        "if False:",
        AUDIT,
    ),
]

REPLAYS = [
    Mutant(
        "no replay check",
        SPINE,
        "return write.replay(at) or _decided(at, ask), at",
        "return _decided(at, ask), at",
        REPLAY,
    ),
    Mutant(
        "replayed before anybody asks who may",
        SPINE,
        ORDER,
        "        at.look()\n        return write.replay(at) or (at.authorise(), _decided(at, ask))[1], at\n",
        REPLAY,
    ),
    Mutant(
        "an event id does not bind the command",
        WRITE,
        SAME,
        SAME.replace("earlier.kind", "at.ask.kind"),
        REPLAY,
    ),
    Mutant(
        "an event id does not bind the job",
        WRITE,
        SAME,
        SAME.replace("earlier.job_ref", "at.job_id"),
        REPLAY,
    ),
    Mutant(
        "an event id does not bind the content",
        WRITE,
        SAME,
        SAME.replace("canonical(kept)", "asked"),
        REPLAY,
    ),
    Mutant("a replay tells of a job that is not theirs to see", WRITE, HIDDEN, "same = same", REPLAY),
    Mutant(
        "a replay has a code of its own",
        WRITE,
        "code = CODES[(earlier.kind, earlier.status)]",
        "code = 200",
        REPLAY,
    ),
    Mutant(
        "replays are not counted",
        WRITE,
        '_count_delivery(at, "replays" if same else "conflicts")',
        "pass",
        REPLAY,
    ),
]

RIGHT = [
    Mutant("nobody asks who may", SPINE, "        at.authorise()\n", "", RIGHTS),
    Mutant("the verdict is not heeded", LOCKED, "if not verdict.allowed:", "if False:", RIGHTS),
    Mutant(
        "acting needs no view",
        LOCKED,
        'if self.ask.kind != "seal" and not self.rights.judge(Action.VIEW, target, now=self.now).allowed:',
        "if False:",
        RIGHTS,
    ),
    Mutant("dead credentials do not come first", LOCKED, ".code in UNAUTHENTICATED:", ".code in ():", WHO),
    Mutant(
        "an unknown job is anybody's",
        LOCKED,
        "if not self.rights.anywhere(self.action, self.now):",
        "if False:",
        RIGHTS,
    ),
    Mutant(
        "a hidden job's id is free",
        LOCKED,
        "            if self.hidden:\n                raise NotVisible\n",
        "",
        BLOCKING,
    ),
    Mutant("a tombstone needs only cancel", LOCKED, "return Action.BLOCK", "return Action.CANCEL", BLOCKING),
    Mutant(
        "a worker needs only view",
        LOCKED,
        "return ACTIONS.get(self.ask.kind, Action.EXECUTE)",
        "return ACTIONS.get(self.ask.kind, Action.VIEW)",
        RIGHTS,
    ),
    Mutant(
        "who ran it may settle it",
        LOCKED,
        "executor=self.row is not None and has_executed(self.actor, self.row, self.action),",
        "",
        TWO_PEOPLE,
    ),
    Mutant(
        "one's own proposal may be approved",
        LOCKED,
        'own_proposal=self.own_proposal and self.ask.kind == "approve",',
        "",
        TWO_PEOPLE,
    ),
    Mutant("tombstones without a bound", SPINE, "        tombstones.take(at)", "        pass", BLOCKING),
    Mutant(
        "a job of any tenant",
        LOCKED,
        JOB_LOCK,
        JOB_LOCK.replace("ONE, actor.tenant_id", '"job_id = %s"'),
        RIGHTS,
    ),
    Mutant("another queue's prefix", LOCKED, "if owners:\n", "if False:\n", BLOCKING),
]

WRITTEN = [
    Mutant(
        "the receipt in another transaction",
        "runs/ledger.py",
        "    plain.insert(\n        Receipt(\n",
        "    from django.db import transaction\n"
        "    (lambda row: transaction.on_commit(lambda: plain.insert(row)))(\n        Receipt(\n",
        CUT,
    ),
    Mutant(
        "the state in another transaction",
        WRITE,
        SAVE,
        f"__import__('django.db').db.transaction.on_commit(lambda: {SAVE})",
        CUT,
    ),
    Mutant(
        "a chain that begins anew each time",
        "runs/ledger.py",
        '"prev_digest": job.head_digest if job else ""',
        '"prev_digest": NO_DIGEST if job else ""',
        AUDIT,
    ),
    Mutant("the token's hash is not kept", WRITE, "token_hash=at.row.claim_hash", 'token_hash=""', REPLAY),
    Mutant(
        "a parent does not know of its child",
        WRITE,
        "Job.objects.filter(id=at.row.parent_id, has_children=False).update(has_children=True)",
        "pass",
        CHILDREN,
    ),
    Mutant(
        "only direct children count",
        ROWS,
        "child.has_children and unfinished_children(child)",
        "False",
        CHILDREN,
    ),
    Mutant("what became of a proposal is not kept", WRITE, "        at.proposal.save()\n", "", TWO_PEOPLE),
    Mutant("names are not checked", SPINE, "    at.check_names()\n", "", BAD_INPUT),
    Mutant(
        "nobody is told",
        WRITE,
        "live.announce(live.Nudge(at.tenant.id, at.row.id, at.row.job_id, at.row.seq))",
        "pass",
        WHO,
    ),
]


def question(name: str, old: str, new: str) -> Mutant:
    return Mutant(name, QUESTIONS, old, new, PROTOCOL)


FENCE = [
    Mutant("every token is the newest", ROWS, "newest=fence == row.fence", "newest=True", REPLAY),
    Mutant(
        "a token's secret is not looked at",
        ROWS,
        " or not compare_digest(held.token_hash, given_hash)",
        "",
        REPLAY,
    ),
    question("no fence", "return not w.token.newest", "return False"),
    question("a token never issued", "return w.token.fence == 0", "return False"),
    question(
        "an attempt is not its own", "return not step.marked and step.attempt != ask.attempt", "return False"
    ),
    question(
        "a late word is no testimony",
        "return is_stale and says_sent and step_pending(w, ask)",
        "return False",
    ),
    question("any evidence counts", "return not counts(ask.evidence_kind, ask.outcome, own)", "return False"),
    question("a live claim is no bar", "return unsent_yet or held", "return unsent_yet"),
    question("an unsent step is no bar", "return unsent_yet or held", "return held"),
    question("a lease never lives", "return w.at.lease_is_live(w.now)", "return False"),
    question(
        "a lapse puts back without a cancel",
        " and not w.at.now_at.marked and not_running(w, ask)",
        " and not w.at.now_at.marked",
    ),
    question(
        "a lapse over a live lease",
        "w.at.current is State.INFLIGHT and not w.at.lease_is_live(w.now)",
        "w.at.current is State.INFLIGHT",
    ),
    question(
        "a rejected outcome needs one person",
        'w.reconcile_needs != "1" and ask.outcome == "rejected"',
        "False",
    ),
    question(
        "a proposal has no end",
        "return w.proposal is not None and w.now >= w.proposal.expires_at",
        "return False",
    ),
    question(
        "a proposal is bound to nothing",
        "return w.proposal is not None and not w.proposal.is_open(w.at, w.now)",
        "return False",
    ),
    question("children do not count", "return w.at.children_unfinished > 0", "return False"),
    question("no grace", "and w.now >= job.cancel.grace_until", ""),
]

TRIGGER = "runs/models/triggers.py"
THE_DATABASE = [
    *(
        Mutant(f"PostgreSQL lets {what}", TRIGGER, old, new, TRIGGERS_PG)
        for what, old, new in (
            (
                "a receipt be changed",
                "cb_receipt_row BEFORE UPDATE ON",
                "cb_receipt_row BEFORE UPDATE OF xid ON",
            ),
            (
                "a receipt be deleted",
                "cb_receipt_gone BEFORE DELETE ON",
                "cb_receipt_gone BEFORE UPDATE OF xid ON",
            ),
            ("a grant be deleted", "cb_grant_row BEFORE DELETE", "cb_grant_row BEFORE UPDATE OF id"),
            (
                "a revocation be taken back",
                "OLD.revoked_at IS NOT NULL OR NEW.revoked_at IS NULL\n",
                "false\n",
            ),
        )
    ),
    *(
        Mutant(f"SQLite lets {what}", TRIGGER, old, new, TRIGGERS)
        for what, old, new in (
            (
                "a receipt be changed",
                "cb_receipt_update BEFORE UPDATE",
                "cb_receipt_update BEFORE UPDATE OF xid",
            ),
            (
                "a receipt be deleted",
                "cb_receipt_delete BEFORE DELETE ON",
                "cb_receipt_delete BEFORE UPDATE ON",
            ),
            ("a receipt be replaced", "OR (job_id = NEW.job_id AND seq = NEW.seq)", ""),
            (
                "a grant be deleted",
                "cb_grant_delete BEFORE DELETE ON",
                "cb_grant_delete BEFORE UPDATE OF id ON",
            ),
        )
    ),
]

LOOKING_AFTER = [
    Mutant(
        "digests are not looked at",
        "runs/audit/chain.py",
        "if receipt.digest != (true := digest(shown)):",
        "if not (true := digest(shown)):",
        AUDIT,
    ),
    Mutant(
        "links are not looked at",
        "runs/audit/chain.py",
        "if receipt.prev_digest != self.head:",
        "if False:",
        AUDIT,
    ),
    Mutant(
        "numbers are not looked at",
        "runs/audit/chain.py",
        "if receipt.seq != self.seq + 1:",
        "if False:",
        AUDIT,
    ),
    Mutant(
        "rows are not compared",
        "runs/audit/compare.py",
        'yield from differ("I9", "", _job(job, chain), row)',
        "yield from ()",
        ROWS_AUDITED,
    ),
    Mutant(
        "details are not compared",
        "runs/audit/replay.py",
        "    yield from _told_rightly(job, r)\n",
        "",
        AUDIT,
    ),
    Mutant(
        "any signature holds",
        "runs/signing.py",
        "except (InvalidSignature,",
        "except InvalidSignature:\n        return True\n    except (",
        CERTIFICATE,
    ),
    Mutant(
        "a certificate's job is not compared",
        "runs/audit/certificate.py",
        'yield from _differ("job", _shown(walk.job, receipts), job)',
        "yield from ()",
        CERTIFICATE,
    ),
    Mutant(
        "a certificate for everybody",
        "runs/queries/certificate.py",
        "if not verdict.allowed:",
        "if False:",
        CERTIFICATE,
    ),
    Mutant(
        "a cut tail is not looked for",
        "runs/audit/ledger.py",
        'if (found := there.get(kept["seq"])) != kept["digest"]:',
        'if (found := there.get(kept["seq"])) and False:',
        CERTIFICATE,
    ),
]

MUTANTS = [*SPINE_AND_LOCKS, *REPLAYS, *RIGHT, *WRITTEN, *FENCE, *THE_DATABASE, *LOOKING_AFTER]
