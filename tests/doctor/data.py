"""Makes the data of the cases, with Python's standard library only, and serves files as a slow S3 store does."""
import http.server
import lzma
import pathlib
import random
import re
import struct
import threading
import time
import urllib.parse
import zlib

SIDE = 14
LATENCY = 0.02  # seconds
KINDS = ["a", "b", "c", "d"]


def idx(shape, data):
    """An IDX file of bytes."""
    return struct.pack(">BBBB", 0, 0, 8, len(shape)) + struct.pack(f">{len(shape)}I", *shape) + data


def png(side, rng):
    """A grey PNG of side x side: a slope with noise, so that it neither vanishes nor fills the disk."""
    noise = rng.randbytes(side)
    rows = b"".join(b"\0" + bytes((x + y + noise[(x * 7 + y) % side] % 16) % 256 for x in range(side)) for y in range(min(side, 64)))
    rows *= -(-side // min(side, 64))
    rows = rows[:(side + 1) * side]

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b""))


def write_idx(folder, name, count, levels=256):
    """Pictures of so many levels of grey, a power of two: with few they compress, and take long to unpack."""
    rng = random.Random(count)
    pixels = rng.randbytes(count * SIDE * SIDE).translate(bytes(value % levels for value in range(256)))
    (folder / f"{name}-images").write_bytes(idx([count, SIDE, SIDE], pixels))
    (folder / f"{name}-labels").write_bytes(idx([count], bytes(rng.randrange(4) for _ in range(count))))


def write_pictures(folder, sides):
    rng = random.Random(7)
    made = {}
    for number, side in enumerate(sides):
        place = folder / KINDS[number % 4]
        place.mkdir(parents=True, exist_ok=True)
        if side not in made or side < 1000:
            made[side] = png(side, rng)
        (place / f"{number:05}.png").write_bytes(made[side])


def write_table(path):
    rng = random.Random(9)
    rows = [f"{rng.random():.4f},{rng.gauss(0, 1):.4f},city{rng.randrange(40)},{rng.randrange(2)}\n" for _ in range(20000)]
    path.write_text("a,b,city,label\n" + "".join(rows))


def write_sequences(folder):
    """Numbers of tokens, and texts of as many words."""
    rng = random.Random(11)
    lists = [[rng.randrange(5000) for _ in range(rng.randrange(20, 61))] for _ in range(4000)]
    (folder / "sequences.jsonl").write_text("".join(f'{{"tokens": {tokens}, "label": {tokens[0] % 2}}}\n' for tokens in lists))
    texts = [" ".join(f"w{token}" for token in tokens) + f",{tokens[0] % 2}\n" for tokens in lists]
    (folder / "texts.csv").write_text("text,label\n" + "".join(texts))
    (folder / "few_texts.csv").write_text("text,label\n" + "".join(texts[:500]))


def make(kind, folder):
    """Writes the data `kind` below `folder`, a pathlib.Path."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind in ("small", "compressed"):
        for name, count in (("small", 20480), ("eval", 500), ("large", 20000)):
            write_idx(folder, name, count)
    if kind == "compressed":
        write_idx(folder, "many", 200000, levels=16)
        images = (folder / "many-images").read_bytes()
        (folder / "many-images.xz").write_bytes(lzma.compress(images, preset=0))
    if kind == "pictures":
        write_pictures(folder / "pictures", [500] * 120)
    if kind in ("pictures_small", "server"):
        write_pictures(folder / ("little" if kind == "pictures_small" else "pictures"), [SIDE] * 240)
    if kind == "table":
        write_table(folder / "rows.csv")
    if kind == "sequences":
        write_sequences(folder)
    if kind == "uneven":
        write_pictures(folder / "uneven", [3000 if i % 100 == 50 else 24 for i in range(300)])


class Store(http.server.ThreadingHTTPServer):
    """A bucket whose objects are the files below a folder; each answer takes LATENCY."""
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Answers)
        self.objects = {path.relative_to(folder).as_posix(): path.read_bytes()
                        for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A program that has what it needs, or is stopped, closes its connections; that is no trouble."""

    def environment(self):
        """What a program needs to know to read from it."""
        return {"AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{self.server_address[1]}", "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
                "AWS_SECRET_ACCESS_KEY": "example", "AWS_REGION": "us-east-1"}


class Answers(http.server.BaseHTTPRequestHandler):
    """Lists of S3, and objects, whole or a range of them."""
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *arguments):  # pylint: disable=redefined-builtin
        pass

    def answer(self, code, body, headers=()):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):  # pylint: disable=invalid-name
        time.sleep(LATENCY)
        url = urllib.parse.urlsplit(self.path)
        key = urllib.parse.unquote(url.path.removeprefix("/bucket").removeprefix("/"))
        objects = self.server.objects
        if not key:
            prefix = dict(urllib.parse.parse_qsl(url.query)).get("prefix", "")
            listed = "".join(f"<Contents><Key>{urllib.parse.quote(name)}</Key><Size>{len(data)}</Size><ETag>\"v1\"</ETag></Contents>"
                             for name, data in objects.items() if name.startswith(prefix))
            self.answer(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>".encode())
            return
        if key not in objects:
            self.answer(404, b"")
            return
        data = objects[key]
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        tag = [("ETag", '"v1"')]
        if not part:
            self.answer(200, data, tag)
            return
        first, last = int(part[1]), min(int(part[2] or len(data)), len(data) - 1)
        self.answer(206, data[first:last + 1], [*tag, ("Content-Range", f"bytes {first}-{last}/{len(data)}")])

    do_HEAD = do_GET
