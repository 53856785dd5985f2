"""A wrong value in the environment is named, with what is wrong and what to do, and nothing starts."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from cancelboard import environment
from cancelboard.database import database
from cancelboard.environment import WrongSetting
from cancelboard.secret import kept
from cancelboard.signing import signing_key
from tests.support.server import ROOT

KEY = "k" * 50
PEM = (Encoding.PEM, PrivateFormat.PKCS8)


def start(
    tmp_path: Path, command: tuple[str, ...] = ("check",), **variables: str
) -> subprocess.CompletedProcess[str]:
    ours = {"DATABASE_URL", "SECRET_KEY", "DJANGO_ALLOW_ASYNC_UNSAFE"}
    clean = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        env=clean | {"CANCELBOARD_VAR": str(tmp_path)} | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DEBUG", "ture", "DEBUG: 'ture' is neither on nor off. Write 1 or 0."),
        ("CANCELBOARD_HTTPS", "enabled", "CANCELBOARD_HTTPS: 'enabled' is neither on nor off."),
        ("CANCELBOARD_RATE", "-1", "CANCELBOARD_RATE: '-1' is no whole number from 0 to 1000000."),
        (
            "CANCELBOARD_TOMBSTONES_PER_HOUR",
            "1e3",
            "CANCELBOARD_TOMBSTONES_PER_HOUR: '1e3' is no whole number",
        ),
        ("ALLOWED_HOSTS", "*", "ALLOWED_HOSTS: '*' would believe any Host header."),
        ("ALLOWED_HOSTS", "https://board.test", "ALLOWED_HOSTS: 'https://board.test' is no host name."),
        ("ALLOWED_HOSTS", "board.test:8000", "ALLOWED_HOSTS: 'board.test:8000' is no host name."),
        ("CSRF_TRUSTED_ORIGINS", "board.test", "CSRF_TRUSTED_ORIGINS: 'board.test' is no full origin."),
        (
            "CSRF_TRUSTED_ORIGINS",
            "https://*.test",
            "CSRF_TRUSTED_ORIGINS: 'https://*.test' is no full origin.",
        ),
        (
            "CSRF_TRUSTED_ORIGINS",
            "https://a.test/",
            "CSRF_TRUSTED_ORIGINS: 'https://a.test/' is no full origin.",
        ),
        ("DATABASE_URL", "mysql://h/n", "DATABASE_URL: 'mysql' is no database this project knows."),
        ("REDIS_URL", "localhost:6379", "REDIS_URL: it must begin with redis://"),
        ("CANCELBOARD_LOG", "loud", "CANCELBOARD_LOG: 'LOUD' is not known."),
    ],
)
def test_a_wrong_value_is_named_and_nothing_starts(tmp_path: Path, name: str, value: str, says: str) -> None:
    ended = start(tmp_path, **{name: value})
    assert ended.returncode == 2
    assert ended.stderr.startswith("cancelboard cannot start. " + says)
    assert "Traceback" not in ended.stderr


def test_https_without_a_key_of_its_own_does_not_start(tmp_path: Path) -> None:
    ended = start(tmp_path, CANCELBOARD_HTTPS="1")
    assert ended.returncode == 2
    assert "SECRET_KEY: with CANCELBOARD_HTTPS it must be given" in ended.stderr


def test_with_https_the_deployment_check_is_clean(tmp_path: Path) -> None:
    strict = ("check", "--deploy", "--fail-level", "WARNING")
    ended = start(tmp_path, strict, CANCELBOARD_HTTPS="1", SECRET_KEY="".join(map(chr, range(40, 120))))
    assert ended.returncode == 0, ended.stderr
    assert start(tmp_path, strict).returncode == 1


def test_with_https_no_other_host_can_set_the_cookies(tmp_path: Path) -> None:
    told = start(
        tmp_path, ("diffsettings",), CANCELBOARD_HTTPS="1", SECRET_KEY="".join(map(chr, range(40, 120)))
    )
    for name in ("sessionid", "csrftoken"):
        assert f"'__Host-{name}'" in told.stdout


@pytest.mark.parametrize(
    "url",
    ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://host/file", "sqlite:///a?mode=ro",
     "postgresql://h", "postgresql://h/", "postgresql://h/a/b", "postgresql://h:port/a", "postgresql://h/a?options=-c"],
)  # fmt: skip
def test_an_address_that_names_no_lasting_database_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(WrongSetting, match=r"^DATABASE_URL: "):
        database(url, tmp_path, {})


def test_a_refused_address_does_not_give_its_password_away(tmp_path: Path) -> None:
    for url in ("mysql://u:s3cret@h/n", "postgresql://u:s3cret@h:x/n", "postgresql://u:s3cret@h/"):
        with pytest.raises(WrongSetting) as refused:
            database(url, tmp_path, {})
        assert "s3cret" not in str(refused.value)


def test_an_address_is_taken_apart(tmp_path: Path) -> None:
    found = database("postgres://us%40er:p%2Fw@db.test:5433/board?sslmode=verify-full", tmp_path, {})
    assert [found[key] for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT")] == [
        "board", "us@er", "p/w", "db.test", "5433",
    ]  # fmt: skip
    assert found["OPTIONS"]["sslmode"] == "verify-full"
    assert found["CONN_MAX_AGE"] == 0
    assert database("postgresql:///board?host=/run/pg", tmp_path, {})["HOST"] == "/run/pg"
    assert database("sqlite:///sub/x.sqlite3", tmp_path, {})["NAME"] == str(tmp_path / "sub" / "x.sqlite3")
    assert database(f"sqlite:///{tmp_path}/y.sqlite3", Path("/nowhere"), {})["NAME"] == str(
        tmp_path / "y.sqlite3"
    )


def test_the_key_is_made_once_and_only_we_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "var" / "secret_key"
    first = kept(file)
    assert len(first) > 50
    assert kept(file) == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_a_key_that_others_may_read_or_that_is_cut_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "secret_key"
    kept(file)
    file.chmod(0o644)
    with pytest.raises(WrongSetting, match="others may read"):
        kept(file)
    file.chmod(0o600)
    file.write_text("short")
    with pytest.raises(WrongSetting, match="holds no whole key"):
        kept(file)


def test_lists_and_numbers() -> None:
    assert environment.words("X", ("a",), {}) == ["a"]
    assert environment.words("X", ("a",), {"X": " b ,, c"}) == ["b", "c"]
    assert environment.integer("X", 5, 0, 9, {"X": " "}) == 5
    assert environment.flag("X", True, {}) is True
    assert environment.flag("X", True, {"X": "off"}) is False


def test_a_signing_key_is_a_file_that_only_we_can_read(tmp_path: Path) -> None:
    file = tmp_path / "signing-key.pem"
    for key, says in (
        (None, "No such file or directory"),
        (Ed25519PrivateKey.generate(), "others may read"),
        (X25519PrivateKey.generate(), "holds no Ed25519 private key"),
        (b"s3cret", "holds no Ed25519 private key"),
    ):
        if key is not None:
            file.write_bytes(key if isinstance(key, bytes) else key.private_bytes(*PEM, NoEncryption()))
            file.chmod(0o640 if "others" in says else 0o600)
        with pytest.raises(WrongSetting, match=says) as refused:
            signing_key(str(file))
        assert "s3cret" not in str(refused.value)
    file.write_bytes(Ed25519PrivateKey.generate().private_bytes(*PEM, BestAvailableEncryption(b"s3cret")))
    with pytest.raises(WrongSetting, match="unencrypted"):
        signing_key(str(file))


def test_the_signing_key_is_read_at_the_start_and_nothing_shows_it(tmp_path: Path) -> None:
    file = tmp_path / "signing-key.pem"
    key = Ed25519PrivateKey.generate()
    file.write_bytes(key.private_bytes(*PEM, NoEncryption()))
    file.chmod(0o600)
    for ended in (
        start(tmp_path, ("diffsettings", "--all"), CANCELBOARD_SIGNING_KEY=str(file)),
        start(tmp_path, CANCELBOARD_SIGNING_KEY=str(file), CANCELBOARD_LOG="DEBUG"),
    ):
        assert ended.returncode == 0, ended.stderr
        for secret in (file.read_text().splitlines()[1], key.private_bytes_raw().hex()):
            assert secret not in ended.stdout + ended.stderr
    assert signing_key(str(file)).public_key() == key.public_key()  # type: ignore[union-attr]
    assert signing_key("") is None
    file.chmod(0o644)
    refused = start(tmp_path, CANCELBOARD_SIGNING_KEY=str(file))
    assert refused.returncode == 2
    assert refused.stderr.startswith("cancelboard cannot start. CANCELBOARD_SIGNING_KEY: others may read")
