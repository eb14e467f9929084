"""A server on loopback that does as the JSON API of Google Cloud Storage does, for reading.

interop_stores_test.py reads from it by gcsfs, so what it answers is what Google's clients expect.
"""
import gzip
import http.server
import json
import re
import threading
import urllib.parse


class GcsServer(http.server.ThreadingHTTPServer):
    """`objects`: {(bucket, name): bytes}; `token`: what a request must show, None for none; `fault(handler)` may answer a request itself
    and then returns True."""
    daemon_threads = True

    def __init__(self, objects, token=None, page_size=7, fault=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects, self.token, self.page_size, self.fault = dict(objects), token, page_size, fault
        self.generations = {name: 1_700_000_000_000_000 + i for i, name in enumerate(self.objects)}
        self.packed = set()  # names that are stored with Content-Encoding: gzip
        self.lock, self.requests, self.forms = threading.Lock(), [], []
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        pass  # a client that gives up breaks its connections

    def close(self):
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, content_type="application/json; charset=UTF-8", headers=(), cut=None):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:cut])
        if cut is not None:
            self.close_connection = True

    def fail(self, status, reason, message, media=False):
        if media:  # the bytes of an object are refused by a line of text
            return self.send(status, message.encode(), "text/html; charset=UTF-8")
        error = {"code": status, "message": message, "errors": [{"message": message, "domain": "global", "reason": reason}]}
        return self.send(status, json.dumps({"error": error}).encode())

    def do_POST(self):
        """The server that gives tokens."""
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with self.server.lock:
            self.server.forms.append(form)
        self.send(200, json.dumps({"access_token": self.server.token, "expires_in": 3600, "token_type": "Bearer"}).encode())

    def do_GET(self):
        server = self.server
        path, _, query = self.path.partition("?")
        self.parameters = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        with server.lock:
            server.requests.append((self.path, dict(self.headers)))
        if server.fault and server.fault(self):
            return None
        media = self.parameters.get("alt") == "media"
        if server.token is not None and self.headers.get("Authorization") != f"Bearer {server.token}":
            return self.fail(401, "authError", "Invalid Credentials", media)
        named = re.fullmatch(r"(?:/download)?/storage/v1/b/([^/]+)(/o)?(?:/([^/]*))?", path)
        if not named:
            return self.fail(404, "notFound", "Not Found")
        bucket, objects, name = named.group(1), named.group(2), named.group(3)
        if bucket not in {bucket for bucket, _ in server.objects}:
            return self.fail(404, "notFound", "The specified bucket does not exist.", media)
        if not objects:
            return self.send(200, json.dumps({"kind": "storage#bucket", "name": bucket, "location": "US"}).encode())
        if name is None:
            return self.list(bucket)
        key = (bucket, urllib.parse.unquote(name))
        if key not in server.objects:
            return self.fail(404, "notFound", f"No such object: {bucket}/{key[1]}", media)
        generation = str(server.generations[key])
        if self.parameters.get("generation", generation) != generation:
            return self.fail(404, "notFound", f"No such object: {bucket}/{key[1]}", media)
        if self.parameters.get("ifGenerationMatch", generation) != generation:
            return self.fail(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.", media)
        return self.media(key) if media else self.send(200, json.dumps(self.describe(key)).encode())

    def describe(self, key):
        found = {"kind": "storage#object", "name": key[1], "bucket": key[0], "generation": str(self.server.generations[key]),
                 "metageneration": "1", "size": str(len(self.server.objects[key])), "storageClass": "STANDARD",
                 "contentType": "application/octet-stream", "etag": "CK" + str(self.server.generations[key])[-6:] + "=",
                 "timeCreated": "2026-01-02T03:04:05.678Z", "updated": "2026-01-02T03:04:05.678Z"}
        if key in self.server.packed:
            found["contentEncoding"] = "gzip"
        return found

    def list(self, bucket):
        prefix, delimiter = self.parameters.get("prefix", ""), self.parameters.get("delimiter")
        start = self.parameters.get("pageToken", "")
        most = min(int(self.parameters.get("maxResults", 1000)), self.server.page_size)
        items, prefixes, following = [], [], None
        for key in sorted(key for key in self.server.objects if key[0] == bucket):
            name = key[1]
            if not name.startswith(prefix) or name < start:
                continue
            rest = name[len(prefix):]
            folder = prefix + rest.split(delimiter)[0] + delimiter if delimiter and delimiter in rest else None
            if folder is not None and folder in prefixes:
                continue
            if len(items) + len(prefixes) == most:
                following = name
                break
            if folder is not None:
                prefixes.append(folder)
            else:
                items.append(self.describe(key))
        page = {"kind": "storage#objects"}
        page.update({name: value for name, value in (("items", items), ("prefixes", prefixes), ("nextPageToken", following)) if value})
        self.send(200, json.dumps(page).encode())

    def media(self, key):
        server, content = self.server, self.server.objects[key]
        headers = {"X-Goog-Generation": str(server.generations[key]), "X-Goog-Metageneration": "1",
                   "ETag": self.describe(key)["etag"], "X-Goog-Storage-Class": "STANDARD"}
        if key in server.packed:
            if "gzip" not in self.headers.get("Accept-Encoding", ""):  # decompressed on the way, and then whole
                return self.send(200, gzip.decompress(content), "application/octet-stream", headers)
            headers["Content-Encoding"] = "gzip"
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not asked:
            return self.send(200, content, "application/octet-stream", headers)
        first = int(asked.group(1))
        if first >= len(content):
            headers["Content-Range"] = f"bytes */{len(content)}"
            return self.send(416, b"The requested range cannot be satisfied.", "text/html", headers)
        last = min(int(asked.group(2) or len(content)), len(content) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        return self.send(206, content[first:last + 1], "application/octet-stream", headers)
