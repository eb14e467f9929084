"""`cmake --install`: what it puts somewhere works there."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from program import STOKER, ProgramTest

ROOT = pathlib.Path(__file__).resolve().parent.parent

BUILD = pathlib.Path(STOKER).resolve().parent.parent


class InstallTest(ProgramTest):
    def test_the_installed_programs_work_without_the_build(self):
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", self.path("prefix")], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        os.rename(self.path("prefix"), self.path("elsewhere"))
        installed = {"executable": self.path("elsewhere/bin/stoker")}
        self.assertRegex(self.run_stoker("--version", **installed)[0], r"\Astoker \d")
        self.assertIn("Usage: stoker train", self.run_stoker("train", "--help", **installed)[0])
        for name in ["man/man1/stoker.1", "man/man1/stoker-train.1", "bash-completion/completions/stoker",
                     "zsh/site-functions/_stoker", "fish/vendor_completions.d/stoker.fish"]:
            self.assertTrue(self.read(f"elsewhere/share/{name}"), name)
        if (BUILD / "bin/stoker-train").exists():
            models = self.run_json("inspect", "--models", **installed)  # answered by stoker-train
            self.assertIn("convnet", [model["name"] for model in models])


# What a project outside has: its own file, and a library of the example's kinds.
CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES CXX)
find_package(stoker REQUIRED)
add_executable(pipeline pipeline.cc)
target_link_libraries(pipeline PRIVATE stoker::data)
if(TARGET stoker::train)
  add_executable(trains trains.cc)
  target_link_libraries(trains PRIVATE stoker::train)
  add_library(own_kinds MODULE own_kinds/plugin.cc)
  target_link_libraries(own_kinds PRIVATE stoker::plugin)
  set_target_properties(own_kinds PROPERTIES PREFIX "")
endif()
"""
PIPELINE = """\
#include "stoker/data/data.h"

int main() {
  using namespace stoker;
  const Result<Dataset> numbers = Source(Range{.stop = 10}) | Shuffle{} | Batch{.size = 4};
  if (!numbers.ok()) return 1;
  const auto batches = numbers->Open(Runtime::Threaded(), {.seed = 1});
  int64_t sum = 0;
  for (auto batch = (*batches)->Next(); batch.ok() && *batch; batch = (*batches)->Next()) {
    for (const int64_t value : (*batch)->arrays[0].values<int64_t>()) sum += value;
  }
  fmt::print("sum {}, {} operators\\n", sum, OperatorRegistry::Known().Names().size());
}
"""
TRAINS = """\
#include "stoker/run/recipe.h"

int main(int, char** argv) {
  const auto recipe = stoker::LoadRecipe(argv[1]);
  fmt::print("{}", recipe.ok() ? stoker::ToYaml(recipe->Filled()) : recipe.status().message());
  return recipe.ok() ? 0 : 1;
}
"""


class ForeignProjectTest(ProgramTest):
    """A project outside the tree that finds the installed Stoker."""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="stoker-test-")
        cls.addClassCleanup(directory.cleanup)
        cls.outside = pathlib.Path(directory.name)
        for name, text in (("CMakeLists.txt", CMAKE), ("pipeline.cc", PIPELINE), ("trains.cc", TRAINS)):
            (cls.outside / name).write_text(text, encoding="utf-8")
        shutil.copytree(ROOT / "examples/own_kinds", cls.outside / "own_kinds")
        cls.run_there("cmake", "--install", BUILD, "--prefix", "prefix")
        os.rename(cls.outside / "prefix", cls.outside / "elsewhere")
        cls.run_there("cmake", "-G", "Ninja", "-B", "build", f"-DCMAKE_PREFIX_PATH={cls.outside}/elsewhere")
        cls.run_there("cmake", "--build", "build")

    @classmethod
    def run_there(cls, *command):
        done = subprocess.run(command, cwd=cls.outside, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}\n{done.stdout[-5000:]}")
        return done.stdout

    def test_a_program_reads_a_pipeline_and_has_all_operators(self):
        out = self.run_there("build/pipeline")
        self.assertIn("sum 45, ", out)
        names = self.run_json("inspect", "--ops")
        self.assertIn(f"{len(names)} operators", out)

    def test_a_program_knows_all_kinds_of_the_trainer(self):
        if not (self.outside / "build/trains").exists():
            self.skipTest("this build cannot train")
        out = self.run_there("build/trains", self.path("recipe.yaml"))
        self.assertIn("model: {convnet: {", out)
        self.assertIn("adamw", out)

    def test_a_plug_in_made_outside_is_loaded_by_the_installed_program(self):
        if not (self.outside / "build/own_kinds.so").exists():
            self.skipTest("this build cannot train")
        recipe = (ROOT / "examples/own_kinds/recipe.yaml").read_text(encoding="utf-8")
        self.write("own.yaml", recipe.replace("plugins: []", f"plugins: [{self.outside}/build/own_kinds.so]"))
        self.run_stoker("train", "own.yaml", "--allow-code", "--run", "run", "--set", "train.max_steps=3",
                        executable=str(self.outside / "elsewhere/bin/stoker"))

    def test_no_header_for_tests_and_none_of_the_programs_is_installed(self):
        installed = [str(path.relative_to(self.outside / "elsewhere/include")) for path in (self.outside / "elsewhere/include").rglob("*.h")]
        self.assertIn("stoker/data/data.h", installed)
        self.assertEqual([name for name in installed if re.search(r"testing|_bench\.h|stoker/tools/(?!trainer/trainer_main\.h)", name)], [])

    def test_each_header_that_is_installed_includes_only_such_as_are_too(self):
        include = self.outside / "elsewhere/include"
        for path in include.rglob("*.h"):
            for name in re.findall(r'^#include "(stoker/[^"]+)"', path.read_text(encoding="utf-8"), re.M):
                self.assertTrue((include / name).exists(), f"{path.relative_to(include)} includes {name}")

    def test_data_h_includes_every_operator(self):
        text = (ROOT / "stoker/data/data.h").read_text(encoding="utf-8")
        for folder in ("sources", "ops", "transforms"):
            for path in (ROOT / "stoker/data" / folder).glob("*.h"):
                if not path.name.endswith("_internal.h"):
                    self.assertIn(f'#include "stoker/data/{folder}/{path.name}"', text)


if __name__ == "__main__":
    unittest.main()
