"""The SDK installs and imports without Django, and needs httpx and websockets alone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import runs.worker

FOLDER = Path(runs.worker.__file__).parent
ADAPTERS = FOLDER.parent / "adapters"
#: Each an extra of its own.
ENGINES = {"celery.py": "celery", "procrastinate.py": "procrastinate"}
BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"django", "channels", "ninja", "pydantic", "psycopg"}:
            raise ImportError(f"{name} is not for workers")

sys.meta_path.insert(0, Blocked())
import runs.worker
assert runs.worker.Worker and runs.worker.Client
import runs.adapters.http, runs.adapters.loops, runs.adapters.processes
import runs.adapters.tasks, runs.adapters.threads
print(*sorted(name for name in sys.modules if name == "runs" or name.startswith("runs.")))
"""


def test_it_imports_where_django_cannot_be() -> None:
    root = FOLDER.parent.parent
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert "runs.worker.worker" in loaded
    others = [name for name in loaded if not name.startswith(("runs.worker", "runs.adapters"))]
    assert others == ["runs"]


@pytest.mark.parametrize(
    "file", sorted([*FOLDER.glob("*.py"), *ADAPTERS.glob("*.py")]), ids=lambda file: file.name
)
def test_it_needs_httpx_and_websockets_alone(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module or ""]
        else:
            continue
        for name in names:
            top = name.split(".")[0]
            assert (
                top in (*sys.stdlib_module_names, ENGINES.get(file.name))
                or top in ("httpx", "websockets")
                or name.startswith(("runs.worker", "runs.adapters"))
            ), name
