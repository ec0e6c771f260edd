"""A Hub on loopback: as much of the dataset Hub's protocol as its own clients need, and faults on request.

For tests, benchmarks, and trying a release without publishing it: ``python -m benchmarks.loopback_hub 8000``, then in
another terminal ``transplantqa push ...`` with ``HF_ENDPOINT=http://127.0.0.1:8000 HF_TOKEN=any HF_HUB_DISABLE_XET=1``.
Everything is kept in memory and gone when it stops. A token is anything; who gives none sees public datasets alone.
"""

import json
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from benchmarks.loopback_hub_state import (
    OWNER,
    Hub,
    HubError,
    Repository,
    commit_named,
    path_info,
    refs,
    tree,
    upload_mode,
)


class Handler(BaseHTTPRequestHandler):
    """Answers one connection's requests; ``server.hub`` is the state."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the parent's name
        """Write nothing: the hub's own log has it."""

    def answer(self) -> None:
        """Answer a request, or let it go wrong as a fault says."""
        parts = urlsplit(self.path)
        path, hub = unquote(parts.path), self.server.hub
        self.fault = hub.fault(self.command, path)
        if self.fault and self.fault.kind == "drop_request":
            self.rfile.read(int(self.headers.get("Content-Length", 0)) // 2)
            self._hang_up()
            return
        body = self._body()
        try:
            if self.fault and self.fault.kind == "status":
                raise HubError(self.fault.status, "", "Too many requests")  # noqa: TRY301 - sent as any other refusal
            self._route(path, parse_qs(parts.query), body)
        except HubError as error:
            headers = {"X-Error-Code": error.code, "X-Error-Message": str(error)}
            if self.fault and self.fault.retry_after is not None:
                headers["Retry-After"] = str(self.fault.retry_after)
            self.reply({"error": str(error)}, status=error.status, headers=headers)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = answer  # noqa: N815 - the parent's names

    @property
    def signed_in(self) -> bool:
        """Whether the request has a token."""
        return self.headers.get("Authorization", "").startswith("Bearer ")

    def reply(self, content: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send JSON, or bytes as they are."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.server.hub.log.append((self.command, unquote(urlsplit(self.path).path), status))
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.fault and self.fault.kind == "drop_answer":
            self.wfile.write(body[: len(body) // 2])
            self._hang_up()
            return
        self.wfile.write(body)

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.close()

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline().strip(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _route(self, path: str, query: Mapping[str, list[str]], body: bytes) -> None:
        if found := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self._resolve(*found.groups())
        elif found := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(?:/(.*))?", path):
            self._dataset(found[1], found[2] or "", query, body)
        elif not self.signed_in and not path.startswith("/_lfs"):
            raise HubError(401, "", "Invalid credentials")
        elif found := re.fullmatch(r"/datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", path):
            self._batch(json.loads(body)["objects"])
        elif path == "/api/whoami-v2":
            self.reply({"type": "user", "name": OWNER, "orgs": [], "auth": {"accessToken": {"role": "write"}}})
        elif path == "/api/repos/create":
            self._create(json.loads(body))
        elif path == "/api/validate-yaml":
            self.reply({"errors": [], "warnings": []})
        elif found := re.fullmatch(r"/_lfs/(\w+)", path):
            if self.server.hub.keep(body) != found[1]:
                raise HubError(400, "", "SHA-256 mismatch")
            self.reply({})
        else:
            raise HubError(404, "", f"No such address: {path}")

    def _create(self, asked: Mapping[str, Any]) -> None:
        name = f"{asked.get('organization') or OWNER}/{asked['name']}"
        private = asked.get("private") or asked.get("visibility") == "private"
        self.server.hub.create(name, private=bool(private))
        self.reply({"url": f"{self.server.url}/datasets/{name}", "name": name, "id": name})

    def _batch(self, objects: list[dict[str, Any]]) -> None:
        missing = [entry for entry in objects if entry["oid"] not in self.server.hub.blobs]
        uploads = {
            entry["oid"]: {"actions": {"upload": {"href": f"{self.server.url}/_lfs/{entry['oid']}", "header": {}}}}
            for entry in missing
        }
        answers = [{"oid": entry["oid"], "size": entry["size"], **uploads.get(entry["oid"], {})} for entry in objects]
        self.reply({"transfer": "basic", "objects": answers})

    def _dataset(self, name: str, rest: str, query: Mapping[str, list[str]], body: bytes) -> None:
        repository = self.server.hub.repository(name, signed_in=self.signed_in)
        action, _, argument = rest.partition("/")
        if self.command != "GET" and action != "paths-info" and not self.signed_in:
            raise HubError(401, "", "Invalid credentials")
        if action in {"", "revision"}:
            self._info(name, repository, argument or "main")
        elif action == "refs":
            self.reply(refs(repository))
        elif action == "commit":
            lines = [json.loads(line) for line in body.split(b"\n") if line.strip()]
            made = self.server.hub.commit(repository, argument, lines)
            url = f"{self.server.url}/datasets/{name}/commit/{made}"
            self.reply({"success": True, "commitOid": made, "commitUrl": url, "pullRequestUrl": None})
        elif action == "branch":
            asked = json.loads(body or b"{}")
            start = commit_named(repository, asked.get("startingPoint") or "main")
            repository.branches.setdefault(argument, start)
            self.reply({})
        elif action == "tag":
            tag = json.loads(body)["tag"]
            if tag in repository.tags:
                raise HubError(409, "", "Tag reference exists already")
            repository.tags[tag] = commit_named(repository, argument)
            self.reply({})
        else:
            self._files(repository, action, argument, query, body)

    def _files(
        self, repository: Repository, action: str, argument: str, query: Mapping[str, list[str]], body: bytes
    ) -> None:
        revision, _, folder = argument.partition("/")
        files = repository.commits[commit_named(repository, revision)]
        if action == "preupload":
            asked = json.loads(body)["files"]
            self.reply({"files": [upload_mode(entry["path"], files) for entry in asked]})
        elif action == "tree":
            recursive = query.get("recursive", ["false"])[0].lower() in {"true", "1"}
            self.reply(list(tree(files, folder, recursive=recursive)))
        elif action == "paths-info":
            is_json = "json" in self.headers.get("Content-Type", "")
            paths = json.loads(body)["paths"] if is_json else parse_qs(body.decode()).get("paths", [])
            self.reply([entry for path in paths for entry in path_info(files, path.strip("/"))])
        else:
            raise HubError(404, "", f"No such action: {action}")

    def _info(self, name: str, repository: Repository, revision: str) -> None:
        commit = commit_named(repository, revision)
        siblings = [{"rfilename": path} for path in sorted(repository.commits[commit])]
        facts = {"_id": name, "id": name, "sha": commit, "private": repository.private, "siblings": siblings}
        defaults: dict[str, Any] = {"gated": False, "disabled": False, "downloads": 0, "likes": 0, "tags": []}
        self.reply({**defaults, **facts, "lastModified": "2026-01-01T00:00:00.000Z"})

    def _resolve(self, name: str, revision: str, path: str) -> None:
        repository = self.server.hub.repository(name, signed_in=self.signed_in)
        commit = commit_named(repository, revision)
        found = repository.commits[commit].get(path)
        if found is None:
            raise HubError(404, "EntryNotFound", "Entry not found")
        content, etag = self.server.hub.blobs[found.sha256], found.sha256 if found.lfs else found.oid
        headers = {"X-Repo-Commit": commit, "ETag": f'"{etag}"', "X-Linked-Etag": f'"{etag}"'}
        headers |= {"X-Linked-Size": str(found.size), "Accept-Ranges": "bytes"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked and self.command == "GET":
            first, last = int(asked[1]), min(int(asked[2] or found.size), found.size - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{found.size}"
            self.reply(content[first : last + 1], status=206, headers=headers)
        else:
            self.reply(content, headers=headers)


class Server(ThreadingHTTPServer):
    """The server; ``url`` is where it listens."""

    daemon_threads = True

    def __init__(self, hub: Hub, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.hub = hub

    @property
    def url(self) -> str:
        """The address to give as ``HF_ENDPOINT``."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that a client closed."""


@contextmanager
def serving(hub: Hub) -> Iterator[str]:
    """Serve a hub in a thread and give its address."""
    server = Server(hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    listening = Server(Hub(), int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
    sys.stdout.write(f"A Hub on loopback: HF_ENDPOINT={listening.url}\n")
    sys.stdout.flush()
    listening.serve_forever()
