"""A worker in a process of its own: `python -m tests.faults.worker URL TOKEN JOB`.

It works on the job with the SDK. Between the answer `dispatched` and the send it says so and waits for a
line; then it sends (says `sent`), and says at last how its run has ended.
"""

import sys

from runs.worker import Client, Happened, StepContext, Timing, Worker

VALUE = "250 queued"


def say(word: str) -> None:
    print(word, flush=True)


def send(step: StepContext) -> Happened:
    step.dispatch()
    say("dispatched")
    sys.stdin.readline()
    say("sent")
    return Happened(VALUE)


def main() -> None:
    url, token, job_id = sys.argv[1:]
    with Client(url, token) as client:
        timing = Timing(heartbeat=1, ttl=5, poll=0.5)
        say(Worker(client, name="w1", tools={"smtp": send}, timing=timing, socket=False).run(job_id).how)


if __name__ == "__main__":
    main()
