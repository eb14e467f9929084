"""Google Cloud Storage and WebHDFS: every format is read from them as from the disk.

The servers are gcs_server.py and webhdfs_server.py, from which gcsfs and fsspec read too (interop_stores_test.py); that of HMAC
keys is moto, which speaks as the XML API does.
"""
import json
import os
import re
import unittest

import remote_test
from gcs_server import GcsServer
from webhdfs_server import Cluster

# What is found by listing.
LISTED = ("folder: pictures", "folder: {path: pictures/, extensions: [png, txt], paths: false}", "n5: c.n5", "files: {path: 's-*.tar', read: true}",
          "webdataset: {files: 's-[01]*', index: none}")
SECRETS = {"GOOGLE_OAUTH_ACCESS_TOKEN": "", "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": "", "GOOGLE_APPLICATION_CREDENTIALS": "", "GCE_METADATA_HOST": "",
           "CLOUDSDK_CONFIG": "", "GS_ACCESS_KEY_ID": "", "GS_SECRET_ACCESS_KEY": "", "NO_GCE_CHECK": "true"}


def files_of(test):
    """{path below data/: bytes} of all files of the test."""
    found = {}
    for folder, _, names in os.walk(test.path("files")):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found["data/" + os.path.relpath(path, test.path("files"))] = file.read()
    return found


class GcsTest(remote_test.RemoteTest):
    def setUp(self):
        super().setUp()
        self.server = GcsServer({("bucket", name): content for name, content in files_of(self).items()}, token="token-of-the-test")
        self.addCleanup(self.server.close)
        self.variables = {**self.variables, **SECRETS, "STORAGE_EMULATOR_HOST": self.server.address,
                          "GOOGLE_OAUTH_ACCESS_TOKEN": self.server.token}

    def test_every_format_is_read_from_google_cloud_storage_as_from_the_disk(self):
        self.compare("gs://bucket/data", stages=LISTED)

    def test_every_format_is_read_from_google_cloud_storage_over_connections_that_break(self):
        proxy = self.proxy(self.server.server_address[1], broken=40)
        self.compare("gs://bucket/data", "  remote: {retry_wait: 0.01}\n", environment={"STORAGE_EMULATOR_HOST": proxy.address})

    def test_inspect_and_verify_take_names_in_google_cloud_storage(self):
        for name in ("s-0.tar", "s.zip", "a.h5", "c.n5/raw/attributes.json", "a.stoker"):
            with self.subTest(name=name):
                found = self.run_json("inspect", f"gs://bucket/data/{name}", environment=self.variables)
                self.assertEqual({**found, "file": ""}, {**self.run_json("inspect", self.path("files/" + name)), "file": ""})
                self.assertEqual(found["file"], f"gs://bucket/data/{name}")
                self.run_stoker("verify", f"gs://bucket/data/{name}", environment=self.variables)

    def test_what_is_stored_in_the_form_of_gzip_is_read_as_it_is_stored(self):
        self.server.packed.add(("bucket", "data/a.csv.gz"))
        self.assertEqual(self.elements_of("gs://bucket/data", "csv: {files: a.csv.gz}"), self.elements_of("files", "csv: {files: a.csv.gz}"))

    def test_folders_that_are_not_there_or_are_no_classes_say_so(self):
        for stage, says in (("folder: nothing", "gs://bucket/data/nothing: no object is below it"),
                            ("folder: pictures/cat/deeper", "gs://bucket/data/pictures/cat/deeper: has no sub-folders"),
                            ("n5: pictures", "gs://bucket/data/pictures: there is no dataset in the container"),
                            ("lines: none.txt", "gs://bucket/data/none.txt: HTTP 404 (No such object: bucket/data/none.txt): no such file"),
                            ("files: {path: 'x-*.txt'}", "gs://bucket/data/x-*.txt: no object matches, though the bucket is there")):
            with self.subTest(stage=stage):
                self.assert_fails(["pack", self.recipe("gs://bucket/data", stage), "out.stoker"], 1, says, environment=self.variables)

    def test_a_copy_in_the_cache_stands_for_one_generation(self):
        environment = {"STOKER_CACHE": self.path("cache")}
        first = self.elements_of("gs://bucket/data", "stoker: {files: a.stoker}", environment=environment)
        asked = len(self.server.requests)
        self.assertEqual(self.elements_of("gs://bucket/data", "stoker: {files: a.stoker}", environment=environment), first)
        # The copy serves; the server is asked for the version alone.
        self.assertEqual([path for path, _ in self.server.requests[asked:] if "a.stoker" not in path], [])
        self.server.objects["bucket", "data/a.stoker"] = self.read("files/a.stoker")
        self.server.generations["bucket", "data/a.stoker"] += 1
        self.assertEqual(self.elements_of("gs://bucket/data", "stoker: {files: a.stoker}", environment=environment), first)
        copies = [name for name in os.listdir(self.path("cache")) if re.fullmatch(r"a\.stoker-[0-9a-f]+", name)]
        self.assertEqual(len(copies), 2)

    def test_nothing_secret_is_printed_or_named(self):
        self.server.token = "another"
        environment = {**self.variables, "STOKER_CACHE": self.path("cache")}
        out, err = self.assert_fails(["pack", self.recipe("gs://bucket/data", "lines: a.txt"), "out.stoker"], 1,
                                     "gs://bucket/data/a.txt: byte 0: HTTP 401 (Invalid Credentials): these credentials may not read it",
                                     environment=environment)
        self.assertNotIn("token-of-the-test", out + err)
        for folder, _, names in os.walk(self.folder):
            for name in names:
                self.assertNotIn("token-of-the-test", name)

    def test_credentials_that_vanish_in_the_middle_end_a_pass_over_blocks_and_make_no_zeros(self):
        """A block that is not there is zeros; one that cannot be asked for is not."""
        credentials = self.path("credentials.json")
        self.write("credentials.json", json.dumps({"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r",
                                                   "token_uri": self.server.address + "/token"}))

        def renews(request):  # as if the token had run out in the middle, when the file is gone
            if not request.path.partition("?")[0].endswith("raw%2F0%2F2") or not os.path.exists(credentials):
                return False
            os.remove(credentials)
            request.fail(401, "authError", "Invalid Credentials", media=True)
            return True
        self.server.fault = renews
        environment = {**self.variables, "GOOGLE_OAUTH_ACCESS_TOKEN": "", "GOOGLE_APPLICATION_CREDENTIALS": credentials}
        self.assert_fails(["pack", self.recipe("gs://bucket/data", "n5: {path: c.n5, fields: {image: raw}}"), "out.stoker"], 1,
                          "while reading GOOGLE_APPLICATION_CREDENTIALS", environment=environment)
        self.assertFalse(os.path.exists(self.path("out.stoker")))

    def test_a_user_is_known_by_a_file_of_credentials(self):
        self.write("credentials.json", json.dumps({"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r",
                                                   "token_uri": self.server.address + "/token"}))
        environment = {"GOOGLE_OAUTH_ACCESS_TOKEN": "", "GOOGLE_APPLICATION_CREDENTIALS": self.path("credentials.json")}
        self.assertEqual(self.elements_of("gs://bucket/data", "lines: a.txt", environment=environment), self.elements_of("files", "lines: a.txt"))
        self.assertEqual(self.server.forms, ["grant_type=refresh_token&client_id=i&client_secret=s&refresh_token=r"])

    def test_a_bucket_may_be_read_by_anybody(self):
        self.server.token = None
        local = self.elements_of("files", "lines: a.txt")
        more = "  remote: {anonymous: true}\n"
        self.assertEqual(self.elements_of("gs://bucket/data", "lines: a.txt", more), local)
        self.assertFalse([headers for _, headers in self.server.requests if "Authorization" in headers])


@unittest.skipUnless(remote_test.has_moto(), "./dev setup --interop installs moto")
class GcsKeysTest(remote_test.RemoteTest):
    """With HMAC keys the XML API is asked, which speaks as S3 does."""

    def test_every_format_is_read_with_hmac_keys_as_from_the_disk(self):
        endpoint = remote_test.start_moto(self)
        keys = {**SECRETS, "STORAGE_EMULATOR_HOST": endpoint, "GS_ACCESS_KEY_ID": "GOOG1EXAMPLE", "GS_SECRET_ACCESS_KEY": "secret-of-the-test"}
        self.compare("gs://bucket/data", stages=LISTED, environment=keys)


class WebHdfsTest(remote_test.RemoteTest):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster(files_of(self))
        self.addCleanup(self.cluster.close)
        self.root = f"webhdfs://{self.cluster.host}/data"
        self.variables = {**self.variables, "HADOOP_USER_NAME": "", "WEBHDFS_DELEGATION_TOKEN": "", "WEBHDFS_DELEGATION_TOKEN_FILE": ""}

    def test_every_format_is_read_from_webhdfs_as_from_the_disk(self):
        self.compare(self.root, stages=LISTED)

    def test_every_format_is_read_from_webhdfs_over_connections_that_break(self):
        proxy = self.proxy(self.cluster.name_node.server_address[1], broken=40, after=700)  # an answer or two, and a part
        self.compare("webhdfs" + proxy.address[len("http"):] + "/data", "  remote: {retry_wait: 0.01}\n")

    def test_a_server_without_pages_of_lists_is_listed_too(self):
        self.cluster.batches = False
        for stage in LISTED:
            with self.subTest(stage=stage):
                self.assertEqual(self.elements_of("files", stage), self.elements_of(self.root, stage))

    def test_inspect_and_verify_take_names_in_webhdfs(self):
        for name in ("s-0.tar", "s.zip", "a.h5", "c.n5/raw/attributes.json", "a.stoker"):
            with self.subTest(name=name):
                found = self.run_json("inspect", f"{self.root}/{name}", environment=self.variables)
                self.assertEqual({**found, "file": ""}, {**self.run_json("inspect", self.path("files/" + name)), "file": ""})
                self.assertEqual(found["file"], f"{self.root}/{name}")
                self.run_stoker("verify", f"{self.root}/{name}", environment=self.variables)

    def test_folders_that_are_not_there_or_are_no_classes_say_so(self):
        for stage, says in (("folder: nothing", "/data/nothing: HTTP 404 FileNotFoundException (File does not exist: /data/nothing)"),
                            ("folder: pictures/cat/deeper", f"{self.root}/pictures/cat/deeper: has no sub-folders"),
                            ("n5: pictures", f"{self.root}/pictures: there is no dataset in the container"),
                            ("lines: none.txt", "/data/none.txt: HTTP 404 FileNotFoundException (File does not exist: /data/none.txt): no such file"),
                            ("files: {path: 'x-*.txt'}", "/data/x-*.txt: no object matches, though the file system is there")):
            with self.subTest(stage=stage):
                self.assert_fails(["pack", self.recipe(self.root, stage), "out.stoker"], 1, says, environment=self.variables)

    def test_a_folder_in_the_place_of_a_file_is_wrong_usage(self):
        self.assert_fails(["pack", self.recipe(self.root, "lines: pictures"), "out.stoker"], 2, "/data/pictures: is a folder, not a file",
                          environment=self.variables)

    def test_a_token_file_that_vanishes_in_the_middle_ends_a_pass_over_blocks_and_makes_no_zeros(self):
        self.write("token", "token-of-the-test")
        self.cluster.served = lambda path: path.endswith("raw/0/0") and os.path.exists(self.path("token")) and os.remove(self.path("token"))
        environment = {**self.variables, "WEBHDFS_DELEGATION_TOKEN_FILE": self.path("token")}
        self.assert_fails(["pack", self.recipe(self.root, "n5: {path: c.n5, fields: {image: raw}}"), "out.stoker"], 1,
                          "while reading WEBHDFS_DELEGATION_TOKEN_FILE", environment=environment)
        self.assertFalse(os.path.exists(self.path("out.stoker")))

    def test_a_token_file_that_is_empty_for_a_while_costs_no_element(self):
        """The file is being renewed when it is read: no element is skipped for that, whatever may be skipped."""
        self.write("token", "token-of-the-test")
        self.write("list.txt", "".join(f"data/a.txt {i}\n" for i in range(5)) + "data/a.csv 5\n" + "data/a.txt 6\n")
        self.cluster.served = lambda path: path.endswith("a.csv") and self.write("token", "")
        environment = {**self.variables, "WEBHDFS_DELEGATION_TOKEN_FILE": self.path("token")}
        self.write("recipe.yaml", f"data:\n  train:\n    - list: {{path: list.txt, root: 'webhdfs://{self.cluster.host}'}}\n"
                   "    - ignore_errors: {policy: skip, share: 1}\n")
        self.assert_fails(["pack", "recipe.yaml", "out.stoker"], 1, "has no token", environment=environment)
        self.assertFalse(os.path.exists(self.path("out.stoker")))

    def test_a_copy_in_the_cache_stands_for_one_state_of_the_file(self):
        environment = {"STOKER_CACHE": self.path("cache")}
        first = self.elements_of(self.root, "stoker: {files: a.stoker}", environment=environment)
        asked = len(self.cluster.requests)
        self.assertEqual(self.elements_of(self.root, "stoker: {files: a.stoker}", environment=environment), first)
        self.assertNotIn("DataNode", [node for node, _ in self.cluster.requests[asked:]])  # the copy serves
        self.cluster.changed["data/a.stoker"] += 1
        self.assertEqual(self.elements_of(self.root, "stoker: {files: a.stoker}", environment=environment), first)
        copies = [name for name in os.listdir(self.path("cache")) if re.fullmatch(r"a\.stoker-[0-9a-f]+", name)]
        self.assertEqual(len(copies), 2)

    def test_a_delegation_token_is_sent_and_never_shown(self):
        self.cluster.token = "token-of-the-test"
        local = self.elements_of("files", "lines: a.txt")
        token = {"WEBHDFS_DELEGATION_TOKEN": self.cluster.token, "STOKER_CACHE": self.path("cache")}
        self.assertEqual(self.elements_of(self.root, "lines: a.txt", environment=token), local)
        self.cluster.token = "another"
        out, err = self.assert_fails(["pack", self.recipe(self.root, "lines: a.txt"), "out.stoker", "--overwrite"], 1,
                                     "/data/a.txt: HTTP 403 InvalidToken (token is expired or does not exist): the delegation token",
                                     environment={**self.variables, **token})
        self.assertNotIn("token-of-the-test", out + err)
        for folder, _, names in os.walk(self.folder):
            for name in names:
                self.assertNotIn("token-of-the-test", name)


if __name__ == "__main__":
    unittest.main()
