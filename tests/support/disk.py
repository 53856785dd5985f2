"""A disk of its own that can be full."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def a_small_disk(size: str) -> Iterator[Path | None]:
    """In memory, of so many bytes (`192m`); None where none can be mounted."""
    folder = Path(tempfile.mkdtemp(prefix="cancelboard-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=1777", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


def fill(disk: Path) -> Path:
    """A file that takes what is left."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"0" * 4096)
    return filler
