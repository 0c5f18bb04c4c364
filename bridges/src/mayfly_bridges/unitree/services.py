"""The service that programs ask, before they command motors, which program of the robot does so.

None does here: no mode is active, and releasing it succeeds. Modes cannot be selected.
"""

from __future__ import annotations

import json
from collections import deque
from typing import Any

from mayfly_bridges._dds.node import Node, profile, take_all
from mayfly_bridges.unitree.messages import TYPES

_NAME = "motion_switcher"
_VERSION = "1.0.0.1"
_GET_VERSION, _CHECK_MODE, _RELEASE_MODE = 1, 1001, 1003
_NOT_IMPLEMENTED = 3203  # of the SDK


def answer(api: int) -> tuple[int, str]:
    """Code and data for a request of the motion switcher."""
    if api == _GET_VERSION:
        return 0, _VERSION
    if api == _CHECK_MODE:
        return 0, json.dumps({"form": "0", "name": ""})
    return (0, "") if api == _RELEASE_MODE else (_NOT_IMPLEMENTED, "")


class MotionSwitcher:
    """Requests and responses of the service."""

    def __init__(self, node: Node) -> None:
        kinds = [TYPES.kind(f"unitree_api/{name}") for name in ("Request", "Response")]
        self._requests = node.reader(f"rt/api/{_NAME}/request", kinds[0], profile(10))
        self._responses = node.writer(f"rt/api/{_NAME}/response", kinds[1], profile(10))
        self._unsent: deque[Any] = deque(maxlen=10)

    def serve(self) -> None:
        """Answers the requests that have come.

        A request may arrive before the news of who reads its response: until somebody does, the
        newest ten responses wait.
        """
        for request in take_all(self._requests):
            if not request.header.policy.noreply:
                self._unsent.append(_response(request))
        while self._unsent and self._responses.get_matched_subscriptions():
            self._responses.write(self._unsent.popleft())


def _response(request: Any) -> Any:
    code, data = answer(request.header.identity.api_id)
    header = TYPES.new(
        "unitree_api/ResponseHeader",
        identity=request.header.identity,
        status=TYPES.new("unitree_api/ResponseStatus", code=code),
    )
    return TYPES.new("unitree_api/Response", header=header, data=data)
