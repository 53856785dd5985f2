#!/usr/bin/env python
"""The command line: `python manage.py help`. Not the server (that is `cancelboard.asgi` under daphne)."""

import os
import sys

#: These change tables or delete archived rows: they may use the owner's database role.
AS_OWNER = {"migrate", "archive"}
#: An operator waits for these; a request's time limit must not cut them off.
UNHURRIED = {"migrate", "archive", "audit", "seed", "restored"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cancelboard.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    owner = os.environ.get("CANCELBOARD_OWNER_DATABASE_URL")
    if command in AS_OWNER and owner:
        os.environ["DATABASE_URL"] = owner
    if command in UNHURRIED:
        os.environ.setdefault("CANCELBOARD_STATEMENT_SECONDS", "0")

    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as wrong:  # a setting is wrong: its message says which and what to do
        print(f"cancelboard cannot start. {wrong}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
