"""The scripts beside the program: ./dev lint and the benchmarks that compare with peers; and that ctest runs every class here."""
import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class ScriptTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="stoker-test-")
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def copy_dev(self):
        """./dev and its parts, into the repository of this test."""
        shutil.copy(ROOT / "dev", self.folder / "dev")
        shutil.copytree(ROOT / "scripts", self.folder / "scripts")
        self.write("tests/long_functions.py", (ROOT / "tests/long_functions.py").read_text(encoding="utf-8"))

    def run_script(self, *command, expect, cwd=ROOT, **environment):
        done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stdout)
        return done.stdout


@unittest.skipUnless(shutil.which("shellcheck") and shutil.which("clang-format") and shutil.which("git"),
                     "what ./dev lint needs is not installed")
class LintTest(ScriptTest):
    """./dev lint in a small repository of its own."""

    def setUp(self):
        super().setUp()
        self.copy_dev()
        self.write("bench/right", "#!/usr/bin/env python3\nprint('right')\n")
        self.write("right.sh", "#!/bin/sh\necho right\n")
        self.write("LICENSE", "do as you (like\n")
        self.git("init", "--quiet")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder, check=True)

    def lint(self, expect):
        self.git("add", "--all")
        return self.run_script("./dev", "lint", expect=expect, cwd=self.folder)

    def test_what_is_right_passes(self):
        self.assertIn("no problems", self.lint(expect=0))

    def test_scripts_are_known_by_their_ending_and_by_their_first_line(self):
        wrong_python, wrong_shell = "def f(:\n", "echo $undefined_and_unquoted\n"
        wrong = {"a.py": wrong_python, "bench/b": "#!/usr/bin/env python3\n" + wrong_python,
                 "c": "#!/usr/bin/python3 -B\n" + wrong_python, "d.sh": "#!/bin/sh\n" + wrong_shell,
                 ".ci/e": "#!/usr/bin/env bash\n" + wrong_shell, "with space/f": "#!/bin/bash\n" + wrong_shell}
        for name, text in wrong.items():
            self.write(name, text)
        said = self.lint(expect=1)
        for name in wrong:
            self.assertRegex(said, rf"(?m)^{name}:\d+:")
        for name in ["dev", "bench/right", "right.sh", "LICENSE"]:
            self.assertNotRegex(said, rf"(?m)^{name}:")

    def test_a_function_of_more_than_60_lines_needs_a_comment_that_says_why(self):
        shutil.copy(ROOT / ".clang-format", self.folder / ".clang-format")

        def function(lines, head="int Sum(int sum) {"):
            """`lines` from its head to its brace, with nested blocks, labels and a text that looks like the end of it."""
            around = ["  switch (sum) {", "    case 1: break;", "  }", "#ifdef NDEBUG", "  sum += 2;", "#endif",
                      '  const char* text = R"(', "}", ')";', "  sum += text[0];"]
            return [head, *around, *["  ++sum;"] * (lines - len(around) - 3), "  return sum;", "}"]

        def inside(lines):
            return ["  " + line if line and line[0] not in "#})" or line == "}" and number == len(lines) - 1 else line
                    for number, line in enumerate(lines)]

        table = ["const int kTable[] = {", *["    1,  //"] * 80, "};"]
        method = inside(function(61, "int Sum(int sum) const {"))
        self.write("a.cc", "\n".join([*function(60), "", *function(61), "", *table, "", "class Long {", " public:", *method, "};", ""]))
        self.assertEqual(re.findall(r"(?m)^a.cc.*lines;", self.lint(expect=1)),
                         ["a.cc:62: a function of 61 lines;", "a.cc:209: a function of 61 lines;"])
        self.write("a.cc", "\n".join(["// Sums.", "// Over 60 lines: it is one thing.", "template <int n>", *function(61), ""]))
        self.assertIn("no problems", self.lint(expect=0))


@unittest.skipUnless(shutil.which("shellcheck") and shutil.which("clang-format") and shutil.which("clang++") and shutil.which("git"),
                     "what ./dev lint needs is not installed")
class LintOfLocksTest(ScriptTest):
    """What ./dev lint says of locks, in a small repository of its own with nothing in the place of libtorch and Arrow."""
    COUNTER = """#include "stoker/base/mutex.h"

namespace stoker {

class Counter {
 public:
  void Add() {
    %s
    ++count_;
  }

 private:
  Mutex mutex_;
  int count_ STOKER_GUARDED_BY(mutex_) = 0;
};

Counter counter;

}  // namespace stoker
"""

    def setUp(self):
        super().setUp()
        self.copy_dev()
        for name in ["include/torch/csrc/api/include/torch/torch.h", "lib/libtorch_cpu.so"]:
            self.write(f"torch/{name}", "")
        self.write("torch/lib/libc10.so", "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11\n")
        self.write("torch/version.py", "__version__ = '2.11.0'\n")
        self.write(".gitignore", "build/\n.deps/\ntorch/\nbin/\n")
        arrow = re.search(r"pyarrow_version=(\S+)", (ROOT / "scripts/pyarrow.sh").read_text(encoding="utf-8")).group(1)
        self.write(f".deps/pyarrow-{arrow}/pyarrow/include/parquet/arrow/reader.h", "")
        self.write("bin/dpkg-query", "#!/bin/sh\nprintf installed\n")
        shutil.copy(ROOT / ".clang-format", self.folder / ".clang-format")
        for name in ["stoker/README.md", "stoker/base/README.md"]:
            self.write(name, "what lives here\n")
        self.write("stoker/base/mutex.h", (ROOT / "stoker/base/mutex.h").read_text(encoding="utf-8"))
        subprocess.run(["git", "init", "--quiet"], cwd=self.folder, check=True)

    def lint(self, *arguments, expect):
        subprocess.run(["git", "add", "--all"], cwd=self.folder, check=True)
        return self.run_script("./dev", "lint", *arguments, expect=expect, cwd=self.folder, STOKER_TORCH=str(self.folder / "torch"),
                               PATH=f"{self.folder}/bin:{os.environ['PATH']}")

    def test_a_guarded_member_that_is_touched_without_its_lock_is_found(self):
        self.write("stoker/base/counter.cc", self.COUNTER % "const MutexLock lock(mutex_);")
        self.assertIn("no problems", self.lint(expect=0))
        self.write("stoker/base/counter.cc", self.COUNTER % "int one = 1;\n    (void)one;")
        self.assertRegex(self.lint(expect=1), r"(?m)^stoker/base/counter.cc:10:\d+: .*count_.* requires holding mutex 'mutex_'")

    @unittest.skipUnless(shutil.which("clang-tidy"), "clang-tidy is not installed")
    def test_tidy_finds_what_compiles_and_is_wrong_and_nothing_in_what_is_right(self):
        shutil.copy(ROOT / ".clang-tidy", self.folder / ".clang-tidy")
        twice = "#include <string>\n#include <utility>\n\nstd::string Twice(std::string text) {\n  std::string out = %s;\n  return out + text;\n}\n"
        self.write("stoker/base/twice.cc", twice % "text + text")
        self.assertIn("no complaint", self.lint("--tidy", expect=0))
        self.write("stoker/base/twice.cc", twice % "std::move(text)")
        for files in [[], ["stoker/base/twice.cc"]]:
            self.assertRegex(self.lint("--tidy", *files, expect=1), r"(?m)^stoker/base/twice.cc:6: 'text' used after it was moved")

    def test_tidy_of_a_file_that_is_not_there_is_wrong_usage(self):
        self.assertIn("none.cc", self.lint("--tidy", "stoker/base/none.cc", expect=2))

    def test_a_lock_that_clang_knows_nothing_of_is_found(self):
        self.write("stoker/base/raw.cc", "#include <mutex>\n\nstd::mutex raw;\n")
        self.assertRegex(self.lint(expect=1), r"(?m)^stoker/base/raw.cc:3: a lock that clang cannot check")


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class TestSinceTest(ScriptTest):
    """./dev test --since in a small repository of its own."""

    def setUp(self):
        super().setUp()
        self.copy_dev()
        for name in ["tests/changed_folders.py", "tests/layering_test.py"]:
            self.write(name, (ROOT / name).read_text(encoding="utf-8"))
        for folder in ["base", "io", "formats", "image", "data", "run", "device", "train", "tools"]:
            self.write(f"stoker/{folder}/a_test.cc", "")
        self.write("README.md", "read\n")
        self.write(".gitignore", "build/\n__pycache__/\n")
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=first")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder, check=True)

    def planned(self, preset="asan"):
        """The folders whose tests would be built and run."""
        said = self.run_script("./dev", "test", preset, "--since", "HEAD", "--list", expect=0, cwd=self.folder)
        names = re.search(r"tests \^\((.*)\)", said)
        targets = re.search(r"since HEAD: (.*), tests", said)
        self.assertEqual(bool(names), "0 passed, 0 failed" not in said, said)
        if not names:
            return []
        folders = names[1].split("|")
        self.assertEqual(targets[1].split(), ["all" if name == "program" else f"stoker_{name}_test" for name in folders])
        return folders

    def test_a_changed_folder_is_tested_with_all_that_may_include_it(self):
        self.write("stoker/image/a.cc", "changed\n")
        self.assertEqual(self.planned(), ["image", "data", "train", "tools"])
        self.git("add", "--all")
        self.assertEqual(self.planned(), ["image", "data", "train", "tools"])

    def test_the_thread_sanitizer_has_no_folder_that_sees_libtorch(self):
        self.write("stoker/image/a.cc", "changed\n")
        self.assertEqual(self.planned("tsan"), ["image", "data", "tools"])

    def test_the_programs_are_tested_where_they_or_their_tests_changed(self):
        for path in "tests/train_test.py", "recipes/quickstart.yaml", "examples/own/main.cc":
            self.write(path, "changed\n")
            self.assertEqual(self.planned(), ["program"], path)
            (self.folder / path).unlink()
        self.write("stoker/tools/a.cc", "changed\n")
        self.assertEqual(self.planned(), ["tools", "program"])

    def test_a_change_of_the_build_concerns_everything(self):
        self.write("cmake/x.cmake", "changed\n")
        self.assertEqual(self.planned(), ["base", "io", "formats", "image", "data", "run", "device", "train", "tools", "program"])

    def test_what_is_not_compiled_needs_no_test(self):
        self.write("README.md", "changed\n")
        self.assertEqual(self.planned(), [])

    def test_a_commit_that_is_not_there_is_named(self):
        said = self.run_script("./dev", "test", "asan", "--since", "nowhere", "--list", expect=1, cwd=self.folder)
        self.assertIn("nowhere", said)


class PortableTest(ScriptTest):
    """./dev test portable, with programs in the place of what builds and of ctest, which here runs two tests a call."""
    SETTINGS = ["ATEN_CPU_CAPABILITY=default", "ATEN_CPU_CAPABILITY=avx2", "DNNL_MAX_CPU_ISA=AVX2", "MKL_CBWR=COMPATIBLE",
                "OMP_NUM_THREADS=1", "STOKER_HIGHWAY=SSE4", "STOKER_HIGHWAY=AVX2"]

    def setUp(self):
        super().setUp()
        self.copy_dev()
        for name in ["include/torch/csrc/api/include/torch/torch.h", "lib/libtorch_cpu.so"]:
            self.write(f"torch/{name}", "")
        self.write("torch/lib/libc10.so", "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11\n")
        self.write("torch/version.py", "__version__ = '2.11.0'\n")
        self.write("bin/dpkg-query", "#!/bin/sh\nprintf installed\n")
        self.write("bin/cmake", "#!/bin/sh\n")
        self.write("build/release/lib/liblimit_highway.so", "")
        self.write("bin/ctest", "#!/usr/bin/env python3\n" + """
import os, sys
known = ["ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA", "MKL_CBWR", "OMP_NUM_THREADS", "STOKER_HIGHWAY"]
settings = [f"{name}={os.environ[name]}" for name in known if name in os.environ]
with open("calls", "a") as calls: print(*settings, file=calls)
assert "liblimit_highway.so" in os.environ["LD_PRELOAD"] and sys.argv[-2:] == ["-R", "One"], sys.argv
failed = os.environ["FAILS"] in settings
with open(sys.argv[sys.argv.index("--output-junit") + 1], "w") as report:
    print('<testcase name="a" status="run">', file=report)
    print('<testcase name="b" status="%s">' % ("fail" if failed else "run"), file=report)
sys.exit(8 if failed else 0)
""")

    def portable(self, *options, fails, expect):
        environment = {name: value for name, value in os.environ.items() if name not in [each.split("=")[0] for each in self.SETTINGS]}
        environment.update(FAILS=fails, STOKER_TORCH=str(self.folder / "torch"), PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        done = subprocess.run(["./dev", "test", "portable", *options, "-R", "One"], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout

    def test_every_setting_is_run_alone_and_the_last_line_counts_them_all(self):
        self.assertEqual(self.portable(fails="", expect=0).splitlines()[-1], "14 passed, 0 failed")
        self.assertEqual((self.folder / "calls").read_text(encoding="utf-8").split(), self.SETTINGS)

    def test_the_whole_suite_is_run_as_two_cpus_each_with_all_its_limits(self):
        self.assertEqual(self.portable("--whole", fails="", expect=0).splitlines()[-1], "4 passed, 0 failed")
        old, newer = (self.folder / "calls").read_text(encoding="utf-8").splitlines()
        self.assertEqual(old, "ATEN_CPU_CAPABILITY=default DNNL_MAX_CPU_ISA=SSE41 MKL_CBWR=COMPATIBLE OMP_NUM_THREADS=1 STOKER_HIGHWAY=SSE4")
        self.assertEqual(newer, "ATEN_CPU_CAPABILITY=avx2 DNNL_MAX_CPU_ISA=AVX2 STOKER_HIGHWAY=AVX2")

    def test_without_the_library_that_limits_highway_nothing_is_said_to_have_passed(self):
        (self.folder / "build/release/lib/liblimit_highway.so").unlink()
        said = self.portable(fails="", expect=1)
        self.assertNotIn("14 passed", said)
        self.assertFalse((self.folder / "calls").exists())

    def test_a_setting_that_fails_is_named_and_the_others_are_run(self):
        said = self.portable(fails="MKL_CBWR=COMPATIBLE", expect=1)
        self.assertIn("failed with MKL_CBWR=COMPATIBLE", said)
        self.assertEqual(said.splitlines()[-1], "13 passed, 1 failed")
        self.assertEqual((self.folder / "calls").read_text(encoding="utf-8").split(), self.SETTINGS)


class CompareTest(ScriptTest):
    """The benchmarks, with programs in the place of both sides that print figures at once."""

    def setUp(self):
        super().setUp()
        self.write("bin/stoker", """#!/bin/sh
            case "$*" in
              *"--threads 1 "*) echo '{"samples_per_s": 1e6, "first_batch_ms": 9, "load_ms": 9, "peak_rss_mb": 40}' ;;
              bench*) echo '{"samples_per_s": 2e6, "first_batch_ms": 5, "load_ms": 9, "peak_rss_mb": 50}' ;;
              plot*fast*) echo '{"runs": [{"reached": {"step": 700, "train_seconds": 6}}]}' ;;
              plot*) echo '{"runs": [{"reached": {"step": 1700, "train_seconds": 12}}]}' ;;
              *stoker-distributed-*)
                run=$(expr "$*" : '.*--run \\([^ ]*\\)') && mkdir "$run"
                printf '{"kind": "train", "step": %d, "train_seconds": %d}\\n' 0 0 200 1 > "$run/metrics.jsonl"
                echo '{"images_per_s": 600, "step": 200, "train_seconds": 0}' > "$run/summary.json" ;;
              train*hogwild*) echo '{"images_per_s": 600}' ;;
              train*) echo '{"images_per_s": 300, "waited": 0, "train_seconds": 1, "last_evaluation": {"accuracy": 0.95}}' ;;
            esac
            """)
        self.write("bin/some_bench", "#!/bin/sh\n")
        self.write("bin/stoker_train_bench", "#!/bin/sh\necho '{\"benchmarks\": [{\"us_a_step\": 40, \"us_of_loop\": 9}]}'\n")
        self.write("peers/records.py", "print('{\"records_per_s\": 1e5}')\n")
        self.write("peers/train_torch.py", "print('{\"images_per_s\": 100}')\n")
        self.write("peers/images.py", "print('{\"images_per_s\": 100}')\n")
        self.write("photos/.complete", "")
        self.write("peers/loop_torch.py", "print('{\"us_a_step\": 400}')\n")
        self.write("peers/formats_peers.py", "print('{\"samples_per_s\": 1e5}')\n")
        self.write("peers/tables_peers.py", "print('{\"samples_per_s\": 1e5}')\n")
        self.write("peers/tabular.py",
                   "print('{\"memory_rows_s\": {\"median\": 100}, \"pandas/w2_rows_s\": {\"median\": 9}, \"keras_csv_rows_s\": {\"median\": 40}}')\n")
        self.write("peers/embed.py", "print('{\"samples_s\": 100}')\n")
        self.write("data/diamonds.csv", "carat\n")
        self.write("peers/sequences_torch.py", "print('{\"sequences_per_s\": 100}')\n")
        self.write("peers/distributed_torch.py", "print('{\"images_per_s\": 100}')\n")
        self.write("peers/ddp25m.py", "import json\nprint(json.dumps({key: {'median': 40} for key in ('step_ms', 'compute_ms', 'allreduce_4_async_ms')}))\n")
        self.write("peers/text_peers.py", "print('{\"lines_per_s\": 1e5}')\n")
        self.write("peers/time_to_accuracy_torch.py", "print('{\"step\": 900, \"train_seconds\": 30}')\n")
        self.write("peers/small_files_torch.py", "print('{\"samples_per_s\": 1e5}')\n")

    def bench(self, script, *arguments, expect, **environment):
        return self.run_script(ROOT / "bench" / script, *arguments, expect=expect, PYTHONDONTWRITEBYTECODE="1", **{
            "STOKER_BIN": str(self.folder / "bin"), "STOKER_PEERS": str(self.folder / "peers"),
            "STOKER_PEERS_PYTHON": sys.executable, "STOKER_PHOTOS": str(self.folder / "photos"), "STOKER_DATA": str(self.folder / "data"),
            "STOKER_EMBEDDING_ROWS": "1000",
            "STOKER_PYTHON": "/nowhere/python",  # these tests must pass without the package; ./dev bench builds it
            "STOKER_STARTUP_MS": "60000", **environment})  # a busy machine starts no program within 50 ms

    def test_with_all_peers_the_ratios_are_printed(self):
        for script, says in [("records", "ours is 20.00 times"), ("train", "reached: at least 1.7 times"),
                             ("loop", "reached: at most 0.2 times Lightning"),
                             ("formats", "reached: at least 5 times the speed of webdataset"),
                             ("wide_and_deep", "reached: stoker at least 20 times the speed of pandas"),
                             ("embeddings", "reached: at least 3 times the speed of EmbeddingBag"),
                             ("sequences", "reached: gru: at least the speed of PyTorch, packed"),
                             ("distributed", "reached: a step of at most 0.95 of torch's"),
                             ("time_to_accuracy", "is 2.00 times as fast as recipes/fashion-mnist.yaml")]:
            with self.subTest(script=script):
                said = self.bench(script, "1", expect=0)
                self.assertIn(says, said)
                self.assertNotIn("NOT COMPARED", said)
        said = self.bench("run.sh", "--quick", expect=3)  # for want of the Python package alone
        self.assertIn("times", said)
        self.assertEqual({line for line in said.splitlines() if "NOT COMPARED" in line},
                         {"NOT COMPARED: /nowhere/python is not there; `./dev python` makes it"})

    def test_without_peers_it_is_said_and_is_no_success(self):
        for missing in [{"STOKER_PEERS": "/nowhere"}, {"STOKER_PEERS_PYTHON": "/nowhere/python"}]:
            for script, rounds in [("records", "1"), ("train", "1"), ("run.sh", "--quick")]:
                with self.subTest(script=script, missing=missing):
                    said = self.bench(script, rounds, expect=3, **missing)
                    self.assertIn("NOT COMPARED: /nowhere", said)

    def test_what_the_remote_benchmark_lacks_is_said_and_is_no_failure(self):
        self.assertRegex(self.bench("remote", "1", expect=0), "SKIPPED: (there is no nginx|.* has no pictures: ./dev photos)")

    def test_what_the_benchmarks_of_python_lack_is_said_and_is_no_success(self):
        for script in ("python", "python_datasets", "python_loop"):
            with self.subTest(script=script):
                self.assertIn("NOT COMPARED: /nowhere/python is not there; `./dev python` makes it", self.bench(script, "1", expect=3))

    def test_a_peer_that_fails_is_named(self):
        self.write("peers/records.py", "import sys\nif sys.argv[1] == 'grain': sys.exit('no grain')\nprint('{\"records_per_s\": 1}')\n")
        said = self.bench("records", "1", expect=3)
        self.assertIn("no grain", said)
        self.assertRegex(said, "NOT COMPARED with: grain\n")

    def test_comparing_with_nobody_may_be_wanted(self):
        for script, rounds in [("records", "1"), ("train", "1"), ("run.sh", "--quick")]:
            with self.subTest(script=script):
                said = self.bench(script, rounds, "--no-peers", expect=0, STOKER_PEERS="/nowhere")
                self.assertNotIn("NOT COMPARED", said)

    def test_a_missed_figure_weighs_more_than_a_missing_peer(self):
        self.write("peers/train_torch.py", "import sys\nif '--loader' in sys.argv: sys.exit(1)\nprint('{\"images_per_s\": 1000}')\n")
        self.assertIn("MISSED : at least 1.7 times", self.bench("train", "1", expect=1))

    def test_if_stoker_fails_the_benchmark_fails(self):
        self.write("bin/stoker", "#!/bin/sh\nexit 1\n")
        for script in ["records", "train", "formats", "time_to_accuracy"]:
            self.bench(script, "1", expect=1)


class TestNamesTest(unittest.TestCase):
    """ctest takes the printed value of a parameter for a part of the name, unless the test's author gave it one."""

    def test_no_name_holds_an_address_which_differs_from_build_to_build(self):
        programs = sorted(pathlib.Path(os.environ["STOKER"]).resolve().parent.glob("stoker_*_test"))
        for program in programs:
            listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
            printed = re.findall(r"(?m)^  (\S+/\d+)  # GetParam\(\) = (.*)", listed)
            self.assertEqual([(name, value) for name, value in printed if re.search(r"0x[0-9a-f]{6}|object <", value)], [], program)


class RegistrationTest(unittest.TestCase):
    """tests/CMakeLists.txt, by which ctest finds the tests."""

    def test_every_class_with_tests_is_run_and_no_two_share_a_name(self):
        tests = ROOT / "tests"
        written = []
        for file in sorted(tests.glob("*_test.py")):
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and any(getattr(part, "name", "").startswith("test_") for part in node.body):
                    written.append((file.stem, node.name))
        self.assertGreater(len(written), 30)
        calls = re.findall(r"stoker_program_test\((\w+)([^)]*)\)", (tests / "CMakeLists.txt").read_text(encoding="utf-8"))
        run = [(file, case) for file, cases in calls for case in cases.split()]
        self.assertEqual([f"{file}.{case}" for file, case in written if (file, case) not in run], [])
        names = [case for _, case in run]
        self.assertEqual(sorted(names), sorted(set(names)))


if __name__ == "__main__":
    unittest.main()
