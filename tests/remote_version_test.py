"""What a server without tags and times has changed is seen by the next process, though the cache holds a copy."""
import http.server
import threading
import unittest

from program import ProgramTest


class Unversioned(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        content = self.server.content
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class RemoteVersionTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Unversioned)
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)

    def sees_what_is_there_now(self, options):
        url = f"http://127.0.0.1:{self.server.server_address[1]}/rows.csv"
        self.write("recipe.yaml", f"data:\n  train:\n    - csv: {{files: \"{url}\"{options}}}\n")
        environment = {"STOKER_CACHE": self.path("cache"), "no_proxy": "127.0.0.1"}
        for cell in [2, 8]:
            self.server.content = b"a,b\n" + b"1,%d\n" % cell * 50_000
            self.run_stoker("pack", "recipe.yaml", f"rows{cell}", "--format", "npy", environment=environment)
            with open(self.path(f"rows{cell}/b.npy"), "rb") as file:
                self.assertEqual(file.read()[-8:], cell.to_bytes(8, "little"))

    def test_a_process_that_reads_in_order_sees_what_the_server_has_now(self):
        self.sees_what_is_there_now("")

    def test_a_process_that_reads_by_position_sees_what_the_server_has_now(self):
        self.sees_what_is_there_now(", index: memory")


if __name__ == "__main__":
    unittest.main()
