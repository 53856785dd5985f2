"""`manage.py drill`: the canary goes the way of a signal, to every account that could work, and back."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from runs.models import Drill, Receipt
from runs.permissions import Action, Actor, open_account
from runs.worker import Client
from tests.board.cast import Stage
from tests.support.server import Served

from .test_worker_socket import Listen, listen

__all__ = ["listen"]


def drill(wait: float = 20) -> str:
    out = StringIO()
    call_command("drill", wait=wait, stdout=out)
    return out.getvalue()


def test_who_hears_is_timed_and_who_has_no_socket_is_named(stage: Stage, served: Served, token: str) -> None:
    stage.begin("order-1")
    receipts = Receipt.objects.count()
    open_account(Actor.system(stage.tenant), "w2", [Action.VIEW, Action.EXECUTE], queue="mail")
    open_account(Actor.system(stage.tenant), "caller", [Action.VIEW, Action.CANCEL], queue="mail")
    with Client(served.url, token) as client:
        client.ears.open()
        told = drill(wait=4).splitlines()
    assert [line.partition(":")[0] for line in told] == ["acme/w1", "acme/w2"], "a caller works on nothing"
    assert told[0].startswith("acme/w1: heard after ")
    assert told[1].startswith("acme/w2: not reachable")
    assert (Receipt.objects.count(), stage.row("order-1").control) == (receipts, "run")


def test_an_account_that_does_not_answer_fails_the_drill(stage: Stage, listen: Listen) -> None:
    ear = listen()
    with pytest.raises(CommandError) as failed:
        drill(wait=3)
    assert failed.value.returncode == 1
    assert ear.next()["type"] == "drill"
    assert Drill.objects.get().heard_at is None


def test_one_answers_only_for_itself(stage: Stage, listen: Listen) -> None:
    account = open_account(Actor.system(stage.tenant), "w2", [Action.VIEW, Action.EXECUTE], queue="mail")
    mine, other = listen(), listen(f"Bearer {account}")
    with pytest.raises(CommandError):
        drill(wait=3)
    told = mine.next()
    other.socket.send(f'{{"type": "drill", "id": "{told["id"]}"}}')
    other.watch()
    assert other.next()["id"] != told["id"]
    assert Drill.objects.filter(heard_at__isnull=False).count() == 0


def test_a_tenant_that_there_is_not_is_wrong_use(stage: Stage) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("drill", tenant="nowhere")
    assert refused.value.returncode == 2
