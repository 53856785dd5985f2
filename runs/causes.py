"""Why something was stopped: the built-in causes of PROTOCOL section 8 and those that a tenant added.

Words only. Nothing here stops anything, and no text promises a re-run or a discarded result.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from runs.models import Cause

#: code: (a few words, a sentence)
BUILT_IN: dict[str, tuple[Any, Any]] = {
    "user_requested": (_("Requested by the user"), _("The person this work is for asked for it.")),
    "operator_requested": (_("Requested by an operator"), _("Somebody who runs the service asked for it.")),
    "paused_by_user": (_("Paused by the user"), _("The person this work is for asked for a pause.")),
    "paused_by_orchestrator": (
        _("Paused by the orchestrator"),
        _("The program that plans this work asked for a pause."),
    ),
    "task_deleted": (
        _("Task deleted"),
        _("The task that this work belongs to was deleted. What had happened before is kept here."),
    ),
    "paused_on_reload": (
        _("Paused on reload"),
        _("The program that plans this work was loaded anew, and asked for a pause meanwhile."),
    ),
    "goal_met": (_("Goal met"), _("The goal was reached, so the steps that had not started are not needed.")),
    "settle_drain_timeout": (
        _("Grace ended"),
        _("The time that was given to finish or abandon the current call has ended."),
    ),
    "killed_by_planner": (
        _("Decision of the planner"),
        _("The program that plans this work decided against it."),
    ),
    "work_paused_by_user": (_("Work paused by the user"), _("A person paused the whole piece of work.")),
    "work_cancelled_by_user": (
        _("Work cancelled by the user"),
        _("A person cancelled the whole piece of work."),
    ),
    "work_claim_lost": (
        _("Claim lost"),
        _("The worker no longer holds the claim of this job: its lease ended, or somebody else took over."),
    ),
    "work_finished": (_("Work finished"), _("The work has ended, and what it held is released.")),
    "paused_race_guard": (
        _("Paused as a precaution"),
        _("Two things happened at the same moment, so the work was paused until somebody has looked."),
    ),
    "chat_stopped_by_user": (_("Chat stopped by the user"), _("A person stopped the conversation.")),
    "chat_paused_with_task": (
        _("Chat paused with its task"),
        _("The task that the conversation belongs to was paused."),
    ),
    "chat_turn_finished": (
        _("Turn finished"),
        _("The turn of the conversation has ended, and what it held is released."),
    ),
    "shutdown": (_("Shutdown"), _("The program that does this work is shutting down.")),
    "run_hard_timeout": (_("Hard time limit"), _("The run reached the longest time that it is allowed.")),
    "parent_cancelled": (
        _("Parent cancelled"),
        _("The job that this one belongs to was cancelled, and with it its children."),
    ),
    "deadline_exceeded": (_("Deadline passed"), _("A deadline passed that named no cause of its own.")),
    "canceled_no_cause": (_("No cause given"), _("A cancel was accepted that named no cause.")),
    "other": (_("Another cause"), _("What happened has no name of its own here; a note may say more.")),
}

#: Stored where a command named none, and used by the server itself: retired, they would stop the stopping.
NEVER_RETIRED = frozenset({"deadline_exceeded", "canceled_no_cause", "other"})

#: They release resources; a cancel for one of them would stop what has ended.
NOT_FOR_CANCEL = frozenset({"work_finished", "chat_turn_finished"})

#: What a person may mean, by what they ask for; the others are a program's or the server's own words. A page
#: offers these, and the tenant's own; the command takes what PROTOCOL section 8 says.
OF_PEOPLE = {
    "cancel": (
        *("user_requested", "operator_requested", "work_cancelled_by_user", "chat_stopped_by_user"),
        *("task_deleted", "goal_met", "other"),
    ),
    "pause": ("paused_by_user", "work_paused_by_user", "operator_requested", "paused_race_guard", "other"),
    "resume": ("user_requested", "operator_requested", "other"),
    "revoke": ("operator_requested", "shutdown", "other"),
}


def offered(tenant_id: int, command: str) -> list[dict[str, Any]]:
    """The causes that a person may choose from for this command: none that is retired."""
    return [
        each
        for each in listing(tenant_id)
        if not each["retired"] and (each["code"] not in BUILT_IN or each["code"] in OF_PEOPLE[command])
    ]


def describe(tenant_id: int, code: str) -> dict[str, str]:
    """A cause, retired or not, with its words in the active language: `{"code", "short", "text"}`."""
    return describe_all(tenant_id, [code])[code]


def describe_all(tenant_id: int, codes: Iterable[str]) -> dict[str, dict[str, str]]:
    """`describe` for many codes, by at most one query (none where all are built in)."""
    wanted = set(codes)
    own = {cause.code: cause for cause in _own(tenant_id, wanted - BUILT_IN.keys())}
    return {code: _words(code, own.get(code)) for code in wanted}


def in_words(tenant_id: int, signal: Mapping[str, Any]) -> dict[str, Any]:
    """A signal (PROTOCOL section 7) whose causes are codes, with their words."""
    named = {name: signal[name] for name in ("cause", "original_cause") if signal.get(name)}
    return {**signal, **{name: describe(tenant_id, code) for name, code in named.items()}}


def listing(tenant_id: int) -> list[dict[str, Any]]:
    """Every cause of the tenant, the built-in ones first: `{"code", "short", "text", "retired"}`."""
    own = {cause.code: cause for cause in Cause.objects.filter(tenant_id=tenant_id).order_by("code")}
    codes = [*BUILT_IN, *(code for code in own if code not in BUILT_IN)]
    return [
        {**_words(code, own.get(code)), "retired": bool(code in own and own[code].retired_at)}
        for code in codes
    ]


def known_and_live(tenant_id: int, code: str) -> bool:
    """Whether a command may name this cause: built in or added, and not retired."""
    own = Cause.objects.filter(tenant_id=tenant_id, code=code).first()
    return own.retired_at is None if own else code in BUILT_IN


def _own(tenant_id: int, codes: set[str]) -> Iterable[Cause]:
    return Cause.objects.filter(tenant_id=tenant_id, code__in=codes) if codes else ()


def _words(code: str, own: Cause | None) -> dict[str, str]:
    """Ours where the code is ours: a tenant retires a built-in cause, it does not reword it."""
    if code in BUILT_IN:
        short, text = BUILT_IN[code]
        return {"code": code, "short": str(short), "text": str(text)}
    return {"code": code, "short": own.short if own else code, "text": own.text if own else ""}
