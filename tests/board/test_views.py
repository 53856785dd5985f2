"""Saved views: one's own and shared ones, as tabs; they keep filters, and show nothing that rights hide."""

import pytest

from runs.models import SavedView

from .cast import Browser, Stage

NEW = "/views/new/?page={}&query={}"


def keep(browser: Browser, name: str, query: str = "queue=mail", page: str = "jobs", **more: str) -> None:
    sent = browser.send(NEW.format(page, query.replace("=", "%3D").replace("&", "%26")), name=name, **more)
    assert (sent.status, sent.goes_to) == (302, f"/{page}/?{query}")


def tabs(browser: Browser, path: str = "/jobs/") -> dict[str, str]:
    shown = [node for node in browser.get(path).root.all("a") if "data-view" in node.attributes]
    return {node.text: node["href"] for node in shown}


@pytest.mark.parametrize("page", ["jobs", "verify"])
def test_a_view_is_kept_shown_and_removed(stage: Stage, lena: Browser, page: str) -> None:
    path = f"/{page}/?queue=mail"
    assert tabs(lena, f"/{page}/") == {}, "without a view there are no tabs"
    link = lena.get(path).root.links["Keep this view…"]
    assert "Keep this view…" not in lena.get(f"/{page}/").root.links, "no filter is set"
    assert lena.send(link, name="Mail").goes_to == path
    assert tabs(lena, f"/{page}/") == {"All": f"/{page}/", "Mail": path}
    shown = lena.get(path)
    assert [node.text for node in shown.root.all("a") if node["aria-current"] == "true"] == ["Mail"]
    assert "Keep this view…" not in shown.root.links, "it is kept already"
    assert lena.post(shown.root.links["Remove this view…"], {}).goes_to == f"/{page}/"
    assert not SavedView.objects.exists()


def test_a_cursor_and_a_page_of_another_list_are_no_part_of_it(stage: Stage, lena: Browser) -> None:
    keep(lena, "Mail")
    assert tabs(lena, "/verify/") == {}


def test_shared_ones_are_seen_by_who_sees_the_whole_tenant(stage: Stage, lena: Browser) -> None:
    keep(lena, "Mine", "owner=customer-1")
    keep(lena, "Ours", "owner=customer-2", shared="on")
    sam, olga = stage.browser("sam"), stage.browser("olga")
    assert list(tabs(sam)) == ["All", "Ours"]
    assert "customer-2" not in olga.get("/jobs/").html
    assert "Remove this view…" not in sam.get("/jobs/", owner="customer-2").root.links
    keep(olga, "Own")
    assert list(tabs(olga)) == ["All", "Own"]


def test_nobody_removes_anothers(stage: Stage, lena: Browser) -> None:
    keep(lena, "Ours", shared="on")
    path = f"/views/{SavedView.objects.get().pk}/remove/"
    for name in ("sam", "ada"):
        assert stage.browser(name).get(path).status == 404
        assert stage.browser(name).post(path, {}).status == 404
    assert SavedView.objects.exists()
    assert lena.get(f"/views/{2**70}/remove/").status == 404


def test_the_same_name_again_replaces_it(stage: Stage, lena: Browser) -> None:
    keep(lena, "Mail")
    keep(lena, "Mail", "queue=ledger")
    assert tabs(lena)["Mail"] == "/jobs/?queue=ledger"
    assert SavedView.objects.count() == 1


def test_the_rest_stand_under_more(stage: Stage, lena: Browser) -> None:
    for n in range(8):
        keep(lena, f"No. {n}", f"q={n}")
    nav = lena.get("/jobs/").root.all("nav", "views")[0]
    assert [node.text for node in nav.all("details")[0].all("a")] == ["No. 6", "No. 7"]


def test_so_many_and_no_more(stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.saved_views.MOST", 1)
    keep(lena, "Mail")
    again = lena.send(NEW.format("jobs", "q%3D1"), name="Other")
    assert again.status == 422
    assert "You have as many views of this list as are kept" in again.text
    keep(lena, "Mail", "q=2")


@pytest.mark.parametrize(
    "path",
    [
        "/views/new/",
        "/views/new/?page=audit&query=q%3D1",
        "/views/new/?page=jobs&query=",
        NEW.format("jobs", "q%00"),
    ],
)
def test_what_is_no_view(lena: Browser, path: str) -> None:
    assert lena.get(path).status == 404
    assert lena.post(path, {"name": "x"}).status == 404


def test_a_name_is_needed_and_is_text(stage: Stage, lena: Browser) -> None:
    assert lena.send(NEW.format("jobs", "q%3D1"), name="").status == 422
    keep(lena, "<b>bold</b>")
    assert "<b>bold</b>" in tabs(lena)
    assert "<b>bold" not in lena.get("/jobs/").html
