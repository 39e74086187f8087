"""Ids of requests that name none themselves."""

import os
from typing import Any

from app.http import request_id


def new_id() -> str:
    scope: Any = {"headers": []}
    found = request_id.of(scope)
    assert request_id.of(scope) == found, "the same at every call"
    return found


def test_a_forked_process_does_not_repeat_the_ids_of_its_parent() -> None:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, " ".join(new_id() for _ in range(3)).encode())
        os._exit(0)
    os.close(write)
    own = {new_id() for _ in range(3)}
    with os.fdopen(read) as said:
        theirs = set(said.read().split())
    assert os.waitpid(child, 0)[1] == 0
    assert len(own) == len(theirs) == 3 and not own & theirs
