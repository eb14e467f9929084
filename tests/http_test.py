"""`--metrics`, `--dashboard` and report.html: what a browser and Prometheus get, who is refused, and that nothing is left."""
import html.parser
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from program import RECIPE, ProgramTest

TOKEN = "0123456789abcdef-._~"
ENDLESS = RECIPE.replace("epochs: 3", "epochs: 1000000")
# As long as the test wants it to be.
BENCH = ["bench", "recipe.yaml", "--seconds", "3600"]


class ServedCase(ProgramTest):
    def serve(self, *arguments, **options):
        """A process and its addresses, by the word with which it announces them: {"metrics": port}."""
        process = self.start(*arguments, **options)
        ports = {}
        self.said = []
        wanted = sum(option in arguments for option in ("--metrics", "--dashboard"))
        while len(ports) < wanted:
            line = process.stderr.readline()
            if not line:
                self.fail("it ended without serving: " + "".join(self.said))
            self.said.append(line)
            found = re.match(r"stoker: (metrics|dashboard) at http://[^:]+:(\d+)/", line)
            if found:
                ports[found[1]] = int(found[2])
        return process, ports

    def get(self, port, path, method="GET", **headers):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", port)
        try:
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def metrics(self, port, **headers):
        """The samples by name and labels, as text: {'stoker_train_loss': 0.5}."""
        status, _, body = self.get(port, "/metrics", **headers)
        self.assertEqual(status, 200, body)
        lines = [line.rpartition(" ") for line in body.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in lines}

    def wait_for(self, port, name, at_least):
        """The samples once that of `name` has come so far."""
        while True:
            found = self.metrics(port)
            if found.get(name, -1) >= at_least:
                return found

    def events(self, port, count, **headers):
        """The first events of the page: [(name, data)]."""
        connection = http.client.HTTPConnection("127.0.0.1", port)
        self.addCleanup(connection.close)
        connection.request("GET", "/events", headers=headers)
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Type"], "text/event-stream")
        events, name, data = [], "", []
        while len(events) < count:
            line = answer.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data.append(line[6:])
            elif data:
                events.append((name, json.loads("\n".join(data))))
                name, data = "", []
            else:
                self.fail("the events have ended: " + str(events))
        return events

    def interrupt(self, process, expect=130):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        self.assertEqual(process.returncode, expect, out + err)
        return out, "".join(self.said) + err


class MetricsTest(ServedCase):
    def test_bench_serves_the_input_and_its_stages(self):
        process, ports = self.serve(*BENCH, "--metrics", "0")
        found = self.wait_for(ports["metrics"], "stoker_input_samples_total", 1)
        self.assertGreater(found['stoker_stage_elements_total{stage="idx",position="0"}'], 0)
        self.assertGreater(found["stoker_host_memory_bytes"], 0)
        self.assertIn("process_cpu_seconds_total", found)
        more = self.wait_for(ports["metrics"], "stoker_input_samples_total", found["stoker_input_samples_total"] + 1)
        for name in found:
            if re.match(r"(stoker_(stage|input)|process_cpu)\w+_total", name):
                self.assertGreaterEqual(more[name], found[name], "a counter never goes back: " + name)
        self.interrupt(process)
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.1", ports["metrics"])).close()

    def test_pack_serves_how_far_it_is(self):
        self.write("many.yaml", "data:\n  train:\n    - range: 300000000\n")
        process, ports = self.serve("pack", "many.yaml", "many.stoker", "--metrics", "0")
        found = self.wait_for(ports["metrics"], "stoker_pack_elements_total", 1)
        self.assertEqual(found["stoker_pack_planned_elements"], 300000000)
        self.interrupt(process)
        self.assertEqual([name for name in os.listdir(self.folder) if "many.stoker" in name], [])

    def test_doctor_serves_while_it_measures_a_recipe_and_a_program(self):
        with tempfile.TemporaryDirectory(prefix="stoker-http-test-") as temporary:
            process, ports = self.serve("doctor", "recipe.yaml", "--seconds", "600", "--metrics", "0", environment={"TMPDIR": temporary})
            status, _, body = self.get(ports["metrics"], "/metrics")
            self.assertEqual(status, 200)
            self.assertIn('stoker_run_info{command="doctor",recipe="recipe.yaml"', body)
            self.interrupt(process)
        process, ports = self.serve("doctor", "--seconds", "600", "--metrics", "0", "--", "sleep", "600")
        self.assertIn('recipe="-- sleep 600"', self.get(ports["metrics"], "/metrics")[2])
        self.interrupt(process)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed; ./dev setup --interop does that")
    def test_promtool_finds_nothing_wrong(self):
        process, ports = self.serve(*BENCH, "--metrics", "0")
        self.wait_for(ports["metrics"], "stoker_input_samples_total", 1)
        body = self.get(ports["metrics"], "/metrics")[2]
        checked = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True, text=True)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))
        self.interrupt(process)

    def test_nothing_listens_where_nothing_is_asked_for(self):
        process = self.start(*BENCH)
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            pass
        sockets = [name for name in os.listdir(f"/proc/{process.pid}/fd")
                   if os.readlink(f"/proc/{process.pid}/fd/{name}").startswith("socket:")]
        threads = [pathlib.Path(f"/proc/{process.pid}/task/{task}/comm").read_text() for task in os.listdir(f"/proc/{process.pid}/task")]
        self.assertEqual(sockets, [])
        self.assertEqual([name for name in threads if name.startswith("http")], [])
        process.send_signal(signal.SIGINT)
        process.communicate()


class AccessTest(ServedCase):
    def test_an_address_that_others_reach_needs_a_token(self):
        for option in ("--metrics", "--dashboard"):
            _, err = self.assert_fails([*BENCH, option, "0.0.0.0:0"], 2, option, "--token-file", "STOKER_HTTP_TOKEN")

    def test_the_token_opens_it_and_is_told_nobody(self):
        self.write("token", TOKEN + "\n")
        process, ports = self.serve(*BENCH, "--metrics", "0.0.0.0:0", "--dashboard", "0", "--token-file", "token")
        port = ports["metrics"]
        for headers in ({}, {"Authorization": "Bearer " + TOKEN + "x"}, {"Authorization": "Basic " + TOKEN}, {"Authorization": TOKEN}):
            status, answer, body = self.get(port, "/metrics", **headers)
            self.assertEqual(status, 401, headers)
            self.assertTrue(answer["WWW-Authenticate"].startswith("Bearer"))
            self.assertNotIn("stoker_", body)
        self.assertEqual(self.get(port, "/metrics?token=" + TOKEN)[0], 401, "a URL is no place for it")
        self.assertIn("stoker_build_info", self.get(port, "/metrics", Authorization="Bearer " + TOKEN)[2])
        # The page comes without it, and asks for it; it holds nothing of the run.
        status, _, page = self.get(ports["dashboard"], "/")
        self.assertEqual(status, 401)
        self.assertIn("This server asks for its token", page)
        self.assertNotIn("recipe.yaml", page)
        self.assertEqual(self.get(ports["dashboard"], "/events")[0], 401)
        self.assertEqual(self.events(ports["dashboard"], 1, Authorization="Bearer " + TOKEN)[0][0], "whole")
        out, err = self.interrupt(process)
        self.assertNotIn(TOKEN, out + err)

    def test_the_token_may_stand_in_the_environment(self):
        process, ports = self.serve(*BENCH, "--metrics", "0", environment={"STOKER_HTTP_TOKEN": TOKEN})
        self.assertEqual(self.get(ports["metrics"], "/metrics")[0], 401)
        self.assertEqual(self.get(ports["metrics"], "/metrics", Authorization="Bearer " + TOKEN)[0], 200)
        self.interrupt(process)

    def test_a_bad_token_and_a_bad_address_are_named_and_not_shown(self):
        self.write("token", "short\n")
        _, err = self.assert_fails([*BENCH, "--metrics", "0", "--token-file", "token"], 2, "token: holds no token")
        self.assertNotIn("short", err)
        _, err = self.assert_fails([*BENCH, "--metrics", "0"], 2, "STOKER_HTTP_TOKEN: holds no token",
                                   environment={"STOKER_HTTP_TOKEN": "letmein"})
        self.assertNotIn("letmein", err)
        self.assert_fails([*BENCH, "--metrics", "0", "--token-file", "nosuch"], 1, "nosuch")
        self.assert_fails([*BENCH, "--token-file", "token"], 2, "--token-file", "--metrics")
        for address in ("here", "localhost", "1.2.3.4.5:x", "::1:80", "70000"):
            self.assert_fails([*BENCH, "--dashboard", address], 2, "--dashboard", address, "127.0.0.1:9090")

    def test_a_port_that_is_taken_is_named_before_anything_is_done(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.assert_fails([*BENCH, "--metrics", address], 1, f"--metrics {address}: another program listens there")
            self.assert_fails(["train", "recipe.yaml", "--dashboard", address], 1, address)
        self.assertFalse(os.path.exists(self.path("runs")))

    def test_the_name_of_another_site_is_refused(self):
        process, ports = self.serve(*BENCH, "--metrics", "0", "--dashboard", "0")
        for port, path in ((ports["metrics"], "/metrics"), (ports["dashboard"], "/"), (ports["dashboard"], "/events")):
            for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "10.0.0.1"):
                status, _, body = self.get(port, path, Host=host)
                self.assertEqual(status, 421, host)
                self.assertNotIn("stoker_", body)
        self.assertEqual(self.get(ports["metrics"], "/metrics", Host="localhost")[0], 200)
        self.assertEqual(self.get(ports["metrics"], "/nosuch")[0], 404)
        self.assertEqual(self.get(ports["metrics"], "/metrics", method="POST")[0], 405)
        self.interrupt(process)

    def test_half_requests_and_idle_connections_lock_nobody_out(self):
        process, ports = self.serve(*BENCH, "--metrics", "0")
        clients = []
        for i in range(400):
            client = socket.create_connection(("127.0.0.1", ports["metrics"]))
            self.addCleanup(client.close)
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: loc" if i % 2 else b"")
            clients.append(client)
        self.assertGreater(self.metrics(ports["metrics"])["process_open_fds"], 0)
        self.interrupt(process)


class References(html.parser.HTMLParser):
    """What a page would load or follow, and its elements."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.elements = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "srcset", "data", "action", "poster") or
                        (name == "href" and not (value or "").startswith("#"))]


class DashboardTest(ServedCase):
    def test_the_page_holds_all_it_needs_under_a_policy_of_its_own(self):
        process, ports = self.serve(*BENCH, "--dashboard", "0")
        status, headers, page = self.get(ports["dashboard"], "/")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
        self.assertRegex(headers["Content-Security-Policy"], r"^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'")
        self.assertNotIn("unsafe", headers["Content-Security-Policy"])
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertEqual(References(page).loaded, [])
        self.interrupt(process)

    def test_events_begin_with_the_past_and_go_on_each_second(self):
        process, ports = self.serve(*BENCH, "--dashboard", "0")
        events = self.events(ports["dashboard"], 4)
        self.assertEqual([name for name, _ in events], ["whole", "tick", "tick", "tick"])
        self.assertEqual(events[0][1]["about"]["recipe"], "recipe.yaml")
        last = events[-1][1]
        self.assertGreater(last["rate"], 0)
        self.assertEqual(last["stages"][0]["name"], "idx")
        self.assertEqual(len(last["cpus"]), os.cpu_count())
        self.interrupt(process)

    def test_one_address_may_serve_both(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        process = self.start(*BENCH, "--metrics", address, "--dashboard", address)
        self.said = [process.stderr.readline()]
        self.assertIn(" and metrics", self.said[0])
        port = int(address.partition(":")[2])
        self.assertIn("stoker_build_info", self.get(port, "/metrics")[2])
        self.assertIn("<title>Stoker</title>", self.get(port, "/")[2])
        self.interrupt(process)


class TrainPagesTest(ServedCase):
    def test_training_serves_its_figures_and_says_how_it_ended(self):
        self.write("recipe.yaml", ENDLESS)
        process, ports = self.serve("train", "recipe.yaml", "--run", "run", "--quiet", "--metrics", "0", "--dashboard", "0")
        found = self.wait_for(ports["metrics"], "stoker_train_evaluations_total", 2)
        self.assertGreater(found["stoker_train_loss"], 0)
        self.assertGreater(found["stoker_train_samples_total"], 0)
        self.assertGreater(found["stoker_train_step_seconds_total"], 0)
        self.assertGreater(found["stoker_train_checkpoints_total"], 0)
        self.assertTrue(0 <= found["stoker_train_evaluation_accuracy_ratio"] <= 1)
        self.assertGreater(found['stoker_stage_elements_total{stage="idx",position="0"}'], 0)
        connection = http.client.HTTPConnection("127.0.0.1", ports["dashboard"])
        self.addCleanup(connection.close)
        connection.request("GET", "/events")
        answer = connection.getresponse()
        text = ""
        while "event: tick" not in text or '"losses":[[' not in text:
            text += answer.readline().decode()
        self.interrupt(process)
        text += answer.read().decode()
        end = text.index("event: end")
        self.assertIn("the run has ended: interrupted after step ", text[end:])
        self.assertIn("interrupted after step ", self.read("run/report.html").decode())

    def test_a_run_is_the_same_whether_it_is_watched_or_not(self):
        self.run_stoker("train", "recipe.yaml", "--run", "plain", "--quiet")
        process, ports = self.serve("train", "recipe.yaml", "--run", "watched", "--quiet", "--metrics", "0", "--dashboard", "0")
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.read("plain/weights.safetensors"), self.read("watched/weights.safetensors"))

    def test_promtool_finds_nothing_wrong_with_those_of_a_training(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed; ./dev setup --interop does that")
        self.write("recipe.yaml", ENDLESS)
        process, ports = self.serve("train", "recipe.yaml", "--run", "run", "--quiet", "--metrics", "0")
        self.wait_for(ports["metrics"], "stoker_train_evaluations_total", 1)
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.get(ports["metrics"], "/metrics")[2], capture_output=True,
                                 text=True)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))
        self.interrupt(process)


class ReportTest(ProgramTest):
    def test_every_run_gets_a_report_that_loads_nothing(self):
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet", "--set", "train.log_every=4")
        page = self.read("run/report.html").decode()
        found = References(page)
        self.assertEqual(found.loaded, [])
        self.assertNotIn("script", found.elements)
        self.assertIn("svg", found.elements)
        self.assertIn("Content-Security-Policy", page)
        self.assertIn("@media print", page)
        for part in ("finished", "Verdict", "Curves", "Choices", "Where the time went", "Stages of the input", "Machine and versions",
                     "Recipe", "<td>idx</td>", "test accuracy", "one_cycle"):
            self.assertIn(part, page)
        self.assertEqual([name for name in os.listdir(self.path("run")) if "tmp" in name], [])

    def test_names_of_a_run_stay_text(self):
        name = "<img src=x onerror=alert(1)>"
        self.run_stoker("train", "recipe.yaml", "--run", name, "--quiet", "--set", "train.epochs=1")
        page = self.read(name + "/report.html").decode()
        self.assertNotIn("img", References(page).elements)
        self.assertIn("&lt;img src=x onerror=alert(1)&gt;", page)

    def test_a_report_that_cannot_be_written_costs_a_line_and_no_run(self):
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet", "--set", "train.epochs=1")
        os.remove(self.path("run/report.html"))
        os.mkdir(self.path("run/report.html"))
        self.write("run/report.html/in-the-way", "")
        out, err = self.run_stoker("train", "recipe.yaml", "--resume", "--run", "run", "--set", "train.epochs=1")
        warnings = [line for line in err.splitlines() if "the report could not be written" in line]
        self.assertEqual(len(warnings), 1, err)
        self.assertIn("test accuracy", out)

    def test_a_run_that_fails_has_one_that_says_why(self):
        self.write("recipe.yaml", RECIPE.replace("one_cycle: {max_lr: 0.01}", "constant: 1e30"))
        _, err = self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet", expect=1)
        if os.path.exists(self.path("run/recipe.yaml")):
            self.assertIn("failed: ", self.read("run/report.html").decode())

    def test_no_command_writes_over_it(self):
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet", "--set", "train.epochs=1")
        self.assert_fails(["export", "run", "--to", "run/report.html"], 2, "report")


if __name__ == "__main__":
    unittest.main()
