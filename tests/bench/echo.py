"""The floor: an echo on the same event loop and framing as the daemon, which decides and stores nothing."""

from __future__ import annotations

import asyncio
import os
import sys

from stateward_protocol.envelope import encode_result
from stateward_protocol.framing import FrameReader, Framing, frame
from stateward_protocol.strict_json import decode

READY = frame(encode_result(0, "x" * 1_000_000), Framing.HEADERS)


class Echo(asyncio.Protocol):
    """Answers each request with its own params, and `ready` with a megabyte that was ready before."""

    def __init__(self) -> None:
        self._reader = FrameReader()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (body := self._reader.next_body()) is not None:
            message = decode(body)
            if message["method"] == "ready":
                self._transport.write(READY)
            else:
                answer = encode_result(message["id"], message["params"])
                self._transport.write(frame(answer, self._reader.framing or Framing.HEADERS))


async def serve(path: str, ready: int) -> None:
    server = await asyncio.get_running_loop().create_unix_server(Echo, path, backlog=1024)
    os.write(ready, b"R\n")
    os.close(ready)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
