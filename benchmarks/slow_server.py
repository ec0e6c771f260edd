"""An OpenAI-compatible server on loopback that takes its time: ``python -m benchmarks.slow_server SECONDS``.

Prints its address and serves until it is ended; any number of requests wait side by side.
"""

import asyncio
import json
import sys

REPLY = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9}}
MODELS = {"data": [{"id": "slow", "owned_by": "benchmarks"}]}


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Answer the requests of one connection, each after ``seconds``; listing the models takes none."""
    while head := await _head(reader):
        length = next((int(line.split(":")[1]) for line in head if line.lower().startswith("content-length")), 0)
        await reader.readexactly(length)
        listing = head[0].startswith("GET")
        if not listing:
            await asyncio.sleep(seconds)
        body = json.dumps(MODELS if listing else REPLY).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        writer.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
    writer.close()


async def _head(reader: asyncio.StreamReader) -> list[str]:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return []


async def serve(seconds: float) -> None:
    server = await asyncio.start_server(lambda reader, writer: answer(reader, writer, seconds), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
