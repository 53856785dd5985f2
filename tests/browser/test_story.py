"""The demo's whole story, as sam, lena and omar live it: real workers, real mail, a real browser."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from .conftest import Demo

pytestmark = [pytest.mark.story, pytest.mark.timeout(300)]

expect.set_options(timeout=60_000)  # milliseconds; a page updates by itself long before


def verdict(page: Page):  # type: ignore[no-untyped-def]
    return page.locator("#verdict-label")


def ask_to_cancel(page: Page) -> None:
    page.get_by_role("link", name="Request cancel…").click()
    dialog = page.locator("#dialog")
    dialog.get_by_label("Cause").select_option("user_requested")
    dialog.get_by_role("button", name="Ask to cancel").click()


def test_a_mail_that_was_out_when_the_cancel_came(demo: Demo, person: Callable[[str], Page]) -> None:
    """Never "stopped" while it is out; its late success is kept; lena's page tells it by itself."""
    job = demo.play("mailing")
    omar, lena = person("omar"), person("lena")
    for page in (omar, lena):
        page.goto(f"/jobs/{job}/")
    expect(omar.get_by_text("Step 1 sent")).to_be_visible()
    ask_to_cancel(omar)
    expect(verdict(lena)).to_have_text("Cancel requested; verifying a sent step")
    expect(lena.get_by_text("Not yet:")).to_be_visible()
    expect(verdict(lena)).to_have_text(re.compile("^Stopped; [1-9] of 10 steps had happened$"))
    happened = int(verdict(lena).inner_text().split()[1])
    expect(lena.locator(f"#step-{happened}")).to_contain_text("Happened")
    expect(lena.locator(f"#step-{happened + 1}")).to_contain_text("Held")
    expect(lena.locator("#tell")).to_contain_text(f"{happened} of 10 steps had already happened")


def test_a_worker_killed_in_the_middle_of_a_send(demo: Demo, person: Callable[[str], Page]) -> None:
    """Unknown, until sam has looked into the mailbox and recorded what he saw, with evidence."""
    job = demo.play("kill")
    omar, sam = person("omar"), person("sam")
    omar.goto(f"/jobs/{job}/")
    expect(verdict(omar)).to_have_text("Running; outcome of a sent step unknown", timeout=120_000)
    ask_to_cancel(omar)
    expect(verdict(omar)).to_have_text("Cancel requested; outcome of a sent step unknown")
    sam.goto("/verify/")
    row = sam.locator(f'[data-job="{job}"]')
    key = row.get_by_text(re.compile("^cb-")).inner_text()
    seen = re.search(r"<td>(\d+)</td>", demo.mailbox(key))
    assert seen, "the mail server has received it"
    row.get_by_role("link", name="Record outcome").click()
    form = sam.locator("#dialog")
    form.get_by_role("radio", name="It happened").check()
    form.get_by_label("Reference shown there").fill(f"message {seen[1]}")
    form.get_by_label("Where you looked").select_option("list")
    form.get_by_label("What you saw").fill(f"The mailbox lists message {seen[1]} under this key.")
    form.get_by_role("button", name="Record outcome").click()
    expect(verdict(sam)).to_have_text("Stopped; 2 of 4 steps had happened")
    expect(verdict(omar)).to_have_text("Stopped; 2 of 4 steps had happened")
    expect(omar.locator("#timeline")).to_contain_text(f"The mailbox lists message {seen[1]} under this key.")


def test_a_cancel_before_the_job_and_one_after_it(demo: Demo, person: Callable[[str], Page]) -> None:
    late = demo.play("before")
    omar = person("omar")
    omar.goto("/tombstones/")
    expect(omar.locator("#results")).to_contain_text(late)
    expect(omar.locator("#results")).to_contain_text("has not come yet")
    assert demo.submit_late(late) == "blocked_cancelled"
    omar.goto("/tombstones/")
    expect(omar.locator("#results")).to_contain_text("refused once")

    quick = demo.play("quick")
    omar.goto(f"/jobs/{quick}/cancel/")
    omar.get_by_label("Cause").select_option("user_requested")
    page = person("lena")
    page.goto(f"/jobs/{quick}/")
    expect(verdict(page)).to_have_text("Completed")
    omar.get_by_role("link", name="See what changed").click()  # until then it cannot be sent
    omar.get_by_role("button", name="Ask to cancel").click()
    expect(omar.get_by_text("Nothing was changed by this.")).to_be_visible()
    expect(verdict(page)).to_have_text("Completed; the cancel came too late")
