"""The key that certificates are signed with: an Ed25519 private key in a PEM file of its own, or none.

The setting names the file and never holds the key, so no environment, process list or settings page shows it.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from cancelboard.environment import WrongSetting

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAME = "CANCELBOARD_SIGNING_KEY"
REMEDY = "Make one: (umask 077; openssl genpkey -algorithm ed25519 -out signing-key.pem)"


def signing_key(path: str) -> "Ed25519PrivateKey | None":
    """The private key in the file at `path`; None for an empty path.

    Raises WrongSetting where it can't be read, others may read it, or it is no such key; never with what the
    file holds.
    """
    if not path:
        return None
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    file = Path(path)
    try:
        mode, text = file.stat().st_mode, file.read_bytes()
    except OSError as error:
        raise WrongSetting(NAME, f"{file}: {error.strerror}", REMEDY) from error
    if mode & 0o077:
        raise WrongSetting(NAME, f"others may read {file}", "Run chmod 600 on it")
    try:
        key = load_pem_private_key(text, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise WrongSetting(NAME, f"{file} holds no Ed25519 private key in PEM, unencrypted", REMEDY)
    return key
