"""Every string that a person can read has its Simplified Chinese, which says neither more nor less. The
catalogue is laid beside the code and the templates; what differs is named."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.pofile import read_po
from django.conf import settings
from django.contrib import admin
from django.utils.translation import override
from django.utils.translation.template import templatize

pytestmark = pytest.mark.pure

ROOT = Path(settings.BASE_DIR)
PO = "locale/zh_Hans/LC_MESSAGES/django.po"
#: By the name that code calls it by: the places of context, string and plural among its arguments.
CALLS = {
    **dict.fromkeys(("_", "lazy", "gettext", "gettext_lazy", "gettext_noop"), (None, 0, None)),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (None, 0, 1)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), (0, 1, None)),
    "npgettext": (0, 1, 2),
}
#: A string's context and its forms in English.
Key = tuple[str | None, tuple[str, ...]]

PLACEHOLDER = re.compile(r"%\((\w+)\)[-+ #0]*\d*(?:\.\d+)?([a-z])|\{(\w+)\}|%%(\w)\1?|(</?\w+[^>]*>)")
HAN = re.compile(r"[\u4e00-\u9fff]")
#: What both languages call alike.
SAME: set[str] = set()
#: What stands in the English must stand in the Chinese: above all what is not known, and what was only asked.
SAID_TOO = {
    r"\bunknown\b": "未知",
    r"(?i)\bcancel(?!board)": "取消",
    r"cancel (was )?(already )?requested|Request cancel": "请求取消|请求过取消|取消请求",
    r"\bdid not happen\b": "未发生|没有发生",
    r"(?i)\btombstones?\b": "墓碑",
    r"(?i)\bevidence\b": "证据",
    r"(?i)\btestimony\b": "证言",
    r"(?i)\breceipts?\b": "回执",
    r"(?i)\bdisputed?\b": "争议",
    r"(?i)\bclaims?\b(?! claim)": "认领",
    r"(?i)\blease\b": "租约",
    r"(?i)\bsecond person\b": "第二人",
    r"(?i)\bqueues?\b": "队列",
    r"(?i)\btokens?\b": "令牌",
}
#: And what may stand in the Chinese only where the English says it.
SAID_ONLY = {
    "失败": r"(?i)fail",
    "成功": r"(?i)succe|went through|go through|went it through|its? way",
    "已取消": r"^cancelled$",
    "已停止": r"(?i)stopped",
    "已确认": r"(?i)confirm|acknowledged",
    "已批准": r"(?i)approved",
}


def of_code(text: str) -> Iterator[Key]:
    """The strings marked in a module; also inside f-strings."""
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS):
            continue
        said = [arg.value if isinstance(arg, ast.Constant) else None for arg in node.args]
        context, one, many = (None if at is None else said[at] for at in CALLS[node.func.id])
        if isinstance(one, str):
            yield context, (one, many) if many else (one,)


def of_template(text: str) -> Iterator[Key]:
    """Django makes code of a template's strings, with the rest of it blanked out."""
    code = "\n".join(line.strip() for line in templatize(text).splitlines())
    for _line, said, _comments, context in extract("python", BytesIO(code.encode()), DEFAULT_KEYWORDS):
        yield context, (said,) if isinstance(said, str) else tuple(said[:2])


@cache
def used() -> dict[Key, str]:
    """Every string in use, and a place where."""
    found: dict[Key, str] = {}
    for top in ("runs", "cancelboard"):
        for path in sorted((ROOT / top).rglob("*.py")):
            found |= dict.fromkeys(of_code(path.read_text()), str(path.relative_to(ROOT)))
    for path in sorted((ROOT / "templates").rglob("*.html")):
        found |= dict.fromkeys(of_template(path.read_text()), str(path.relative_to(ROOT)))
    return found


@cache
def catalogue() -> dict[Key, tuple[str, ...]]:
    """By string its Chinese: one form, since Chinese has no plural."""
    with (ROOT / PO).open("rb") as file:
        messages = [message for message in read_po(file, abort_invalid=True) if message.id]
    forms = (
        (message, (message.id,) if isinstance(message.id, str) else tuple(message.id), message.string)
        for message in messages
    )
    return {
        (message.context, said): (chinese,) if isinstance(chinese, str) else tuple(chinese)
        for message, said, chinese in forms
    }


def both() -> list[tuple[str, str]]:
    """Each string (of one with a plural, the plural) and its Chinese."""
    return [(said[-1], chinese[0]) for (_context, said), chinese in catalogue().items()]


def test_every_string_in_use_has_its_chinese() -> None:
    missing = {said: where for (context, said), where in used().items() if (context, said) not in catalogue()}
    empty = [said for (_context, said), chinese in catalogue().items() if len(chinese) != 1 or not chinese[0]]
    assert not missing
    assert not empty


def test_the_catalogue_holds_nothing_that_is_not_in_use() -> None:
    assert not catalogue().keys() - used().keys()


def test_no_string_stands_twice_in_the_catalogue() -> None:
    text = (ROOT / PO).read_text()
    entries = re.findall(r'^(?:msgctxt "(.*)"\n)?msgid "(.+)"$', text, re.MULTILINE)
    assert not [entry for entry, count in Counter(entries).items() if count > 1]


def test_nothing_that_is_filled_in_is_lost_or_made_up() -> None:
    assert not {
        said: chinese
        for said, chinese in both()
        if sorted(PLACEHOLDER.findall(said)) != sorted(PLACEHOLDER.findall(chinese))
    }


def test_nothing_is_left_in_english() -> None:
    left = {said for said, chinese in both() if not HAN.search(PLACEHOLDER.sub("", chinese))}
    assert left == {said for said in left if not re.search(r"[A-Za-z]", PLACEHOLDER.sub("", said))} | SAME


@pytest.mark.parametrize("english", SAID_TOO)
def test_what_the_english_says_the_chinese_says(english: str) -> None:
    word = re.compile(SAID_TOO[english])
    assert not {
        said: chinese for said, chinese in both() if re.search(english, said) and not word.search(chinese)
    }


@pytest.mark.parametrize("chinese_word", SAID_ONLY)
def test_the_chinese_claims_no_more_than_the_english(chinese_word: str) -> None:
    english = re.compile(SAID_ONLY[chinese_word])
    assert not {
        said: chinese for said, chinese in both() if chinese_word in chinese and not english.search(said)
    }


def test_chinese_is_set_as_chinese() -> None:
    """Full-width punctuation after a character, and one space, no more, between it and a letter or digit."""
    set_wrongly = re.compile(rf"{HAN.pattern}[,;:!?.()]|[,;:!?()]{HAN.pattern}|{HAN.pattern}[A-Za-z0-9]|  ")
    dates = {said for context, (said, *_many) in catalogue() if context == "date"}
    assert not {chinese for said, chinese in both() if said not in dates and set_wrongly.search(chinese)}


#: Columns that no page shows (hashes), that every language calls alike, or that a code names.
NOT_NAMED = {"ID", "claim hash", "token hash", "secret hash", "attempt", "dispatch attempt"}


def test_the_admin_names_every_column_in_chinese() -> None:
    with override("zh-hans"):
        names = {
            str(name)
            for model in admin.site._registry
            for name in (
                model._meta.verbose_name,
                model._meta.verbose_name_plural,
                *(field.verbose_name for field in (*model._meta.fields, *model._meta.many_to_many)),
            )
        }
    assert {name for name in names if not HAN.search(name)} == NOT_NAMED
