"""The story the product is for, through the API: it says no more than it knows, and loses nothing."""

from .cast import Caller


def test_a_cancel_while_a_step_is_out(app: Caller) -> None:
    assert app.submit("order-7", "Send it", "Tell them").told == (201, "admitted")
    claim = app.claim("order-7")
    reserved = app.post("/jobs/order-7/reserve", {"claim": claim})
    assert (reserved.told, reserved["ordinal"], reserved["dispatched"]) == ((200, "reserved"), 0, False)
    assert reserved["step"]["label"] == "Send it"

    digest = app.job("order-7")["spec_digest"]
    asked = {"event_id": "c-1", "spec_digest": digest, "cause": "user_requested"}
    cancel = app.post("/jobs/order-7/cancel", asked)
    assert (cancel.told, cancel["replayed"]) == ((202, "requested"), False)
    assert app.job("order-7")["headline"] == "verifying"

    checkpoint = app.post("/jobs/order-7/checkpoint")
    assert (checkpoint.told, checkpoint["ordinal"]) == ((200, "inflight"), 0)

    report = app.ask("order-7", "report", claim=claim, ordinal=0, outcome="ok", value="250 queued")
    assert (report.told, report["result"]) == ((200, "settled"), "open")
    job = app.job("order-7")
    assert (job["control"], job["result"], job["headline"]) == ("acknowledged", "open", "stopped")
    assert (job["steps"][0]["state"], job["steps"][0]["value"]) == ("ok", "250 queued")
    assert job["steps"][1]["state"] == "pending"

    refused = app.post("/jobs/order-7/reserve", {"claim": claim})
    assert (refused.told, refused["cause"]["code"]) == ((200, "cancelled"), "user_requested")

    again = app.post("/jobs/order-7/cancel", asked)
    assert (again.told, again["replayed"]) == ((202, "requested"), True)
    assert again["receipt"] == cancel["receipt"]

    receipts = app.get("/jobs/order-7/receipts")["receipts"]
    assert [f"{receipt['kind']} {receipt['status']}" for receipt in receipts] == [
        "submit admitted",
        "claim claimed",
        "reserve reserved",
        "cancel requested",
        "report settled",
        "checkpoint acknowledged",
    ]


def test_a_cancel_before_the_submit_blocks_it(app: Caller) -> None:
    spec = {"queue": "mail", "steps": ["Send it"]}
    cancel = app.ask("order-8", "cancel", spec=spec)
    assert (cancel.told, cancel["cascaded"]) == ((201, "tombstoned"), 0)
    late = app.post("/jobs", {"job_id": "order-8", "spec": spec})
    assert late.told == (409, "blocked_cancelled")
    job = app.job("order-8")
    assert (job["headline"], job["blocked_submits"]) == ("blocked_before_start", 1)
    assert job["cancel"]["cause"]["code"] == "canceled_no_cause"


def test_a_cancel_that_comes_too_late_is_remembered(app: Caller) -> None:
    app.submit("order-9", "Send it")
    claim = app.claim("order-9")
    app.post("/jobs/order-9/reserve", {"claim": claim})
    app.ask("order-9", "report", claim=claim, ordinal=0, outcome="ok")
    digest = app.job("order-9")["spec_digest"]
    assert app.ask("order-9", "cancel", spec_digest=digest).told == (200, "too_late")
    job = app.job("order-9")
    assert (job["control"], job["headline"]) == ("run", "completed_cancel_too_late")
    assert job["cancel"]["too_late"]


def test_an_unknown_outcome_is_settled_by_a_person_with_evidence(app: Caller, person) -> None:  # type: ignore[no-untyped-def]
    app.submit("order-10", "Send it")
    claim = app.claim("order-10")
    app.post("/jobs/order-10/reserve", {"claim": claim})
    assert app.ask("order-10", "report", claim=claim, ordinal=0, outcome="unknown").told == (
        200,
        "unresolved",
    )
    sam = person("sam")
    looked = {
        "kind": "receiver_confirmed",
        "text": "It lies in the mailbox.",
        "link": "https://mail.example/1",
    }
    settled = sam.ask("order-10", "reconcile", ordinal=0, outcome="ok", value="in box", evidence=looked)
    assert (settled.told, settled["result"]) == ((200, "settled"), "succeeded")
    step = sam.job("order-10")["steps"][0]
    assert step["settled_by"] == {
        "actor": {"type": "person", "name": "sam"},
        "seq": settled["receipt"]["seq"],
    }
