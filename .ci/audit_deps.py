"""Known vulnerabilities of what requirements.lock installs: `audit_deps.py PIP_AUDIT LOCK`.

pip-audit alone is content when it could ask about nothing; this fails unless every package was audited.
"""

import json
import subprocess
import sys


def main(pip_audit: str, lock: str) -> int:
    # The lock is whole and hashed: nothing is resolved, nothing installed.
    command = [pip_audit, "--requirement", lock, "--disable-pip", "--require-hashes", "--format", "json"]
    ran = subprocess.run(  # noqa: S603  # the Makefile's own arguments
        [*command, "--progress-spinner", "off"], stdout=subprocess.PIPE, text=True, check=False
    )
    if not ran.stdout.strip():
        print("0 packages audited: pip-audit could not ask anybody (above).", file=sys.stderr)
        return 1
    packages = json.loads(ran.stdout)["dependencies"]
    missed = [package["name"] for package in packages if "skip_reason" in package]
    found = [(package["name"], each) for package in packages for each in package.get("vulns", ())]
    for name, each in found:
        print(f"{name}: {each['id']}, fixed in {', '.join(each['fix_versions']) or 'no release yet'}")
    audited = len(packages) - len(missed)
    print(f"{audited} of {len(packages)} packages audited, {len(found)} known vulnerabilities.")
    if missed:
        print(f"Not audited, so nothing is known of them: {', '.join(missed)}.", file=sys.stderr)
    return 1 if missed or found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
