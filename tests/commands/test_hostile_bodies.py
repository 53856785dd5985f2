"""What a body of one MiB may cost: no more than any other of its size, however it is built."""

from time import process_time

from runs.protocol.json_door import parse

MOST = 1024 * 1024


def cost(body: bytes) -> float:
    assert len(body) <= MOST
    began = process_time()
    parse(body)
    return process_time() - began


def test_a_long_key_over_many_items_costs_what_a_short_one_does() -> None:
    plain = cost(b'{"k":[' + b"1," * 500_000 + b"1]}")
    long_key = cost(b'{"' + b"k" * 500_000 + b'":[' + b"1," * 260_000 + b"1]}")
    assert long_key < 3 * plain  # writing the path out for each item made it seven times as much
