"""What frames every page: who is here, where they can go, the zone and theme they chose. A context
processor."""

from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from runs.permissions import Action, Actor, rights_of
from runs.queries import verify_queue

from .shapes import NavGroup, NavItem, Person

COUNTED = 99  #: in the rail, "99+" is enough


def shell(request: HttpRequest) -> dict[str, Any]:
    """`shell`, lazily: an error page may have no user yet."""
    user = getattr(request, "user", None)
    framed = {
        "me": None,
        "zone": zone(),
        "theme": request.COOKIES.get("theme", "")
        if request.COOKIES.get("theme") in ("light", "dark")
        else "",
        "data_at": timezone.now(),
    }
    if user is None or not user.is_authenticated:
        return {"shell": framed}
    person = Person(user.name)
    nav, tabs = navigation(request, Actor.of_user(user))
    return {
        "shell": {
            **framed,
            "tenant": user.tenant.name,
            "me": {"name": person.name, "initials": person.initials, "you": True, "role": user.tenant.name},
            "nav": nav,
            "tabs": tabs,
        }
    }


def zone() -> dict[str, str]:
    current = timezone.get_current_timezone()
    offset = timezone.localtime().strftime("%z")
    name = timezone.get_current_timezone_name()
    hours = f"{offset[:3].replace('+0', '+').replace('-0', '-')}" + (
        f":{offset[3:]}" if offset[3:] != "00" else ""
    )
    label = "UTC" if name == "UTC" else f"{name.rpartition('/')[2].replace('_', ' ')}, UTC{hours}"
    return {"id": str(current), "label": label}


def navigation(request: HttpRequest, actor: Actor) -> tuple[list[NavGroup], list[NavItem]]:
    now = timezone.now()
    waiting = verify_queue.unverified(actor, now).order_by()[: COUNTED + 1].count()
    hot = bool(waiting) and rights_of(actor, now).anywhere(Action.RECONCILE, now)
    count = "" if not waiting else f"{COUNTED}+" if waiting > COUNTED else str(waiting)

    def item(name: str, label: str, icon: str, **extra: Any) -> NavItem:
        url = reverse(name)
        return NavItem(name, label, url, icon, current=request.path == url, **extra)

    verify = item("verify", _("Verify queue"), "verify", count=count, hot=hot)
    jobs = item("jobs", _("Jobs"), "stack")
    stones = item("tombstones", _("Tombstones"), "seal")
    words = item("words", _("Words"), "book")
    groups = [
        NavGroup(_("Work"), [verify]),
        NavGroup(_("Look up"), [jobs, words]),
        NavGroup(_("Oversight"), [stones]),
    ]
    user = request.user
    if user.is_staff:
        groups.append(
            NavGroup(
                _("Administration"), [NavItem("admin", _("Django admin"), reverse("admin:index"), "gear")]
            )
        )
    short = NavItem("verify", _("Verify"), verify.url, "verify", count, hot, verify.current)
    return groups, [short, jobs, stones, words]


def in_their_zone(get_response: Any) -> Any:
    """Middleware: times in the zone of the reader's cookie, UTC without one. Async-capable, as daphne
    needs."""
    from asgiref.sync import iscoroutinefunction, markcoroutinefunction

    def activate(request: HttpRequest) -> None:
        wanted = request.COOKIES.get("zone", "")
        timezone.activate(ZoneInfo(wanted) if wanted in available_timezones() else ZoneInfo("UTC"))

    if not iscoroutinefunction(get_response):

        def sync(request: HttpRequest) -> Any:
            activate(request)
            return get_response(request)

        return sync

    async def middleware(request: HttpRequest) -> Any:
        activate(request)
        return await get_response(request)

    return markcoroutinefunction(middleware)


in_their_zone.sync_capable = True  # type: ignore[attr-defined]
in_their_zone.async_capable = True  # type: ignore[attr-defined]
