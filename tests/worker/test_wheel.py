"""The wheel as a stranger gets it: built from this tree, installed into a bare virtual environment.

Needs a package index (setuptools to build with, httpx and websockets), so it is part of `make prove` alone.
"""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.support.scale import PROVE

ROOT = Path(__file__).parent.parent.parent
USE = """
import sys
from runs.worker import AsyncWorker, CancelToken, Client, Worker, cause_of
import runs.worker
assert "site-packages" in runs.worker.__file__, runs.worker.__file__
foreign = {name.split(".")[0] for name in sys.modules} & {"django", "channels", "pydantic", "psycopg"}
assert not foreign, foreign
assert [name for name in sys.modules if name.startswith("runs.") and not name.startswith("runs.worker")] == []
token = CancelToken()
print(cause_of(TimeoutError()).code)
"""


def run(*command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=300
    )


@pytest.mark.prove
@pytest.mark.skipif(not PROVE, reason="builds a wheel with what an index has: make prove")
@pytest.mark.timeout(600)
def test_the_wheel_works_where_nothing_else_is(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    if run(*pip, "download", "--no-deps", "--dest", tmp_path, "setuptools>=77").returncode:
        pytest.skip("no package index can be reached, so no wheel can be built")
    built = run(*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path / "wheel", ".")
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "wheel").glob("cancelboard-*.whl")
    venv.create(tmp_path / "bare", with_pip=True)
    python = tmp_path / "bare" / "bin" / "python"
    installed = run(python, "-m", "pip", "--disable-pip-version-check", "install", wheel, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    assert run(python, "-c", "import django", cwd=tmp_path).returncode != 0
    used = run(python, "-c", USE, cwd=tmp_path)
    assert (used.returncode, used.stdout) == (0, "deadline_exceeded\n"), used.stderr
