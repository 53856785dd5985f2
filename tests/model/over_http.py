"""The door over HTTP (HTTP.md, paths): for each name a script asks under, a service's token, or headers."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import httpx

READS = {"job": "/jobs/{job_id}", "receipts": "/jobs/{job_id}/receipts", "receipt": "/receipts/{event_id}"}
ALONE = {"submit": "/jobs", "seal": "/seal"}


class Http:
    """`with Http(base, {"w1": token, …}) as door:`; `base` ends before `/api/v1`. Nothing is tried twice."""

    def __init__(
        self,
        base: str,
        callers: dict[str, str | dict[str, str]],
        transport: httpx.BaseTransport | None = None,
    ):
        self.client = httpx.Client(base_url=f"{base.rstrip('/')}/api/v1", timeout=20, transport=transport)
        self.headers = {
            who: {"Authorization": f"Bearer {given}"} if isinstance(given, str) else given
            for who, given in callers.items()
        }

    def __enter__(self) -> Http:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    def __call__(self, kind: str, job_id: str | None, body: dict[str, Any], who: str) -> tuple[int, Any]:
        headers = self.headers[who]
        if kind in READS:
            path = READS[kind].format(job_id=job_id, event_id=body.get("event_id"))
            query = {"after": body["after"]} if "after" in body else None
            answer = self.client.get(path, params=query, headers=headers)
        elif kind in ALONE:
            whole = body | ({"job_id": job_id} if job_id else {})
            answer = self.client.post(ALONE[kind], json=whole, headers=headers)
        else:
            answer = self.client.post(f"/jobs/{job_id}/{kind}", json=body, headers=headers)
        return answer.status_code, answer.json()
