"""What the commands of the operator's shell share: as whom they act, and how they say no.

The machine's account is no principal and holds no right over any job (docs/permissions.md): each command
acts as a person, who is named with `--as` and judged by the one decision. That the words came from a shell,
and from which account of the machine, is kept in the receipt's note: the shell asks for no password.
"""

import getpass
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError
from pydantic import ValidationError

from runs.errors import Busy, CancelboardError, Gone, Invalid, NotVisible
from runs.models import User
from runs.permissions import Actor


def add_as(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--as", dest="user", required=True, metavar="USER", help="the person who acts: their rights decide"
    )


def person(username: str) -> Actor:
    """Raises CommandError, exit 2, for nobody and for a service account: those act by their tokens."""
    user = User.objects.filter(username=username, kind=User.Kind.PERSON).select_related("tenant").first()
    if user is None:
        raise CommandError(f"there is no person {username}", returncode=2)
    return Actor.of_user(user)


def note(command: str, given: str) -> str:
    """The caller's note, and that it came from a shell of this machine."""
    shell = f"manage.py {command}, by the machine's account {getpass.getuser()}"
    return f"{given}\n({shell})" if given else f"({shell})"


@contextmanager
def told() -> Iterator[None]:
    """Errors as exit codes: 1 for a no to a well-formed question, 2 for wrong use."""
    try:
        yield
    except ValidationError as error:
        lines = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise CommandError(lines, returncode=2) from None
    except Busy as error:
        raise CommandError(f"{error}", returncode=1) from None
    except (Invalid, NotVisible, Gone) as error:
        raise CommandError(str(error), returncode=2) from None
    except CancelboardError as error:
        raise CommandError(f"no: {error.code}: {error}", returncode=1) from None
