"""A server on the loopback that speaks the hub's protocol, with faults: hub_server.py CONFIG.json LOG.

CONFIG: {"repos": [{"type": "datasets", "id": "org/name", "revisions": {"main": FOLDER, "v3.0": FOLDER}, "token": TEXT,
"entries": [...]}], "page": 1000, "elsewhere": false, "link_host": HOST, "faults": [{"match": REGEX, "times": 1, "do":
...}]}. A folder is one commit. `token` is needed to read; `entries` replace the listing. With `elsewhere` large files
come from a second server, as from the hub's storage; `link_host` is what the addresses of further pages name. A fault
hits the first `times` requests whose "SERVER METHOD PATH" its regex finds:
    status   answers `status` with `headers`
    cut      closes the connection after `after` bytes of the body
    damage   flips a bit of the body
    size     says that the body has `size` bytes, and sends as many
    endless  sends more than it listed, without saying how much
    no_range sends everything, whatever range was asked for
    slow     sends `chunk` bytes (1000), then waits `seconds`, and so on
    hang     waits `seconds` before the body
    redirect to `to`
    body     answers with the text `body`
Prints the ports of both servers. Writes a line of JSON about each request to LOG.
"""

import hashlib
import http.server
import json
import pathlib
import re
import sys
import threading
import time
import urllib.parse

CONFIG = json.loads(pathlib.Path(sys.argv[1]).read_text())
LOG = open(sys.argv[2], "a", buffering=1)
LOCK = threading.Lock()
LARGE = (".parquet", ".mp4", ".safetensors", ".bin")


def git_id(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def entries_of(folder):
    """The files of a folder as the hub's API lists them."""
    out = []
    for path in sorted(p for p in pathlib.Path(folder).rglob("*") if p.is_file()):
        name, data = str(path.relative_to(folder)), path.read_bytes()
        entry = {"type": "file", "path": name, "size": len(data), "oid": git_id(data)}
        if name.endswith(LARGE):
            digest = hashlib.sha256(data).hexdigest()
            pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(data)}\n".encode()
            entry["oid"] = git_id(pointer)
            entry["lfs"] = {"oid": digest, "size": len(data), "pointerSize": len(pointer)}
        out.append(entry)
    folders = {str(parent) for e in out for parent in pathlib.PurePosixPath(e["path"]).parents} - {"."}
    return out + [{"type": "directory", "path": f, "oid": "0" * 40, "size": 0} for f in sorted(folders)]


class Repo:
    def __init__(self, config):
        self.config = config
        self.entries = {}  # commit -> listing
        self.folders = {}
        self.commits = {}  # revision -> commit
        for revision, folder in config["revisions"].items():
            entries = entries_of(folder)
            commit = hashlib.sha1(json.dumps(entries).encode()).hexdigest()
            self.commits[revision] = commit
            self.entries[commit] = config.get("entries", entries)
            self.folders[commit] = pathlib.Path(folder)

    def commit(self, revision):
        return revision if revision in self.entries else self.commits.get(revision)


REPOS = {(r["type"], r["id"]): Repo(r) for r in CONFIG["repos"]}
API = re.compile(r"^/api/(datasets|models)/([^/]+/[^/]+)/(refs|revision/[^/]+|tree/[^/?]+)$")
FILE = re.compile(r"^/(datasets/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)$")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.serve()

    def do_GET(self):
        self.serve()

    def serve(self):
        with LOCK:
            LOG.write(json.dumps({"server": self.server.name, "method": self.command, "path": self.path,
                                  "range": self.headers.get("Range", ""),
                                  "authorization": self.headers.get("Authorization", "")}) + "\n")
            self.fault = self.take_fault()
        path = urllib.parse.urlsplit(self.path).path
        if self.fault.get("do") == "status":
            self.answer(self.fault["status"], b"no", self.fault.get("headers", {}))
        elif self.fault.get("do") == "redirect":
            self.answer(302, b"", {"Location": self.fault["to"]})
        elif self.fault.get("do") == "body":
            self.answer(200, self.fault["body"].encode(), {})
        elif self.server.name == "storage":
            self.body(pathlib.Path(urllib.parse.unquote(path)).read_bytes(), {"ETag": '"checksum"'})
        elif match := API.match(path):
            self.api(*match.groups())
        elif match := FILE.match(path):
            self.file("datasets" if match[1] else "models", match[2], match[3], urllib.parse.unquote(match[4]))
        else:
            self.answer(404, b"no", {})

    def take_fault(self):
        line = f"{self.server.name} {self.command} {self.path}"
        for fault in CONFIG.get("faults", []):
            if fault.setdefault("times", 1) > 0 and re.search(fault["match"], line):
                fault["times"] -= 1
                return fault
        return {}

    def repo(self, kind, name):
        repo = REPOS.get((kind, name))
        if repo is None:
            self.answer(404 if self.headers.get("Authorization") else 401, b"no", {"X-Error-Code": "RepoNotFound"})
            return None
        token = repo.config.get("token")
        if token and self.headers.get("Authorization") != f"Bearer {token}":
            self.answer(401, b"no", {"X-Error-Code": "GatedRepo"})
            return None
        return repo

    def api(self, kind, name, what):
        repo = self.repo(kind, name)
        if repo is None:
            return None
        if what == "refs":
            refs = [{"name": r, "ref": f"refs/heads/{r}", "targetCommit": c} for r, c in repo.commits.items()]
            main = [r for r in refs if r["name"] == "main"]
            return self.json({"branches": main, "tags": [r for r in refs if r not in main], "converts": []})
        action, revision = what.split("/", 1)
        commit = repo.commit(urllib.parse.unquote(revision))
        if commit is None:
            return self.answer(404, b"no", {"X-Error-Code": "RevisionNotFound"})
        if action == "revision":
            return self.json({"id": name, "sha": commit, "siblings": [], "tags": [], "downloads": 0, "likes": 0,
                              "private": False})
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        page, begin = CONFIG.get("page", 1000), int(query.get("cursor", ["0"])[0])
        entries, headers = repo.entries[commit], {}
        if begin + page < len(entries):
            first = self.path.split("&cursor")[0]
            host = CONFIG.get("link_host", self.headers["Host"])
            headers["Link"] = f'<http://{host}{first}&cursor={begin + page}>; rel="next"'
        return self.json(entries[begin:begin + page], headers)

    def file(self, kind, name, revision, path):
        repo = self.repo(kind, name)
        if repo is None:
            return None
        commit = repo.commit(urllib.parse.unquote(revision))
        if commit is None:
            return self.answer(404, b"no", {"X-Error-Code": "RevisionNotFound"})
        file = repo.folders[commit] / path
        if not file.is_file():
            return self.answer(404, b"no", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
        data = file.read_bytes()
        headers = {"X-Repo-Commit": commit, "ETag": f'"{git_id(data)}"'}
        if path.endswith(LARGE):
            headers["ETag"] = '"0123456789abcdef0123456789abcdef"'
            headers["X-Linked-Etag"] = f'"{hashlib.sha256(data).hexdigest()}"'
            headers["X-Linked-Size"] = str(len(data))
            if CONFIG.get("elsewhere"):
                address = f"http://127.0.0.1:{STORAGE.server_port}{urllib.parse.quote(str(file))}?signature=secret"
                return self.answer(302, b"", headers | {"Location": address})
        return self.body(data, headers)

    def json(self, value, headers=None):
        self.answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"} | (headers or {}))

    def answer(self, status, data, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def body(self, data, headers):
        """A file, or the range of it that was asked for, with this request's fault."""
        do = self.fault.get("do")
        begin = 0
        asked = re.match(r"bytes=(\d+)-$", self.headers.get("Range", ""))
        if asked and do != "no_range":
            begin = int(asked[1])
            if begin >= len(data):
                self.answer(416, b"", {})
                return
            headers["Content-Range"] = f"bytes {begin}-{len(data) - 1}/{len(data)}"
        rest = data[begin:]
        if do == "damage" and rest:
            rest = bytes([rest[0] ^ 1]) + rest[1:]
        if do == "size":
            rest = (rest + b"x" * self.fault["size"])[:self.fault["size"]]
        if do == "endless":
            rest += b"x" * 100000
        self.send_response(206 if begin else 200)
        for name, value in headers.items():
            self.send_header(name, value)
        if do != "endless":
            self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if do == "hang":
            time.sleep(self.fault["seconds"])
        if do == "cut":
            rest = rest[:self.fault["after"]]
        step = self.fault.get("chunk", 1000) if do == "slow" else max(len(rest), 1)
        for at in range(0, len(rest), step):
            self.wfile.write(rest[at:at + step])
            self.wfile.flush()
            if do == "slow":
                time.sleep(self.fault["seconds"])
        if do in ("cut", "endless"):
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, name):
        super().__init__(("127.0.0.1", 0), Handler)
        self.name = name

    def handle_error(self, *_):
        pass  # a client that went away


HUB, STORAGE = Server("hub"), Server("storage")
threading.Thread(target=STORAGE.serve_forever, daemon=True).start()
print(HUB.server_port, STORAGE.server_port, flush=True)
HUB.serve_forever()
