"""A loopback server of a folder, over HTTP and as an S3 bucket, that answers wrongly as a plan says."""
import collections
import hashlib
import http.server
import os
import re
import threading
import time
import urllib.parse

HUGE = 1 << 62


def tag_of(content):
    return '"' + hashlib.sha256(content).hexdigest()[:16] + '"'


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer, sent in pieces, would wait 40 ms for an acknowledgement

    def do_GET(self):
        plan, faults = self.server.faults_of_next_request()
        for kind, value in faults.items():
            if kind == "stall":
                self.server.ended.wait(value)
            if kind == "outage":
                self.server.go_away(plan, value)
        if time.monotonic() < self.server.away_until:
            self.close_connection = True
            return
        if "busy" in faults:
            self.answer(faults["busy"], b"busy", {}, {})
        elif "endless" in faults:
            self.answer_without_end(faults["endless"])
        elif "redirect" in faults:
            self.answer(302, b"", {"Location": self.path}, {})
        else:
            self.serve(faults)

    def serve(self, faults):
        path, _, query = self.path.partition("?")
        if "list-type=2" in query:
            return self.answer(200, self.server.listing(query, "repeat" in faults), {"Content-Type": "application/xml"}, faults)
        content, tag = self.server.content_of(urllib.parse.unquote(path), "changed" in faults)
        if content is None:
            return self.answer(404, b"", {}, {})
        headers = {"ETag": tag} if tag else {}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if not asked:
            return self.answer(200, content, headers, faults)
        return self.serve_part(content, int(asked[1]), int(asked[2] or len(content) - 1), headers, faults)

    def serve_part(self, content, first, last, headers, faults):
        if first >= len(content):
            return self.answer(416, b"", {"Content-Range": f"bytes */{len(content)}"}, faults)
        first = min(first + faults.get("range", 0), len(content) - 1)
        last = max(first, min(last, len(content) - 1))
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        return self.answer(206, content[first:last + 1], headers, faults)

    def answer(self, status, body, headers, faults):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(HUGE if "huge" in faults else len(body)))
        self.end_headers()
        if "cut" in faults and faults["cut"] < len(body):
            body, self.close_connection = body[:faults["cut"]], True
        if "huge" in faults:
            self.close_connection = True
        if "trickle" not in faults:
            self.wfile.write(body)
            return
        piece = max(1, len(body) // 20)
        for at in range(0, len(body), piece):
            self.wfile.write(body[at:at + piece])
            self.server.ended.wait(faults["trickle"])

    def answer_without_end(self, status):
        """An error whose text goes on until the program has had enough and breaks the connection."""
        self.close_connection = True
        self.send_response(status)
        self.end_headers()
        while not self.server.ended.is_set():
            self.wfile.write(b"not now, " * 500)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """Serves `folder`; faults happen while `plan` is set: (kind, first request, number of them, value), 0 for all that follow."""
    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.plan, self.plans, self.requests, self.away_until = folder, [], 0, 0, 0.0
        self.fired, self.asked, self.lock = collections.Counter(), collections.Counter(), threading.Lock()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def disturb(self, plan):
        """From now on requests are counted from 0, and `plan` holds."""
        with self.lock:
            self.plan, self.plans, self.requests, self.away_until = list(plan), self.plans + 1, 0, 0.0
            self.fired, self.asked = collections.Counter(), collections.Counter()

    def go_away(self, plan, seconds):
        """Refuses connections for so long, unless the plan is over: a request that stalled may end in the time of the next one."""
        with self.lock:
            if plan == self.plans:
                self.away_until = max(self.away_until, time.monotonic() + seconds)

    def faults_of_next_request(self):
        """The number of the plan that holds now, and {kind: value} of its faults."""
        with self.lock:
            number, self.requests = self.requests, self.requests + 1
            faults = {kind: value for kind, first, count, value in self.plan
                      if number >= first and (count == 0 or number < first + count)}
            self.fired.update(f"server {kind}" for kind in faults)
            return self.plans, faults

    def content_of(self, path, changed):
        """(bytes, tag) of the file at `path`, below the folder or in its bucket; (None, None) where there is none.

        Only a file that somebody has begun to read can change.
        """
        name = os.path.normpath(os.path.join(self.folder, path.removeprefix("/bucket/").lstrip("/")))
        if not name.startswith(self.folder + os.sep) or not os.path.isfile(name):
            return None, None
        with open(name, "rb") as file:
            content = file.read()
        with self.lock:
            self.asked[name] += 1
            changed = changed and self.asked[name] > 1
        if changed:
            return bytes(byte ^ 1 if byte in b"23456789" else byte for byte in content), None
        return content, tag_of(content)

    def listing(self, query, repeat):
        prefix = urllib.parse.parse_qs(query).get("prefix", [""])[0]
        names = sorted(os.path.relpath(os.path.join(where, name), self.folder) for where, _, names in os.walk(self.folder) for name in names)
        items = "".join(self.listed(name) for name in names if name.startswith(prefix))
        more = "<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>" if repeat else ""
        return f"<?xml version='1.0'?><ListBucketResult>{more}{items}</ListBucketResult>".encode()

    def listed(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            content = file.read()
        return f"<Contents><Key>{urllib.parse.quote(name)}</Key><Size>{len(content)}</Size><ETag>{tag_of(content)}</ETag></Contents>"

    def handle_error(self, request, client_address):
        pass  # a program that gives up breaks its connections

    def server_close(self):
        self.ended.set()
        self.shutdown()
        super().server_close()
        self.thread.join()
