"""The way of an accepted cancel to the code that runs, rung by rung: what is known, and what is not."""

from runs import settle
from runs.commands import offered
from runs.ledger import clock

from .cast import Browser, Stage

PATH = "/jobs/order-1/"


def rungs(browser: Browser) -> dict[str, str]:
    card = browser.get(PATH).node("ladder")
    return dict(zip((e.text for e in card.all("dt")), (e.text for e in card.all("dd")), strict=True))


def test_without_an_accepted_cancel_there_is_none(stage: Stage, sam: Browser) -> None:
    stage.begin("order-1")
    assert rungs(sam) == {}


def test_rung_by_rung_by_heartbeat(stage: Stage, sam: Browser) -> None:
    stage.begin("order-1")
    stage.cancel("order-1")
    told = rungs(sam)
    assert list(told) == ["Recorded", "Offered", "Heard", "Stopping", "Settled"]
    assert told["Recorded"].startswith("receipt #4,")
    assert (told["Offered"], told["Heard"], told["Settled"]) == ("not yet", "not yet", "not yet")
    assert told["Stopping"].startswith("step 1 is out; grace until")
    stage("system", "order-1", "heartbeat")
    assert rungs(sam)["Offered"].startswith("by heartbeat,")
    assert rungs(sam)["Heard"] == "not yet"
    stage("system", "order-1", "heartbeat", heard=4)
    assert "after the cancel," in rungs(sam)["Heard"]
    stage.report("order-1", 0, "ok")
    told = rungs(sam)
    assert told["Stopping"] == "nothing is out"
    assert told["Settled"].startswith("stop confirmed,")


def test_the_first_channel_counts_and_an_abort_is_a_word_of_its_own(stage: Stage, sam: Browser) -> None:
    stage.begin("order-1")
    stage.cancel("order-1", grace_seconds=0)
    offered(stage.tenant.pk, "order-1", 4, "socket", clock())
    stage("system", "order-1", "heartbeat", heard=4)
    assert rungs(sam)["Offered"].startswith("by socket,")
    settle.one_pass()
    assert rungs(sam)["Stopping"] == "step 1 is out Its grace has ended: told to give up."
    assert stage.row("order-1").offered_seq == 4
    stage("system", "order-1", "heartbeat")
    assert (stage.row("order-1").offered_seq, stage.row("order-1").offered_by) == (5, "heartbeat")


def test_nobody_is_there_to_hear(stage: Stage, sam: Browser) -> None:
    stage.begin("order-1")
    stage("lena", "order-1", "revoke", cause="operator_requested")
    stage.cancel("order-1")
    told = rungs(sam)
    assert told["Offered"] == "not offered: no live worker"
    assert told["Heard"] == "not heard: no live worker"
    assert told["Stopping"].startswith("step 1 is unknown: somebody must look")
