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


class SubprojectTest(unittest.TestCase):
    def run_here(self, *command):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{' '.join(command)}\n{done.stdout[-5000:]}")
        return done.stdout

    def test_a_project_outside_configures_and_compiles(self):
        directory = tempfile.TemporaryDirectory(prefix="stoker-test-")
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        (self.folder / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
        (self.folder / "outside.cc").write_text(PROGRAM, encoding="utf-8")
        self.run_here("cmake", "-G", "Ninja", "-B", "build")
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
