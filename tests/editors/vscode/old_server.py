"""A language server of a version that is too old, and that knows nothing else."""

from __future__ import annotations

import json
import sys


def main() -> None:
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while header := source.readline():
        length = int(header.split(b":")[1])
        source.readline()
        message = json.loads(source.read(length))
        if "id" in message:
            result = {"capabilities": {}, "serverInfo": {"name": "stateward", "version": "0.0.9"}}
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
            sink.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            sink.flush()


if __name__ == "__main__":
    main()
