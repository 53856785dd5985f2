"""`manage.py verify FILE`: a certificate or an archive checked offline, from the file alone, without a
database.

Exit 0: it holds. 1: it does not, a line for each finding. 2: wrong use.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from django.core.management.base import BaseCommand, CommandError

from runs import archives
from runs.audit.certificate import UNTOLD
from runs.audit.findings import Finding, line
from runs.certificates import checked

WHOLE = """
This proves: receipts 1 to {seq} are all there and in their order, none of them changed without every later
digest being made anew; and the job as it is shown is what they add up to, by a replay that decides nothing.
"""
WHOLE_ARCHIVE = """
This proves: of each job in it, all receipts up to its last are there and in their order, and the job as it is
shown is what they add up to; no line was changed, added or left out since the last line was written. The
receipt `archive archived` in the ledger that it came from has the same digest.
"""
KNOWN_KEY = "The holder of the key that you gave has said all of this, at the time that it names.\n"
SOME_KEY = """The holder of this key has said all of this, whoever that is:
    {key}
Compare it with the one that you were given elsewhere, or give that as --key.
"""
NO_KEY = "It is not signed. Who made it, it does not prove: anybody can make such a file whole.\n"
NOT_PROVED = f"""
This does not prove that nothing came later, nor that the ledger still holds it: what was cut off there is
found by `manage.py audit --certificate FILE`. No receipt tells {", ".join(UNTOLD[:4])},
{", ".join(UNTOLD[4:])}:
for these there is the issuer's word alone. A confirmed stop is no undone effect and no killed process.
"""


class Command(BaseCommand):
    help = "Check a certificate or an archive offline: receipts, what they add up to, signature."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument("--key", metavar="PEM", type=Path, help="the public key that must have signed it")

    def handle(self, *args: Any, file: Path, key: Path | None, **options: Any) -> None:
        wanted = public_key(key) if key else None
        try:
            if archives.is_archive(file):
                self.archive(file, wanted)
                return
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}", returncode=2) from None
        certificate, found = checked(content(file))
        signed_by = (
            None if found or certificate["signature"] is None else certificate["signature"]["public_key"]
        )
        if wanted and not found and signed_by != wanted:
            found.append(Finding("signature", "signature", f"one by {wanted}", signed_by))
        for finding in found:
            self.stdout.write(str(finding))
        if found:
            sys.exit(1)
        self.tell(certificate, KNOWN_KEY if wanted else SOME_KEY if signed_by else NO_KEY)

    def archive(self, file: Path, wanted: str | None) -> None:
        told, found = archives.checked(file)
        signature = told.last.get("signature")
        signed_by = None if found or signature is None else signature["public_key"]
        if wanted and not found and signed_by != wanted:
            found.append(Finding("signature", "signature", f"one by {wanted}", signed_by))
        for finding in found:
            self.stdout.write(str(finding))
        if found:
            sys.exit(1)
        last, tenant = told.last, told.first["tenant"]
        self.stdout.write(line(f"archive of {tenant}: {last['jobs']} jobs, {last['receipts']} receipts"))
        self.stdout.write(f"digest {last['digest']}, ended {last['ended_at']}")
        self.stdout.write(WHOLE_ARCHIVE, ending="")
        who = KNOWN_KEY if wanted else SOME_KEY if signed_by else NO_KEY
        self.stdout.write(who.format(key=signed_by), ending="")

    def tell(self, certificate: Any, who: str) -> None:
        """What it says, what that proves, and what not."""
        job, signature = certificate["job"], certificate["signature"] or {}
        self.stdout.write(line(f"{job['job_id']} of {job['tenant']}, receipts 1 to {job['seq']}"))
        self.stdout.write(f"head {certificate['head_digest']}")
        self.stdout.write(f"as of {certificate['issued_at']}: {certificate['sentence']}")
        self.stdout.write(WHOLE.format(seq=job["seq"]), ending="")
        self.stdout.write(who.format(key=signature.get("public_key")), ending="")
        self.stdout.write(NOT_PROVED, ending="")


def content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}", returncode=2) from None


def public_key(file: Path) -> str:
    """The Ed25519 public key of a PEM file, in hex."""
    try:
        key = load_pem_public_key(content(file))
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise CommandError(f"{file} holds no Ed25519 public key in PEM.", returncode=2)
    return key.public_bytes_raw().hex()
