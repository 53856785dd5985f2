"""Bulk operations over HTTP."""

from collections.abc import Callable

from runs import ledger
from runs.commands import operations

from .cast import Caller, bearer, token_for


def body(**given: object) -> dict[str, object]:
    return {"event_id": "op-1", "command": "cancel", "cause": "operator_requested", **given}


def test_from_taking_on_to_history(app: Caller) -> None:
    app.submit("a")
    app.submit("b")
    taken = app.post("/operations", body(job_ids=["a", "b"], title="The wrong mailing"))
    assert taken.told == (202, "accepted")
    assert taken["operation"]["jobs"] == 2
    path = f"/operations/{taken['operation']['operation_id']}"
    assert app.get(path)["state"] == "open"
    operations.work_off(ledger.clock())
    first = app.get(path, limit=1)
    assert (first["answers"], [job["status"] for job in first["list"]]) == ({"requested": 2}, ["requested"])
    second = app.get(path, limit=1, after=first["next_after"])
    assert ([job["job_id"] for job in second["list"]], second["next_after"]) == (["b"], None)
    assert [each["title"] for each in app.get("/operations")["operations"]] == ["The wrong mailing"]
    assert app.post(f"{path}/abort", {"event_id": "stop-1"}).told == (200, "already_ended")
    assert app.post("/operations", body(job_ids=["a", "b"], title="The wrong mailing"))["replayed"] is True
    assert app.get("/receipts/op-1")["kind"] == "operate"


def test_what_is_not_taken(app: Caller, person: Callable[[str], Caller]) -> None:
    assert app.post("/operations", body()).fields == ["job_ids"]
    assert app.post("/operations", body(filter={})).fields == ["filter"]
    assert app.post("/operations", body(job_ids=["a"], unknown=1)).fields == ["unknown"]
    assert app.post("/operations", body(filter={"colour": "red"})).fields == ["filter.colour"]
    assert app.post("/operations", body(job_ids=[f"j{n}" for n in range(5001)])).code == 422
    assert person("sam").post("/operations", body(job_ids=["a"])).told == (403, "no_grant")
    assert person("aud").post("/operations", body(job_ids=["a"])).told == (403, "explicit_deny")
    assert app.get("/operations/op-nothing").code == 404
    assert app.post("/operations/op-nothing/abort", {"event_id": "s"}).code == 404


def test_a_token_that_died_meanwhile_asks_nothing_more(app: Caller, cast: dict[str, object]) -> None:
    from runs.models import Job, Token

    app.submit("a")
    mine = bearer(token_for(cast["app"], ["view", "cancel"]))  # type: ignore[arg-type]
    taken = mine.post("/operations", body(filter={"queue": "mail"}))
    Token.objects.filter(prefix=mine.headers["Authorization"].split("_")[1]).update(revoked_at=ledger.clock())
    operations.work_off(ledger.clock())
    assert app.get(f"/operations/{taken['operation']['operation_id']}")["answers"] == {"token_dead": 1}
    assert Job.objects.get(job_id="a").control == "run"
