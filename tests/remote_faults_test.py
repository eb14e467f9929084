"""What goes wrong with files on servers: a server that does as each test says, and what the program says then."""
import gzip
import http.server
import io
import os
import random
import re
import signal
import socket
import struct
import tarfile
import threading
import time
import unittest
import zipfile

from program import ProgramTest, png

FIRST = 65536  # bytes of a file that are asked for first


class Answer:
    """One answer; `cut`: bytes of the body after which the connection breaks."""

    def __init__(self, status, body=b"", headers=(), cut=None):
        self.status, self.body, self.headers, self.cut = status, body, dict(headers), cut


def part_of(content, request):
    """What a proper server answers to a request for a part."""
    first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers["Range"]).groups())
    last = min(last, len(content) - 1)
    return Answer(206, content[first:last + 1], {"Content-Range": f"bytes {first}-{last}/{len(content)}", "ETag": '"v1"'})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        with server.lock:
            number = len(server.requests)
            server.requests.append((self.path, self.headers.get("Range")))
        answer = server.answer(self, number)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body[:answer.cut])
        if answer.cut is not None:
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a program that gives up breaks its connections


class RemoteFaults(ProgramTest):
    SECRET = "the-secret-of-the-test"

    def setUp(self):
        super().setUp()
        self.content = b"".join(b"%d,%d\n" % (i, i * i) for i in range(60000))
        self.write("files/a.txt", self.content)
        self.variables = {"no_proxy": "127.0.0.1", "HOME": self.folder, "STOKER_CACHE": "", "XDG_CACHE_HOME": self.path("xdg"),
                          **dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
                                           "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION",
                                           "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), "")}
        self.server = None

    def serve(self, answer):
        """The address of a server that answers each request by `answer(request, its number)`."""
        server = Server(("127.0.0.1", 0), Handler)
        server.answer, server.requests, server.lock = answer, [], threading.Lock()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()

        def end():
            server.shutdown()
            server.server_close()
            thread.join()
        self.addCleanup(end)
        self.server = server
        return f"http://127.0.0.1:{server.server_address[1]}"

    def recipe(self, root, remote="", stage="lines: a.txt"):
        settings = ", ".join(filter(None, ["retry_wait: 0.01", remote]))
        self.write("recipe.yaml", f"data:\n  root: {root}\n  remote: {{{settings}}}\n  train:\n    - {stage}\n")
        return "recipe.yaml"

    def elements_of(self, root, *how, **environment):
        self.run_stoker("pack", self.recipe(root, *how), "out.tfrecord", "--format", "tfrecord", "--overwrite",
                        environment={**self.variables, **environment})
        return self.read("out.tfrecord")

    def assert_reading_fails(self, root, *says, remote="", stage="lines: a.txt", **environment):
        """What `stoker pack` says, without a secret."""
        out, err = self.assert_fails(["pack", self.recipe(root, remote, stage), "out.stoker"], 1, *says,
                                     environment={**self.variables, **environment})
        self.assertNotIn(self.SECRET, out + err)
        self.assertFalse(os.path.exists(self.path("out.stoker")))
        return err


class RemoteFaultsTest(RemoteFaults):
    def test_a_file_that_is_not_there_is_named_with_its_place_in_the_recipe(self):
        for status in (404, 410):
            root = self.serve(lambda *_, status=status: Answer(status))
            self.assert_reading_fails(root, "recipe.yaml:5:7: ", f"{root}/a.txt: HTTP {status}: no such file; check the name")
            self.assertEqual(len(self.server.requests), 1)  # asking again would not help

    def test_a_pattern_where_one_file_is_meant_is_told_from_a_missing_file(self):
        root = self.serve(lambda *_: Answer(404))
        for stage in ("lines: a*.txt", "lines: 'a[0-9].txt'"):
            self.assert_reading_fails(root, "recipe.yaml:5:7: ", "HTTP 404: no such file; it is looked for by that very name, since "
                                      "what is on a server cannot be listed over HTTP: name the file", stage=stage)

    def test_the_shard_that_is_missing_is_named(self):
        root = self.serve(lambda request, _: Answer(404) if "3" in request.path else part_of(self.content, request))
        self.assert_reading_fails(root, f"{root}/s-3.csv: HTTP 404: no such file", stage="csv: {files: 's-{0..5}.csv'}")

    def test_no_access_says_where_a_password_would_stand(self):
        for status in (401, 403):
            root = self.serve(lambda *_, status=status: Answer(status))
            self.assert_reading_fails(root, f"{root}/a.txt: byte 0: HTTP {status}: the server refuses access", "~/.netrc")
            self.assertEqual(len(self.server.requests), 1)

    def test_a_server_that_is_busy_for_a_while_is_waited_for(self):
        local = self.elements_of("files")
        root = self.serve(lambda request, number: Answer(503) if number % 3 < 2 else part_of(self.content, request))
        self.assertEqual(self.elements_of(root), local)

    def test_who_is_told_to_wait_longer_than_the_timeout_waits_and_loses_no_element(self):
        local = self.elements_of("files")
        answered, told = [], set()

        def answer(request, _):
            asked = request.headers["Range"]
            if asked in told:
                answered.append(time.monotonic())
                return part_of(self.content, request)
            told.add(asked)
            return Answer(429, headers={"Retry-After": "2"})
        began = time.monotonic()
        for stage in ("lines: a.txt", "{lines: a.txt, on_error: {policy: skip, share: 1}}"):
            told.clear()
            answered.clear()
            began = time.monotonic()
            self.assertEqual(self.elements_of(self.serve(answer), "timeout: 1, retries: 1", stage), local)
            self.assertGreaterEqual(min(answered) - began, 2)
            self.assertGreater(len(told), 1)

    def test_addresses_in_a_list_of_this_machine_are_read(self):
        self.write("files/list.txt", "a.txt 7\n")
        local = self.elements_of("files", "", "list: list.txt")
        root = self.serve(lambda request, _: part_of(self.content, request) if request.path == "/a.txt" else Answer(404))
        self.write("files/list.txt", f"{root}/a.txt 7\n")
        self.assertEqual(self.elements_of("files", "", "list: list.txt"), local)
        self.write("files/list.txt", f"{root}/a.txt 7\n{root}/none.txt 1\n")
        self.assert_reading_fails("files", "list.txt", f"{root}/none.txt: HTTP 404: no such file", stage="list: list.txt")

    def test_a_server_that_stays_busy_is_said_so_with_tries_and_settings(self):
        root = self.serve(lambda *_: Answer(503))
        self.assert_reading_fails(root, f"{root}/a.txt: byte 0: HTTP 503, after 3 tries in ",
                                  "the server is overloaded or broken: try again later, or set fewer connections or more retries "
                                  "(data.remote)", remote="retries: 2")
        self.assertEqual(len(self.server.requests), 3)

    def test_one_that_becomes_busy_in_the_middle_is_named_with_the_byte(self):
        root = self.serve(lambda request, number: Answer(503) if number > 0 else part_of(self.content, request))
        self.assert_reading_fails(root, f"{root}/a.txt: byte {FIRST}: HTTP 503, after 2 tries", remote="retries: 1")

    def test_a_wait_that_the_server_asks_for_and_that_is_too_long_is_an_error_at_once(self):
        root = self.serve(lambda *_: Answer(503, headers={"Retry-After": "3600"}))
        self.assert_reading_fails(root, "the server asks for a retry after 3600 s; run this again then")
        self.assertEqual(len(self.server.requests), 1)

    def test_a_connection_that_breaks_goes_on_at_the_byte_where_it_stood(self):
        local = self.elements_of("files")

        def answer(request, _):
            whole = part_of(self.content, request)
            whole.cut = 70000 if len(whole.body) > 70000 else None
            return whole
        root = self.serve(answer)
        self.assertEqual(self.elements_of(root, "connections: 1"), local)
        begins = sorted({int(asked.split("=")[1].split("-")[0]) for _, asked in self.server.requests})
        self.assertIn(FIRST + 70000, begins)
        sent = sum(min(70000, last - first + 1) for first, last in (
            map(int, asked.split("=")[1].split("-")) for _, asked in self.server.requests))
        self.assertLessEqual(sent, len(self.content) + FIRST)  # nothing twice

    def test_a_compressed_file_over_connections_that_break_is_whole(self):
        self.write("files/a.txt", gzip.compress(self.content, 1, mtime=0))
        local, stored = self.elements_of("files"), self.read("files/a.txt")

        def answer(request, number):
            whole = part_of(stored, request)
            whole.cut = 66000 if number % 2 and len(whole.body) > 66000 else None
            return whole
        self.assertEqual(self.elements_of(self.serve(answer)), local)

    def test_a_file_that_is_cut_off_for_ever_is_named_with_the_byte_it_never_sends(self):
        end = FIRST + 1000

        def answer(request, _):
            whole = part_of(self.content, request)
            first = int(whole.headers["Content-Range"].split()[1].split("-")[0])
            whole.cut = max(0, end - first) if first + len(whole.body) > end else None
            return whole
        root = self.serve(answer)
        err = self.assert_reading_fails(root, f"{root}/a.txt: byte {end}: ", "after 4 tries in ", "raise retries (data.remote)",
                                        remote="retries: 3, connections: 1")
        self.assertRegex(err, "(?i)closed|recv|transfer|reset")

    def test_a_server_that_falls_silent_is_given_up(self):
        silent = threading.Event()
        self.addCleanup(silent.set)

        def answer(request, number):
            if number > 0:
                silent.wait()
            return part_of(self.content, request)
        root = self.serve(answer)
        self.assert_reading_fails(root, f"{root}/a.txt: byte {FIRST}: ", "after 2 tries", remote="retries: 1, timeout: 0.6")

    def test_a_server_that_is_not_there_is_said_so(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            root = "http://127.0.0.1:%d" % listener.getsockname()[1]  # bound, and nobody listens
            self.assert_reading_fails(root, f"{root}/a.txt: byte 0: ", "connect", "check the host's name, the network and the proxy",
                                      remote="retries: 1")

    def test_a_file_that_changes_meanwhile_is_an_error_that_names_both(self):
        def answer(request, number):
            if number == 0:
                return part_of(self.content, request)
            changed = part_of(self.content[:-1], request)
            changed.headers["ETag"] = '"v2"'
            return changed
        root = self.serve(answer)
        self.assert_reading_fails(root, f"{root}/a.txt: the file changed while it was read: it had {len(self.content)} bytes and "
                                  'the tag "v1", and has')

    def test_a_query_with_a_secret_is_in_no_message(self):
        root = self.serve(lambda *_: Answer(404))
        self.assert_reading_fails("files", f"{root}/a.txt?...: HTTP 404", stage=f"lines: '{root}/a.txt?signature={self.SECRET}'")

    def s3(self, code, message, status=403, **environment):
        xml = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
        endpoint = self.serve(lambda *_: Answer(status, xml, {"Content-Type": "application/xml"}))
        keys = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": self.SECRET, "AWS_ENDPOINT_URL_S3": endpoint, **environment}
        place = "s3://bucket/a.txt: " + ("" if status == 404 else "byte 0: ") + f"HTTP {status} {code} ({message})"
        return place, keys

    def test_s3_credentials_that_are_wrong_are_told_from_rights_that_are_missing(self):
        for code, advice in (("InvalidAccessKeyId", "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile in ~/.aws"),
                             ("SignatureDoesNotMatch", "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile in ~/.aws"),
                             ("ExpiredToken", "renew the credentials (AWS_SESSION_TOKEN, ~/.aws)"),
                             ("AccessDenied", "these credentials may not read it, or it is not there")):
            with self.subTest(code=code):
                place, environment = self.s3(code, "The words of the store.")
                self.assert_reading_fails("s3://bucket", place, advice, **environment)

    def test_s3_without_credentials_says_where_they_were_looked_for(self):
        _, environment = self.s3("AccessDenied", "no", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
        self.assert_reading_fails("s3://bucket", "s3://bucket/a.txt", "AWS_ACCESS_KEY_ID", "profile 'default'", "anonymous: true",
                                  **environment)
        self.assertEqual(self.server.requests, [])

    def test_s3_that_nobody_may_read_anonymously_says_so(self):
        place, environment = self.s3("AccessDenied", "Access Denied", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
        self.assert_reading_fails("s3://bucket", place, "nobody may read it without credentials; leave anonymous: true out",
                                  remote="anonymous: true", **environment)

    def test_an_object_or_bucket_that_is_not_there_is_told_in_the_stores_words(self):
        for code, advice in [("NoSuchKey", ": no such file; check the name"),
                             ("NoSuchBucket", ": the bucket is not there, or not on this server; check its name and `endpoint`")]:
            with self.subTest(code=code):
                place, environment = self.s3(code, "It does not exist.", status=404)
                self.assert_reading_fails("s3://bucket", place + advice, **environment)

    def test_s3_that_asks_to_slow_down_is_tried_again_and_then_told(self):
        place, environment = self.s3("SlowDown", "Please reduce your request rate.", status=503)
        self.assert_reading_fails("s3://bucket", place + ", after 2 tries", "fewer connections", remote="retries: 1", **environment)


class SilentServerTest(RemoteFaults):
    """A server that sends nothing any more in the middle of a run."""

    RECORDS = 640
    RECIPE = """\
data:
  root: ROOT
  remote: {timeout: 300}
  train:
    - binary: {files: records, fields: {image: {type: float32, shape: [1, 8, 8]}, label: {type: uint8}}}
    - batch: {size: 32}
model: {mlp: {classes: 4, hidden: [16], dropout: 0.2}}
train: {max_steps: 10, device: cpu, threads: 1, feed_threads: 2, accumulate: 2, log_every: 1, tune: "off"}
"""

    def records(self):
        rng = random.Random(1)
        return b"".join(struct.pack("<64f", *(rng.gauss(i % 4, 1) for _ in range(64))) + bytes([i % 4])
                        for i in range(self.RECORDS))

    def setUp(self):
        super().setUp()
        self.content = self.records()
        self.talks = threading.Event()
        self.talks.set()
        self.is_silent = threading.Event()
        self.addCleanup(self.talks.set)
        self.write("silent.yaml", self.RECIPE.replace("ROOT", self.serve(self.answer)))

    def answer(self, request, _):
        first = int(re.match(r"bytes=(\d+)", request.headers["Range"]).group(1))
        if not self.talks.is_set() and first >= FIRST:
            self.is_silent.set()
            self.talks.wait()
        return part_of(self.content, request)

    def steps_of(self, run):
        try:
            return self.read(f"{run}/metrics.jsonl").count(b"\n")
        except FileNotFoundError:
            return 0

    def test_a_signal_stores_the_last_whole_step_and_the_run_goes_on_to_the_same_bytes(self):
        self.run_stoker("train", "silent.yaml", "--run", "whole", environment=self.variables)
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            with self.subTest(signal=number.name):
                self.talks.clear()
                self.is_silent.clear()
                process = self.start("train", "silent.yaml", "--run", number.name, environment=self.variables)
                self.is_silent.wait()
                while not self.steps_of(number.name):
                    time.sleep(0.01)
                time.sleep(0.5)  # for the steps that have their batches
                process.send_signal(number)
                _, err = process.communicate(timeout=60)  # a silent server is given up after 300 s
                self.talks.set()
                self.assertEqual(process.returncode, code, err)
                self.assertIn("a checkpoint is stored", err)
                self.assertTrue(os.listdir(self.path(f"{number.name}/checkpoints")))
                self.run_stoker("train", "--resume", "--run", number.name, environment=self.variables)
                self.assertEqual(self.read(f"{number.name}/weights.safetensors"), self.read("whole/weights.safetensors"))


class SilentPicturesTest(SilentServerTest):
    """The same where threads that decode pictures of one batch together wait."""

    RECIPE = """\
data:
  root: ROOT
  remote: {timeout: 300}
  train:
    - webdataset: {files: records.tar, index: none, fields: [png, cls]}
    - decode: {field: png, channels: grey}
    - resize: {size: 8, field: png}
    - normalize: {field: png, mean: 0.5, std: 0.25}
    - batch: {size: 8}
model: {mlp: {classes: 4, hidden: [16], dropout: 0.2}}
train:
  {input: png, target: cls, max_steps: 10, device: cpu, threads: 1, feed_threads: 2, accumulate: 2, log_every: 1, tune: "off"}
"""

    def records(self):
        rng = random.Random(1)
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for i in range(self.RECORDS):
                picture = png(bytes(rng.randrange(60) + i % 4 * 60 for _ in range(64)), 8, 8)
                for name, body in ((f"{i:03}.png", picture), (f"{i:03}.cls", str(i % 4).encode())):
                    member = tarfile.TarInfo(name)
                    member.size = len(body)
                    tar.addfile(member, io.BytesIO(body))
        return archive.getvalue()


class StoppedPackingTest(RemoteFaults):
    """A packing whose server falls silent at one request after the other."""

    FILES = [f"{number}.txt" for number in range(3)]

    def test_wherever_a_server_falls_silent_a_signal_ends_a_packing(self):
        for first_silent in range(100):
            with self.subTest(first_silent=first_silent):
                if not self.stop_at(first_silent):
                    break
        self.assertGreater(first_silent, len(self.FILES))

    def stop_at(self, first_silent):
        """Whether the packing got so far that the server was silent; then a signal ends it."""
        talks, is_silent = threading.Event(), threading.Event()

        def answer(request, number):
            if number >= first_silent:
                is_silent.set()
                talks.wait()
            names = "".join(f"{name}\t{i}\n" for i, name in enumerate(self.FILES)).encode()
            return part_of(names if request.path.endswith("list.tsv") else bytes(1000), request)
        self.addCleanup(talks.set)
        recipe = self.recipe(self.serve(answer), "timeout: 300", "list: {path: list.tsv}")
        process = self.start("pack", recipe, f"out-{first_silent}.stoker", environment=self.variables)
        while process.poll() is None and not is_silent.wait(0.01):
            pass
        if not is_silent.is_set():
            self.assertEqual(process.returncode, 0, process.communicate())
            return False
        time.sleep(0.3)  # until the program waits for the answer
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)  # a silent server is given up after 300 s
        self.assertEqual(process.returncode, 143, err)
        self.assertFalse(os.path.exists(self.path(f"out-{first_silent}.stoker")))
        return True


class StoppedDoctorTest(RemoteFaults):
    """A doctor whose server falls silent at one request after the other."""

    def test_a_signal_ends_it(self):
        rows = "a,label\n" + "".join(f"{i % 7},{i % 2}\n" for i in range(60_000))
        for first_silent in range(6):
            with self.subTest(first_silent=first_silent):
                talks, is_silent = threading.Event(), threading.Event()

                def answer(request, number, first_silent=first_silent, talks=talks, is_silent=is_silent):
                    if number >= first_silent:
                        is_silent.set()
                        talks.wait()
                    return part_of(rows.encode(), request)
                self.addCleanup(talks.set)
                recipe = self.recipe(self.serve(answer), "timeout: 300", "csv: {files: rows.csv, fields: {x: {columns: [a]}, label: int64}}\n    - batch: 100")
                process = self.start("doctor", recipe, "--seconds", "20", environment=self.variables)
                self.assertTrue(is_silent.wait(60))
                time.sleep(0.3)  # until the program waits for the answer
                process.send_signal(signal.SIGTERM)
                _, err = process.communicate(timeout=60)  # a silent server is given up after 300 s
                self.assertEqual(process.returncode, 143, err)


class StoppedCopyTest(RemoteFaults):
    """A command that makes a copy in the cache, which a signal ends in the middle of it."""

    FILE = "x.npz"

    @staticmethod
    def npz(values):
        header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({values},)}}".ljust(117) + "\n"
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(values))
        return out.getvalue()

    def copies(self):
        folder = self.path("xdg/stoker")
        return [name for name in os.listdir(folder) if name != ".lock"] if os.path.isdir(folder) else []

    def test_leaves_nothing_of_it(self):
        content, talks = self.npz(4_000_000), threading.Event()

        def answer(request, _):
            if int(re.match(r"bytes=(\d+)", request.headers["Range"]).group(1)) > 300_000:
                talks.wait()
            return part_of(content, request)
        root = self.serve(answer)
        self.addCleanup(talks.set)
        self.recipe(root, "connections: 1", f"npz: {{path: {self.FILE}, fields: {{x: a}}}}")
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            for command in (["inspect", f"{root}/{self.FILE}"], ["verify", f"{root}/{self.FILE}"], ["bench", "recipe.yaml"]):
                with self.subTest(signal=number.name, command=command[0]):
                    process = self.start(*command, environment=self.variables)
                    until = time.monotonic() + 60
                    while not any(self.FILE in name and "tmp" in name for name in self.copies()):
                        self.assertLess(time.monotonic(), until)
                        time.sleep(0.01)
                    process.send_signal(number)
                    _, err = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, code, err)
                    self.assertEqual(self.copies(), [])


class WeightsOnAServerTest(RemoteFaults):
    def test_a_run_begins_with_them_as_with_a_file(self):
        def train(run, weights):
            out, err = self.run_stoker("train", "recipe.yaml", "--run", run, "--set", "train.max_steps=1", "--set",
                                       f"train.init_from={weights}", environment=self.variables)
            self.assertIn("tensors are taken from", out + err)
            return self.read(f"{run}/weights.safetensors")
        self.run_stoker("train", "recipe.yaml", "--run", "first", "--set", "train.max_steps=2")
        weights = self.read("first/weights.safetensors")
        root = self.serve(lambda request, _: part_of(weights, request) if request.path == "/w.safetensors" else Answer(404))
        self.assertEqual(train("from-server", f"{root}/w.safetensors"), train("from-file", "first/weights.safetensors"))
        self.assert_fails(["train", "recipe.yaml", "--run", "none", "--set", f"train.init_from={root}/none.safetensors"], 1,
                          f"{root}/none.safetensors", "HTTP 404", environment=self.variables)
        self.assertFalse(os.path.exists(self.path("none")))


class MistakesBesideRemoteTest(RemoteFaults):
    """A wrong key must not send requests where the recipe does not send them."""

    PIPELINE = "  train: [lines: s3://bucket/a.txt, batch: 2]\n"

    def setUp(self):
        super().setUp()
        # Stands for the usual address, which the user's environment and credentials lead to.
        self.usual = self.serve(lambda request, _: part_of(self.content, request))
        self.usual_server = self.server
        self.environment = {**self.variables, "AWS_ENDPOINT_URL_S3": self.usual, "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
                            "AWS_SECRET_ACCESS_KEY": self.SECRET}
        self.meant = self.serve(lambda request, _: part_of(self.content, request))

    def findings(self, keys, *arguments, executable=None):
        self.write("recipe.yaml", f"data:\n  root: .\n{keys}{self.PIPELINE}model: {{linear: {{classes: 2}}}}\n")
        for command, code in (("check", 1), ("bench", 2)):
            out, err = self.run_stoker(command, "recipe.yaml", *arguments, expect=code, environment=self.environment)
            self.assertEqual(self.usual_server.requests, [], out + err)
        return out + err

    def test_a_wrong_key_beside_remote_leaves_its_endpoint_in_force(self):
        self.assertIn("clases", self.findings(f"  remote: {{endpoint: '{self.meant}', anonymous: true}}\n  clases: [a]\n"))
        self.assertNotEqual(self.server.requests, [])

    def test_a_wrong_key_within_remote_or_in_its_place_asks_no_server(self):
        for keys in (f"  remote: {{endpont: '{self.meant}', anonymous: true}}\n",
                     f"  remot: {{endpoint: '{self.meant}', anonymous: true}}\n",
                     f"  remote: '{self.meant}'\n"):
            with self.subTest(keys=keys):
                self.assertIn("remot", self.findings(keys))
                self.assertEqual(self.server.requests, [])
        self.assertIn("endpont", self.findings(f"  remote: {{endpoint: '{self.meant}'}}\n", "--set", "data.remote.endpont=x"))


if __name__ == "__main__":
    unittest.main()
