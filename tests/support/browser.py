"""Which Chromium the browser tests start, and how: quiet, and without a word to the outside."""

import os
import shutil
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


def launch_arguments(playwrights_own: str) -> dict[str, Any]:
    """For Playwright's `launch`: the CHROMIUM variable, else Playwright's own, else the first on PATH."""
    path = os.environ.get("CHROMIUM")
    if not path and not Path(playwrights_own).exists():
        path = next((found for name in NAMES if (found := shutil.which(name))), None)
        if not path:
            raise RuntimeError("no Chromium here: install one, or set CHROMIUM to its path")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return {"args": [*QUIET, *sandbox], **({"executable_path": path} if path else {})}
