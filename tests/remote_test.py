"""Files on servers: a real nginx and a real S3 server (moto) on loopback, and connections that break in their middle.

nginx is Debian's nginx-light, moto in the virtual environment that `./dev setup --interop` makes (STOKER_INTEROP may name the
interpreter of another one); without them these tests are skipped.
"""
import gzip
import io
import json
import os
import random
import shutil
import socket
import subprocess
import tarfile
import threading
import time
import unittest
import urllib.request
import zipfile

from array_files import hdf5, n5
from other_software import PYTHON
from program import ProgramTest, png

NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
SAMPLES = 60
MOTO = "import sys; from moto.server import main; main(sys.argv[1:])"


def has_moto():
    return os.path.exists(PYTHON) and subprocess.run([PYTHON, "-c", "import moto.server, flask"], capture_output=True).returncode == 0


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def tar_of(first, count):
    """A WebDataset archive: a text of some length and a number for each sample."""
    out, rng = io.BytesIO(), random.Random(first)
    with tarfile.open(fileobj=out, mode="w") as archive:
        for i in range(first, first + count):
            for extension, data in (("txt", b"%d-" % i + rng.randbytes(20000).hex().encode()), ("cls", b"%d" % i)):
                member = tarfile.TarInfo(f"{i:05}.{extension}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


class Proxy:
    """Hands connections on to `port`, and breaks each of the first `broken` after as many bytes of answer as `after`."""

    def __init__(self, port, broken=0, after=100_000):
        self.port, self.left, self.after = port, broken, after
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.lock, self.threads = threading.Lock(), []
        self.run(self.accept)

    @property
    def address(self):
        return "http://127.0.0.1:%d" % self.listener.getsockname()[1]

    def run(self, function, *arguments):
        self.threads.append(threading.Thread(target=function, args=arguments, daemon=True))
        self.threads[-1].start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                limit = self.after if self.left > 0 else None
                self.left -= 1
            server = socket.create_connection(("127.0.0.1", self.port))
            self.run(self.hand_on, client, server, limit)

    def hand_on(self, client, server, limit):
        back = threading.Thread(target=self.pump, args=(client, server, None), daemon=True)
        back.start()
        self.pump(server, client, limit)
        back.join()
        client.close()
        server.close()

    @staticmethod
    def pump(source, target, limit):
        try:
            while limit is None or limit > 0:
                data = source.recv(65536 if limit is None else min(limit, 65536))
                if not data:
                    break
                limit = None if limit is None else limit - len(data)
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class RemoteTest(ProgramTest):
    """What is read from a server is what is read from the disk."""

    def setUp(self):
        super().setUp()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self.variables = {"no_proxy": "127.0.0.1", "HOME": self.folder, "XDG_CACHE_HOME": self.path("xdg"), "STOKER_CACHE": "",
                          "AWS_CONFIG_FILE": self.path("none"), "AWS_SHARED_CREDENTIALS_FILE": self.path("none"),
                          "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": "", "AWS_ENDPOINT_URL": "",
                          "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": ""}
        self.samples = {f"files/s-{shard}.tar": tar_of(shard * SAMPLES, SAMPLES) for shard in range(3)}
        for name, content in self.samples.items():
            self.write(name, content)
        rows = "".join(f"{i},{i * 0.5}\n" for i in range(50000))
        self.write("files/a.csv", "n,x\n" + rows)
        self.write("files/a.csv.gz", gzip.compress(("n,x\n" + rows).encode(), mtime=0))
        self.write("files/a.txt", rows)
        self.write("files/a.jsonl", "".join(json.dumps({"n": i}) + "\n" for i in range(5000)))
        self.write("pack.yaml", "data:\n  root: files\n  train:\n    - csv: {files: a.csv}\n")
        self.run_stoker("pack", "pack.yaml", "files/a.stoker")
        self.run_stoker("pack", "pack.yaml", "files/a.npys", "--format", "npy")
        self.write("files/x.npy", self.read("files/a.npys/x.npy"))
        self.run_stoker("pack", "pack.yaml", "files/a.tfrecord", "--format", "tfrecord")
        for name in ("train-images", "train-labels.gz"):
            self.write("files/" + name, self.read("data/" + name))
        self.write("files/list.txt", "a.csv 0\na.txt 1\n")
        with zipfile.ZipFile(self.path("files/s.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            for i in range(SAMPLES):
                archive.writestr(f"{i:05}.txt", f"{i} " * 500)
                archive.writestr(f"{i:05}.cls", str(i))
        images, labels = [40, 300, 30], [40]
        values = random.Random(1).randbytes(40 * 300 * 30)  # more than the first bytes that are asked for
        self.write("files/a.h5", hdf5({"train": {"images": (images, values), "labels": (labels, range(40))}}))
        # Of the first, two of four blocks have been written.
        for name, dimensions, block, written in (("raw", [30, 40], [30, 10], ["0/0", "0/2"]), ("group/labels", [40], [40], ["0"])):
            attributes, content = n5(block, range(block[-1]) if len(block) == 1 else values[:300])
            attributes = json.dumps({**json.loads(attributes), "dimensions": dimensions})
            self.write(f"files/c.n5/{name}/attributes.json", attributes)
            for place in written:
                self.write(f"files/c.n5/{name}/{place}", content)
        self.write("files/c.n5/attributes.json", json.dumps({"n5": "4.0.0"}))
        for i, name in enumerate(("cat/b.png", "cat/deeper/a.png", "dog-2/c.png", "dog/d.png", "dog/.hidden.png", "dog/notes.txt")):
            self.write("files/pictures/" + name, png(bytes([i]) * 16, 4, 4))

    def recipe(self, root, stage, more=""):
        self.write("recipe.yaml", f"data:\n  root: {root}\n{more}  train:\n    - {stage}\n")
        return "recipe.yaml"

    def elements_of(self, root, stage, more="", format="stoker", **options):
        """The elements of a pipeline, packed into a shard whose bytes follow from them."""
        options["environment"] = {**self.variables, **options.pop("environment", {})}
        if os.path.exists(self.path("out.stoker")):
            os.remove(self.path("out.stoker"))
        self.run_stoker("pack", self.recipe(root, stage, more), "out.stoker", "--format", format, **options)
        return self.read("out.stoker")

    def compare(self, url, more="", stages=(), **options):
        for stage in ("webdataset: {files: 's-{0..2}.tar', index: none}", "webdataset: {files: s-1.tar, index: memory}",
                      "csv: {files: a.csv, index: none}", "csv: {files: a.csv.gz}", "csv: {files: a.csv, index: memory}",
                      "jsonl: {files: a.jsonl, index: none}", "lines: a.txt", "stoker: {files: a.stoker}", "npy: {fields: {x: x.npy}}",
                      "files: {path: [a.txt, s-0.tar], read: true}",
                      "tfrecord: {files: a.tfrecord, index: none}", "tfrecord: {files: a.tfrecord, index: memory}",
                      "idx: {images: train-images, labels: train-labels.gz}", "list: {path: list.txt}",
                      "zip_archive: {files: s.zip}", "hdf5: {files: a.h5, fields: {image: /train/images, label: /train/labels}}",
                      "n5: {path: c.n5, fields: {image: raw, label: group/labels}}", *stages):
            with self.subTest(stage=stage):
                self.assertEqual(self.elements_of("files", stage), self.elements_of(url, stage, more, **options))

    def start_server(self, command, port, **options):
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        self.addCleanup(self.end, server)
        while True:  # the test's own time is all the limit there is
            self.assertIsNone(server.poll(), "the server has ended")
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                time.sleep(0.02)

    def proxy(self, port, **how):
        proxy = Proxy(port, **how)
        self.addCleanup(proxy.close)
        return proxy


@unittest.skipUnless(NGINX, "there is no nginx")
class HttpTest(RemoteTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.write("nginx.conf", f"""
            worker_processes 1; daemon off; pid {self.folder}/nginx.pid; error_log {self.folder}/error.log;
            events {{ worker_connections 64; }}
            http {{ access_log {self.folder}/access.log; client_body_temp_path {self.folder}/t1; proxy_temp_path {self.folder}/t2;
              fastcgi_temp_path {self.folder}/t3; uwsgi_temp_path {self.folder}/t4; scgi_temp_path {self.folder}/t5;
              server {{ listen 127.0.0.1:{self.port}; root {self.folder}/files;
                location /whole/ {{ alias {self.folder}/files/; max_ranges 0; }}
                location /busy/ {{ return 503; }} }} }}""")
        # Its workers must be able to read what a test's own user has written.
        user = ["-g", "user root;"] if os.geteuid() == 0 else []
        self.start_server([NGINX, "-e", self.path("error.log"), "-c", self.path("nginx.conf"), *user], self.port)
        self.url = f"http://127.0.0.1:{self.port}"

    def sent(self, name):
        """How many bytes of a file the server has sent, by its log."""
        lines = [line for line in self.read("access.log").decode().splitlines() if f"GET /{name}" in line]
        return sum(int(line.split('" ')[1].split()[1]) for line in lines)

    def test_every_format_is_read_from_nginx_as_from_the_disk(self):
        self.compare(self.url)

    def test_every_format_is_read_from_a_server_that_sends_no_parts(self):
        self.compare(self.url + "/whole")

    def test_every_format_is_read_over_connections_that_break(self):
        proxy = self.proxy(self.port, broken=40)
        self.compare(proxy.address, "  remote: {retry_wait: 0.01}\n")

    def test_how_far_is_read_ahead_changes_nothing(self):
        self.compare(self.url, "  remote: {read_ahead: 128KiB, connections: 2}\n")

    def test_what_would_have_to_be_listed_is_an_error_over_http(self):
        for stage, says in (("folder: pictures", "pictures: what is in a folder cannot be asked for over HTTP"),
                            ("n5: c.n5", "c.n5: what is in a container cannot be asked for over HTTP; name its datasets")):
            with self.subTest(stage=stage):
                self.assert_fails(["pack", self.recipe(self.url, stage), "out.stoker"], 1, f"{self.url}/{says}",
                                  environment=self.variables)

    def test_inspect_and_verify_take_addresses(self):
        for name, kind in (("s-0.tar", "tar"), ("a.stoker", ".stoker"), ("a.csv", "CSV"), ("s.zip", "zip"),
                           ("a.h5", "HDF5"), ("c.n5/raw/attributes.json", "N5")):
            found = self.run_json("inspect", f"{self.url}/{name}", environment=self.variables)
            local = self.run_json("inspect", self.path("files/" + name))
            self.assertEqual({**found, "file": ""}, {**local, "file": ""}, kind)
        self.run_stoker("verify", f"{self.url}/a.stoker", environment=self.variables)

    def test_a_pattern_over_http_is_refused_with_what_to_do_instead(self):
        for stage in ("webdataset: {files: 's-*.tar'}", "webdataset: {files: 's-[01].tar'}", "tfrecord: {files: '*.tfrecord'}"):
            with self.subTest(stage=stage):
                _, err = self.assert_fails(["bench", self.recipe(self.url, stage)], 2, "a pattern", "cannot be listed over HTTP",
                                           "name the files, as in x-{000..146}.tar", "recipe.yaml:", environment=self.variables)
                self.assertNotRegex(err, r"\b404\b")  # a port may have these digits

    def test_inspect_shows_nothing_of_a_query_in_json(self):
        address = f"{self.url}/a.csv?token=s3cr3t&X-Amz-Signature=0123abcd"
        for arguments in (["inspect", address, "--json"], ["inspect", address], ["verify", f"{self.url}/a.stoker?token=s3cr3t"],
                          ["verify", f"{self.url}/a.stoker?token=s3cr3t", "--json"],
                          ["inspect", f"{self.url}/gone.csv?token=s3cr3t", "--json"]):
            with self.subTest(arguments=arguments):
                gone = "gone" in arguments[1]
                out, err = self.run_stoker(*arguments, expect=1 if gone else 0, environment=self.variables)
                for secret in ("s3cr3t", "0123abcd"):
                    self.assertNotIn(secret, out + err)
        self.assertIn("a.csv", self.run_json("inspect", address, environment=self.variables)["file"])

    def test_two_processes_share_one_copy(self):
        environment = {**self.variables, "STOKER_CACHE": self.path("cache")}
        self.recipe(self.url, "stoker: {files: a.stoker}")
        both = [self.start("pack", "recipe.yaml", f"out-{i}.stoker", environment=environment) for i in range(2)]
        for process in both:
            out, err = process.communicate()
            self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.read("out-0.stoker"), self.read("out-1.stoker"))
        copies = [name for name in os.listdir(self.path("cache")) if name.startswith("a.stoker") and not name.endswith(".check")]
        self.assertEqual(len(copies), 1)
        size = os.path.getsize(self.path("files/a.stoker"))
        self.assertLess(self.sent("a.stoker"), 2 * size)  # one transfer, and the start for each process

    def test_ranks_of_one_machine_fetch_each_byte_once(self):
        source = "    - idx: {images: train-images, labels: train-labels.gz}\n"
        self.write("many.yaml", f"data:\n  root: data\n  train:\n{source}    - repeat: 20\n")
        self.run_stoker("pack", "many.yaml", "files/many.stoker")
        self.write("recipe.yaml", f"data:\n  root: {self.url}\n  train:\n    - stoker: {{files: many.stoker}}\n    - shuffle\n"
                   "    - normalize: {mean: 0.2, std: 0.3}\n    - batch: 256\nmodel: {mlp: {classes: 4}}\n"
                   "train: {epochs: 2, device: cpu, threads: 1, tune: off}\n")
        environment = {**self.variables, "STOKER_CACHE": self.path("cache")}
        self.run_stoker("launch", "-n", "3", "--", "train", "recipe.yaml", "--run", "run", "--quiet", environment=environment)
        size = os.path.getsize(self.path("files/many.stoker"))
        self.assertGreater(size, 2_000_000)
        self.assertLess(self.sent("many.stoker"), 1.2 * size)  # what each rank reads to know the file is above 1

    def test_a_damaged_copy_is_fetched_again_by_the_next_process(self):
        environment = {"STOKER_CACHE": self.path("cache")}
        good = self.elements_of(self.url, "stoker: {files: a.stoker}", environment=environment)
        [name] = [name for name in os.listdir(self.path("cache")) if name.startswith("a.stoker") and not name.endswith(".check")]
        content = bytearray(self.read("cache/" + name))
        content[len(content) // 2] ^= 1
        self.write("cache/" + name, bytes(content))
        self.assertEqual(self.elements_of(self.url, "stoker: {files: a.stoker}", environment=environment), good)
        self.assertNotEqual(self.read("cache/" + name), bytes(content))

    def test_the_cache_stays_within_its_size(self):
        environment = {"STOKER_CACHE": self.path("cache"), "STOKER_CACHE_SIZE": "6MB"}
        self.elements_of(self.url, "webdataset: {files: 's-{0..2}.tar', index: none}", environment=environment)
        names = [name for name in os.listdir(self.path("cache")) if not name.startswith(".") and not name.endswith(".check")]
        self.assertLessEqual(sum(os.path.getsize(self.path("cache/" + name)) for name in names), 6_000_000)
        self.assertTrue(any(name.startswith("s-2.tar") for name in names), names)


def start_moto(test):
    """The address of an S3 server whose bucket has all files of the test below data/."""
    port = free_port()
    test.start_server([PYTHON, "-c", MOTO, "-H", "127.0.0.1", "-p", str(port)], port, cwd=test.folder)
    endpoint = f"http://127.0.0.1:{port}"

    def put(name, content):
        request = urllib.request.Request(f"{endpoint}/{name}", data=content or b"", method="PUT")
        request.add_header("x-amz-acl", "public-read")
        request.add_header("Content-Type", "application/octet-stream")  # else moto takes it for a form
        request.add_header("Authorization", "AWS4-HMAC-SHA256 Credential=AKIA/20200101/us-east-1/s3/aws4_request")
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).close()

    put("bucket", None)
    for folder, _, names in os.walk(test.path("files")):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                put("bucket/data/" + os.path.relpath(path, test.path("files")), file.read())
    return endpoint


@unittest.skipUnless(has_moto(), "./dev setup --interop installs moto")
class S3Test(RemoteTest):
    KEYS = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret-of-the-test"}

    def setUp(self):
        super().setUp()
        self.endpoint = start_moto(self)
        self.port = int(self.endpoint.rsplit(":", 1)[1])
        self.more = f"  remote: {{endpoint: '{self.endpoint}'}}\n"

    # What is found by listing, which HTTP cannot.
    LISTED = ("folder: pictures", "folder: {path: pictures/, extensions: [png, txt], paths: false}", "n5: c.n5", "files: {path: 's-*.tar', read: true}")

    def test_every_format_is_read_from_s3_as_from_the_disk(self):
        self.compare("s3://bucket/data", self.more, self.LISTED, environment=self.KEYS)

    def test_folders_that_are_not_there_or_are_no_classes_say_so(self):
        for stage, says in (("folder: nothing", "s3://bucket/data/nothing: no object is below it"),
                            ("folder: pictures/cat/deeper", "s3://bucket/data/pictures/cat/deeper: has no sub-folders"),
                            ("folder: {path: pictures, extensions: [jpg]}", "s3://bucket/data/pictures/cat: the class has no file"),
                            ("n5: pictures", "s3://bucket/data/pictures: there is no dataset in the container"),
                            ("lines: none.txt", "s3://bucket/data/none.txt: HTTP 404 NoSuchKey")):
            with self.subTest(stage=stage):
                self.assert_fails(["pack", self.recipe("s3://bucket/data", stage, self.more), "out.stoker"], 1, says,
                                  environment={**self.variables, **self.KEYS})

    def test_inspect_and_verify_take_names_in_s3(self):
        environment = {**self.variables, **self.KEYS, "AWS_ENDPOINT_URL_S3": self.endpoint}
        for name in ("s-0.tar", "s.zip", "a.h5", "c.n5/raw/attributes.json"):
            with self.subTest(name=name):
                found = self.run_json("inspect", f"s3://bucket/data/{name}", environment=environment)
                self.assertEqual({**found, "file": ""}, {**self.run_json("inspect", self.path("files/" + name)), "file": ""})
                self.run_stoker("verify", f"s3://bucket/data/{name}", environment=environment)

    def test_every_format_is_read_from_s3_over_connections_that_break(self):
        proxy = self.proxy(self.port, broken=40)
        more = f"  remote: {{endpoint: '{proxy.address}', retry_wait: 0.01}}\n"
        self.compare("s3://bucket/data", more, environment=self.KEYS)

    def test_credentials_and_endpoint_come_from_the_files_of_aws(self):
        self.write("credentials", "[train]\naws_access_key_id = AKIA\naws_secret_access_key = s\n")
        self.write("config", f"[profile train]\nendpoint_url = {self.endpoint}\nregion = eu-west-1\n")
        files = {"AWS_CONFIG_FILE": self.path("config"), "AWS_SHARED_CREDENTIALS_FILE": self.path("credentials"), "AWS_PROFILE": "train"}
        local = self.elements_of("files", "lines: a.txt")
        self.assertEqual(self.elements_of("s3://bucket/data", "lines: a.txt", environment=files), local)

    def test_a_bucket_may_be_read_by_anybody(self):
        local = self.elements_of("files", "lines: a.txt")
        more = f"  remote: {{endpoint: '{self.endpoint}', anonymous: true}}\n"
        self.assertEqual(self.elements_of("s3://bucket/data", "lines: a.txt", more), local)


if __name__ == "__main__":
    unittest.main()
