"""Two servers on loopback that do as WebHDFS does, for reading: a name node, and a data node to which it sends those who read.

interop_stores_test.py reads from them by fsspec, so what they answer is what other clients of WebHDFS expect.
"""
import http.server
import json
import threading
import urllib.parse

BLOCK = 128 << 20


class Node(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, cluster, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.cluster = cluster
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def handle_error(self, request, client_address):
        pass  # a client that gives up breaks its connections

    def close(self):
        self.shutdown()
        self.server_close()
        self.thread.join()


class Cluster:
    """`files`: {path without the first slash: bytes}; `token`: the delegation token that a request must have, None for none; `batches`:
    whether there is LISTSTATUS_BATCH, whose pages have `page_size` entries. `served(path)` is called when a file's bytes are asked for."""

    def __init__(self, files, token=None, batches=True, page_size=3):
        self.files, self.token, self.batches, self.page_size = dict(files), token, batches, page_size
        self.changed = {name: 1_700_000_000_000 + i for i, name in enumerate(self.files)}
        self.numbers = {name: 16386 + i for i, name in enumerate(self.files)}
        self.served = lambda path: None
        self.lock, self.requests = threading.Lock(), []
        self.data_node, self.name_node = Node(self, DataNode), Node(self, NameNode)

    @property
    def host(self):
        return "127.0.0.1:%d" % self.name_node.server_address[1]

    def folders(self):
        return {""} | {name[:at] for name in self.files for at in range(len(name)) if name[at] == "/"}

    def status(self, path, suffix):
        file = path in self.files
        return {"accessTime": 1_700_000_000_000, "blockSize": BLOCK if file else 0, "childrenNum": 0, "fileId": self.numbers.get(path, 16385),
                "group": "supergroup", "length": len(self.files.get(path, b"")), "modificationTime": self.changed.get(path, 1_690_000_000_000),
                "owner": "me", "pathSuffix": suffix, "permission": "644" if file else "755", "replication": 1 if file else 0,
                "storagePolicy": 0, "type": "FILE" if file else "DIRECTORY"}

    def entries(self, path):
        below = path + "/" if path else ""
        names = {name[len(below):].split("/")[0] for name in self.files if name.startswith(below)}
        return [self.status(below + name, name) for name in sorted(names, key=str.encode)]

    def close(self):
        self.name_node.close()
        self.data_node.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, content_type="application/json", headers=()):
        self.send_response(status)
        for name, value in {"Content-Type": content_type, **dict(headers), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status, exception, message, package="java.io"):
        error = {"exception": exception, "javaClassName": f"{package}.{exception}", "message": message}
        self.send(status, json.dumps({"RemoteException": error}).encode())

    def do_GET(self):
        cluster = self.server.cluster
        path, _, query = self.path.partition("?")
        self.parameters = {name.lower(): value for name, value in urllib.parse.parse_qsl(query)}
        with cluster.lock:
            cluster.requests.append((type(self).__name__, self.path))
        if not path.startswith("/webhdfs/v1"):
            return self.send(404, b"Not Found", "text/plain")
        if cluster.token is not None and self.parameters.get("delegation") != cluster.token:
            return self.fail(403, "InvalidToken", "token is expired or does not exist", "org.apache.hadoop.security.token.SecretManager")
        name = urllib.parse.unquote(path[len("/webhdfs/v1"):]).strip("/")
        if name not in cluster.files and name not in cluster.folders():
            return self.fail(404, "FileNotFoundException", f"File does not exist: /{name}")
        return self.answer(cluster, name, self.parameters.get("op", "").upper())


class NameNode(Handler):
    def answer(self, cluster, name, op):
        if op == "GETFILESTATUS":
            return self.send(200, json.dumps({"FileStatus": cluster.status(name, "")}).encode())
        if op == "LISTSTATUS":
            entries = [cluster.status(name, "")] if name in cluster.files else cluster.entries(name)
            return self.send(200, json.dumps({"FileStatuses": {"FileStatus": entries}}).encode())
        if op == "LISTSTATUS_BATCH" and cluster.batches:
            after = self.parameters.get("startafter", "").encode()
            entries = [entry for entry in cluster.entries(name) if entry["pathSuffix"].encode() > after]
            page, left = entries[:cluster.page_size], len(entries[cluster.page_size:])
            listing = {"partialListing": {"FileStatuses": {"FileStatus": page}}, "remainingEntries": left}
            return self.send(200, json.dumps({"DirectoryListing": listing}).encode())
        if op == "OPEN" and name in cluster.files:
            path = "http://127.0.0.1:%d%s&namenoderpcaddress=127.0.0.1:8020" % (cluster.data_node.server_address[1], self.path)
            return self.send(307, b"", "application/octet-stream", {"Location": path})
        if op == "OPEN":
            return self.fail(404, "FileNotFoundException", f"Path is not a file: /{name}")
        return self.fail(400, "IllegalArgumentException", f'Invalid value for webhdfs parameter "op": No enum constant {op}', "java.lang")


class DataNode(Handler):
    def answer(self, cluster, name, op):
        content = cluster.files[name]
        cluster.served(name)
        offset = int(self.parameters.get("offset", 0))
        if offset < 0 or offset > len(content):
            return self.fail(403, "IOException", f"Offset={offset} out of the range [0, {len(content)}); OPEN, path=/{name}")
        length = int(self.parameters.get("length", len(content)))
        return self.send(200, content[offset:offset + length], "application/octet-stream")
