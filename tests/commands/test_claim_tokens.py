"""A claim's token is its fence and its secret (PROTOCOL section 2): a right number alone says nothing."""

from typing import Any

import pytest

from tests.races.scene import Scene

REPORT = {"event_id": "e-forged", "ordinal": 0, "outcome": "ok", "value": "250"}
COMMANDS: dict[str, dict[str, Any]] = {
    "heartbeat": {},
    "reserve": {},
    "report": REPORT,
    "release": {"event_id": "e-forged", "ordinal": 0},
}


def forged(token: str) -> str:
    fence, _, secret = token.partition("-")
    return f"{fence}-{secret[:-1]}{'0' if secret[-1] != '0' else '1'}"


@pytest.mark.parametrize("nth", [1, 2], ids=["an earlier claim's", "the newest claim's"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_right_fence_with_another_secret_was_never_issued(scene: Scene, command: str, nth: int) -> None:
    scene.do("submit")
    scene.do("claim")
    scene.do("revoke", who="lena", event_id="e-revoke")
    scene.do("claim")
    before = scene.seen()
    answer = scene.do(command, claim=forged(scene.claim("j", nth)), **COMMANDS[command])
    assert answer.status == "claim_lost"
    assert answer.receipt is None or answer.receipt["body"]["claim"] == 0
    if answer.receipt is None:
        assert scene.seen() == before
    assert scene.do("reserve", claim=scene.claim("j", 2)).status == "reserved"
