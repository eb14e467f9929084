"""Stoker taken into another project with add_subdirectory, as README.md says, without a single option.

The project is configured and its own file compiled. Its libraries are not built and linked, which takes minutes: they are the
targets that examples/ links.
"""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The project sets no C++ standard, and its own file would not pass Stoker's warnings.
CMAKE = f"""\
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES CXX)
add_subdirectory({ROOT} stoker)
add_executable(outside outside.cc)
target_link_libraries(outside PRIVATE stoker_data)
add_library(kinds MODULE kinds.cc)
target_link_libraries(kinds PRIVATE stoker_plugin)
"""
PROGRAM = """\
#include "stoker/data/data.h"

int main(int argc, char**) {
  if (int argc = 0) return 1;
  const stoker::Result<stoker::Dataset> dataset =
      stoker::FromArrays({{"x", stoker::Array::Of(std::vector<int64_t>(8))}}) | stoker::Batch{.size = 2};
  return dataset.ok() ? 0 : 1;
}
"""
PLUGIN = """\
#include "stoker/run/plugin.h"

STOKER_PLUGIN(kinds) { (void)kinds; }
"""


class SubprojectTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="stoker-test-")
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)

    def run_here(self, *command, expect=0):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, expect, f"{' '.join(command)}\n{done.stdout[-5000:]}")
        return done.stdout

    def test_a_torch_whose_version_is_not_known_is_refused_because_plug_ins_are_judged_by_it(self):
        header = self.folder / "torch/include/torch/csrc/api/include/torch/torch.h"
        header.parent.mkdir(parents=True)
        header.write_text("", encoding="utf-8")
        said = self.run_here("cmake", "-G", "Ninja", "-S", str(ROOT), "-B", "build", f"-DSTOKER_TORCH_DIR={self.folder}/torch", expect=1)
        self.assertIn("no version.h of its headers defines TORCH_VERSION", " ".join(said.split()))

    def test_a_project_outside_configures_and_compiles_a_program_and_a_plug_in(self):
        (self.folder / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
        (self.folder / "outside.cc").write_text(PROGRAM, encoding="utf-8")
        (self.folder / "kinds.cc").write_text(PLUGIN, encoding="utf-8")
        self.run_here("cmake", "-G", "Ninja", "-B", "build")
        # The plug-in first: it includes a header that the build makes.
        self.run_here("cmake", "--build", "build", "--target", "CMakeFiles/kinds.dir/kinds.cc.o")
        self.run_here("cmake", "--build", "build", "--target", "CMakeFiles/outside.dir/outside.cc.o")
        targets = self.run_here("cmake", "--build", "build", "--target", "help")
        self.assertRegex(targets, r"(?m)^stoker_data: ")
        self.assertNotRegex(targets, r"(?m)^stoker_(\w*test|train)\b")

    def test_data_h_includes_every_source_operator_and_transform(self):
        data_h = (ROOT / "stoker/data/data.h").read_text(encoding="utf-8")
        headers = [path.relative_to(ROOT).as_posix() for folder in ("sources", "ops", "transforms")
                   for path in (ROOT / "stoker/data" / folder).glob("*.h") if not path.name.endswith("_internal.h")]
        self.assertGreater(len(headers), 40)
        self.assertEqual([name for name in headers if f'#include "{name}"' not in data_h], [])


if __name__ == "__main__":
    unittest.main()
