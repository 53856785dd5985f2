"""A PostgreSQL server that lives as long as this process, reached through a socket in a folder of its own.

For tests only: `fsync` is off, so it does not survive a power cut (a killed process it does survive).
No port is opened and no password needed; the folder is readable by its owner only.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

DURABLE = "-c listen_addresses= -c max_connections=200 -c timezone=UTC"
OPTIONS = f"-F -c full_page_writes=off {DURABLE}"

#: Ends with its standard input, that is, however we end: at the end of the tests, by Ctrl-C, killed.
KEEPER = """
bin=$1 home=$2
if "$bin/initdb" -D "$home/data" -U postgres -A trust -N --no-locale -E UTF8 >"$home/log" 2>&1 &&
   "$bin/pg_ctl" -s -w -D "$home/data" -l "$home/log" -o "$3 -k $home" start >>"$home/log" 2>&1 </dev/null
then echo ready; read _
else cat "$home/log"
fi
"$bin/pg_ctl" -s -w -D "$home/data" -m immediate stop >/dev/null 2>&1
rm -rf "$home"
"""


def binaries() -> Path:
    """The folder that holds `initdb`: on PATH, else the newest that Debian installed beside it."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not versions:
        raise RuntimeError("no PostgreSQL here: install its server package, or set TEST_DATABASE_URL")
    return versions[-1].parent


def unprivileged() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root: the user it runs as then; None for "as we are"."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


class OwnPostgres:
    """Started by the constructor (about two seconds), stopped by `stop()` or by our end."""

    def __init__(self, options: str = OPTIONS, folder: Path | None = None) -> None:
        """`folder`: where its own one is made; else among the temporary ones."""
        self.home = home = Path(tempfile.mkdtemp(prefix="cancelboard-pg-", dir=folder))
        self.options, user = options, unprivileged()
        self.as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
        if user:
            os.chown(home, user.pw_uid, user.pw_gid)
        self.keeper = subprocess.Popen(
            ["sh", "-c", KEEPER, "keeper", str(binaries()), str(home), options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            start_new_session=True,  # a Ctrl-C is ours first: the tests still need it while they end
            **self.as_user,
        )
        assert self.keeper.stdout
        first = self.keeper.stdout.readline()
        if first != "ready\n":
            raise RuntimeError("PostgreSQL did not start:\n" + first + self.keeper.stdout.read())
        self.url = f"postgresql://postgres@/postgres?host={home}"

    def kill(self) -> None:
        """SIGKILL to the server; its backends end when they notice."""
        with suppress(FileNotFoundError, ProcessLookupError):  # it may have ended by itself: a full disk
            os.kill(int((self.home / "data/postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def restart(self) -> None:
        """Start it again after it was killed, once the last of its backends has ended."""
        command = [str(binaries() / "pg_ctl"), "-s", "-w", "-D", str(self.home / "data")]
        command += ["-l", str(self.home / "log"), "-o", f"{self.options} -k {self.home}", "start"]
        for _ in range(50):
            started = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, **self.as_user)
            if started.returncode == 0:
                return
            time.sleep(0.1)
        raise RuntimeError("PostgreSQL did not start again:\n" + (self.home / "log").read_text()[-2000:])

    def answers(self) -> bool:
        """Whether it takes connections."""
        ready = [str(binaries() / "pg_isready"), "-q", "-h", str(self.home)]
        return subprocess.run(ready).returncode == 0

    def stop(self) -> None:
        self.keeper.communicate(timeout=30)
