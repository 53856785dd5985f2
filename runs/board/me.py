"""Preferences: language, theme, single-letter keys. Kept as cookies, so that the first paint is right;
nothing of them decides what is shown of a job."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from .door import form_page, show
from .shell import THEMES

YEAR = 365 * 24 * 60 * 60
LETTERS = "letters"  #: the cookie that switches the single-letter keys off


class MeForm(forms.Form):
    language = forms.ChoiceField(label=lazy("Language"), choices=settings.LANGUAGES)
    theme = forms.ChoiceField(
        required=False,
        label=lazy("Theme"),
        choices=[("", lazy("As the system has it")), ("light", lazy("Light")), ("dark", lazy("Dark"))],
    )
    letters = forms.BooleanField(required=False, label=lazy("Single letters are keys (J, K, E …)"))


@form_page
def me(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _show(request, MeForm(initial=_now(request)), 200)
    form = MeForm(request.POST)
    if not form.is_valid():
        return _show(request, form, 422)
    given = form.cleaned_data
    with override(given["language"]):
        messages.success(request, _("Preferences kept for this browser."))
    response = redirect(reverse("me"))
    kept = {
        settings.LANGUAGE_COOKIE_NAME: given["language"],
        "theme": given["theme"],
        LETTERS: "" if given["letters"] else "off",
    }
    for name, value in kept.items():
        if value:
            response.set_cookie(name, value, YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE)
        else:
            response.delete_cookie(name, samesite="Lax")
    return response


def _now(request: HttpRequest) -> dict[str, str | bool]:
    theme = request.COOKIES.get("theme", "")
    return {
        "language": get_language() or settings.LANGUAGE_CODE,
        "theme": theme if theme in THEMES else "",
        "letters": request.COOKIES.get(LETTERS) != "off",
    }


def _show(request: HttpRequest, form: MeForm, status: int) -> HttpResponse:
    return show(request, "runs/me/page.html", "runs/me/page.html", {"form": form}, status)
