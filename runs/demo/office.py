"""The office's page: what the mail server really received, and the scenes to play. Its own little web server.

It stands for the other company's console that a reviewer looks into; so it shares nothing with the board.
"""

from collections.abc import Callable
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, urlsplit

from .scenes import Office

SCENES = {
    "mailing": "Start a mailing of 10. Cancel it on the board between two mails, or while one is out.",
    "kill": "Start a mailing of 4 and kill its worker in the middle of a send.",
    "before": "Cancel a mailing before it is submitted.",
    "quick": "Send a single mail at once, so that a cancel comes too late.",
}

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Mail house</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root {{ color-scheme: light dark }} body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
padding: 0 1rem }} table {{ border-collapse: collapse; width: 100% }} td, th {{ text-align: left; padding: .3rem .6rem;
border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); overflow-wrap: anywhere }}
button {{ font: inherit; padding: .3rem .8rem }} li {{ margin: .4rem 0 }} form {{ display: inline }}
.said {{ padding: .5rem .8rem; border-left: 4px solid #2a7 }}</style></head><body>
<h1>Mail house</h1><p>The receiver's own console. The board is <a href="{board}">here</a>.</p>{said}
<h2>Scenes</h2><ul>{scenes}</ul>
<h2>Mailbox</h2><p>What the mail server really received, newest first.</p>
<form method="get"><label>Idempotency key <input name="key" value="{key}" size="40"></label> <button>Look up</button></form>
{sealing}<table><thead><tr><th>No.</th><th>To</th><th>Subject</th><th>Received (UTC)</th><th>Key</th><th>Times</th></tr>
</thead><tbody>{mails}</tbody></table>{nothing}</body></html>"""


def page(office: Office, key: str, said: str) -> str:
    scenes = "".join(_button("/play", "scene", name, text) for name, text in SCENES.items())
    scenes += "".join(
        _button("/late", "job", job, f"Submit {job}, which was cancelled before it came.")
        for job in office.late
    )
    mails = office.mailbox.find(key)
    rows = "".join(
        f"<tr><td>{m.number}</td><td>{escape(m.to)}</td><td>{escape(m.subject)}</td><td>{m.at:%H:%M:%S}</td>"
        f"<td><code>{escape(m.key)}</code></td><td>{m.times}</td></tr>"
        for m in mails[:100]
    )
    nothing = (
        ""
        if mails
        else "<p>Nothing was received under that key yet. That is no proof that nothing will be.</p>"
    )
    sealing = ""
    if key and not mails:
        sealed = office.mailbox.is_sealed(key)
        text = (
            "This key is sealed: it is refused, now and for ever."
            if sealed
            else "Seal it: refuse this key for ever."
        )
        sealing = f"<p>{text}</p>" if sealed else f"<ul>{_button('/seal', 'key', key, text)}</ul>"
    note = f'<p class="said">{said}</p>' if said else ""
    return PAGE.format(
        board=office.url,
        said=note,
        scenes=scenes,
        key=escape(key),
        sealing=sealing,
        mails=rows,
        nothing=nothing,
    )


def _button(path: str, name: str, value: str, text: str) -> str:
    return (
        f'<li><form method="post" action="{path}"><button name="{name}" value="{escape(value)}">Go</button></form> '
        f"{escape(text)}</li>"
    )


def play(office: Office, path: str, form: dict[str, list[str]]) -> str:
    """Carry out what a button says. Returns what happened, as HTML."""
    if path == "/seal":
        sealed = office.mailbox.seal(form["key"][0])
        return "Sealed." if sealed else "Too late: a message with this key was received."
    if path == "/late":
        job = form["job"][0]
        return f"{_link(office, job)} was submitted: <b>{escape(office.submit_late(job))}</b>."
    scenes: dict[str, Callable[[], str]] = {
        "mailing": office.mailing,
        "kill": office.kill_mid_send,
        "before": office.cancel_before_submit,
        "quick": office.finish_quickly,
    }
    return f"Look at {_link(office, scenes[form['scene'][0]]())} on the board."


def _link(office: Office, job: str) -> str:
    return f'<a href="{office.url}/jobs/{quote(job)}/">{escape(job)}</a>'


def serve(office: Office, port: int) -> ThreadingHTTPServer:
    """The page's server, on loopback; the caller runs it and shuts it down."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            self._answer(page(office, query.get("key", [""])[0], escape(query.get("said", [""])[0])))

        def do_POST(self) -> None:
            if self.headers.get("Origin") not in (None, f"http://{self.headers.get('Host')}"):
                self.send_error(403, "Only this page may press its buttons")
                return
            form = parse_qs(self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 10_000)).decode())
            try:
                said = play(office, self.path, form)
            except KeyError:
                self.send_error(404)
                return
            self._answer(page(office, "", said))

        def _answer(self, html: str) -> None:
            body = html.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """The demo's terminal is for its addresses and passwords."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)
