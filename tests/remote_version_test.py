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

    def test_a_process_sees_what_the_server_has_now(self):
        url = f"http://127.0.0.1:{self.server.server_address[1]}/rows.csv"
        self.write("recipe.yaml", "data:\n  train:\n"
                   f"    - csv: {{files: \"{url}\", index: memory}}\n")
        for number, rows in enumerate([b"a,b\n1,2\n", b"a,b\n7,8\n"]):
            self.server.content = rows
            self.run_stoker("pack", "recipe.yaml", f"{number}.tar", environment={"STOKER_CACHE": self.path("cache"),
                                                                               "no_proxy": "127.0.0.1"})
            self.assertIn(rows.split(b"\n")[1].split(b",")[1], self.read(f"{number}.tar"))


if __name__ == "__main__":
    unittest.main()
