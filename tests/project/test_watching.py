"""The settings of verifiers and alerts: wrong ones are loud, and repeat no secret."""

from pathlib import Path

import pytest

from cancelboard import environment as env
from cancelboard.environment import WrongSetting


@pytest.mark.parametrize(
    ("read", "value"),
    [
        *(
            (env.places, value)
            for value in ("bank", "bank=house.bank", "http=a.b:c", "a=b:c,a=d:e", "Bank=a:b")
        ),
        *((env.receivers, value) for value in ("http://a", "a/b", "*", "a:b", "user@a", "a:0x1", "[::1")),
        *((env.numbers, value) for value in ("0", "1.5", "-1", "10001", "x", "٣")),
        *((env.addresses, value) for value in ("duty", "a@b@c", "a <a@b>", "a@b;c@d")),
        *(
            (env.smtp, value)
            for value in ("mail", "http://a", "smtp://", "smtp://a:x", "smtp://a/b", "smtp://a?x=1")
        ),
        *(
            (env.webhook, value)
            for value in ("http://a.test/", "a", "https://", "https://u:p@a.test", "file:///x")
        ),
    ],
)
def test_a_wrong_one_names_its_variable(read, value: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(WrongSetting, match=r"^NAME: "):
        read("NAME", env={"NAME": value})


def test_right_ones() -> None:
    assert env.places("N", {"N": "bank=house.bank:look_up, post=p:q"}) == {
        "bank": "house.bank:look_up",
        "post": "p:q",
    }
    assert env.receivers("N", {"N": "API.bank.example,127.0.0.1:8001,[::1]:80"}) == [
        "api.bank.example",
        "127.0.0.1:8001",
        "[::1]:80",
    ]
    assert env.numbers("N", (1, 8, 24), {}) == [1, 8, 24]
    assert env.numbers("N", (1,), {"N": "24, 2,2"}) == [2, 24]
    assert env.addresses("N", {"N": "duty@house.example"}) == ["duty@house.example"]
    assert env.webhook("N", {"N": "http://127.0.0.1:9/x"}) == "http://127.0.0.1:9/x"
    assert env.webhook("N", {}) == ""


def test_a_mail_server_is_taken_apart() -> None:
    found = env.smtp("N", {"N": "smtps://us%40er:p%2Fw@mail.test"})
    assert found == {
        "host": "mail.test",
        "port": 465,
        "username": "us@er",
        "password": "p/w",
        "use_tls": False,
        "use_ssl": True,
    }
    assert env.smtp("N", {"N": "smtp+starttls://mail.test"})["use_tls"]
    with pytest.raises(WrongSetting) as refused:
        env.smtp("N", {"N": "smtp://u:s3cret@mail.test:x"})
    assert "s3cret" not in str(refused.value)


def test_tokens_are_read_from_a_file_that_nobody_else_may_read(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# ours\nacme api.bank.example s3cret\n")
    file.chmod(0o600)
    assert env.tokens("N", {"N": str(file)}) == {("acme", "api.bank.example"): "s3cret"}
    assert env.tokens("N", {}) == {}
    file.write_text("acme s3cret\n")
    with pytest.raises(WrongSetting, match="line 1") as refused:
        env.tokens("N", {"N": str(file)})
    assert "s3cret" not in str(refused.value)
    file.chmod(0o644)
    with pytest.raises(WrongSetting, match="chmod 600"):
        env.tokens("N", {"N": str(file)})
    with pytest.raises(WrongSetting, match="can't be read"):
        env.tokens("N", {"N": str(tmp_path / "none")})
