"""`cmake --install`: what it puts somewhere works there."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from program import STOKER, ProgramTest
from table_files import PARQUET, have_tables, write_table

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


# What a project outside has: its own programs, a library of the example's kinds, and one of an operator alone.
CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES CXX)
find_package(stoker REQUIRED)
add_executable(pipeline pipeline.cc)
target_link_libraries(pipeline PRIVATE stoker::data)
stoker_finds_plugins(pipeline)
add_executable(loader loader.cc)
target_link_libraries(loader PRIVATE stoker::data ${CMAKE_DL_LIBS})
stoker_loads_plugins(loader)
add_library(operators MODULE operators.cc)
target_link_libraries(operators PRIVATE stoker::plugin)
foreach(part run device train kinds tools commands torch)
  if(TARGET stoker::${part})
    message(STATUS "stoker::${part} is made")
  endif()
endforeach()
if(TARGET stoker::train)
  add_executable(trains trains.cc)
  target_link_libraries(trains PRIVATE stoker::train)
  add_executable(commands commands.cc)
  target_link_libraries(commands PRIVATE stoker::commands)
  stoker_loads_plugins(commands)
  add_library(same_name MODULE same_name.cc)
  target_link_libraries(same_name PRIVATE stoker::plugin)
  set_target_properties(same_name PROPERTIES PREFIX "")
  add_subdirectory(elsewhere/share/stoker/examples/own_kinds own_kinds) # as a reader of docs/plugins.md copies it
endif()
"""
PIPELINE = """\
#include "stoker/data/data.h"

int main(int argc, char** argv) {
  using namespace stoker;
  const Result<Dataset> numbers = argc > 1 ? Source(Parquet{.files = {argv[1]}})
                                           : Source(Range{.stop = 10}) | Shuffle{} | Batch{.size = 4};
  if (!numbers.ok()) {
    fmt::print("{}\\n", numbers.status().message());
    return 1;
  }
  const auto batches = numbers->Open(Runtime::Threaded(), {.seed = 1});
  int64_t sum = 0;
  for (auto batch = (*batches)->Next(); batch.ok() && *batch; batch = (*batches)->Next()) {
    for (const int64_t value : (*batch)->arrays[0].values<int64_t>()) sum += value;
  }
  fmt::print("sum {}, {} operators\\n", sum, OperatorRegistry::Known().Names().size());
}
"""
# With RTLD_NOW a library is opened only if all that it calls is found.
LOADER = """\
#include <dlfcn.h>
#include <cstdio>

int main(int, char** argv) {
  const bool opened = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) != nullptr;
  std::puts(opened ? "opened" : dlerror());
  return opened ? 0 : 1;
}
"""
OPERATORS = """\
#include "stoker/data/data.h"
#include "stoker/run/plugin.h"

namespace outside {
struct Twice {
  static constexpr std::string_view kName = "twice";
  static constexpr std::string_view kHelp = "All elements, and all again.";
  static constexpr bool kArranges = true;

  static void Describe(stoker::OptionTable<Twice>&) {}
  stoker::Result<stoker::Dataset> Build(stoker::Dataset input) const {
    return stoker::Result(std::move(input)) | stoker::Repeat{.count = 2};
  }
};
}  // namespace outside

STOKER_PLUGIN(kinds) { kinds.Add<outside::Twice>(); }
"""
# A kind with the C++ name of one of the example's, and other options.
SAME_NAME = """\
#include "stoker/data/data.h"
#include "stoker/run/plugin.h"

namespace own {
struct Some {
  static constexpr std::string_view kName = "few";
  static constexpr std::string_view kHelp = "The first elements.";
  static constexpr bool kArranges = true;
  std::string note = "none";
  int64_t most = 1;

  static void Describe(stoker::OptionTable<Some>& table) {
    table.Field("note", &Some::note, "'throw 7' throws");
    table.Field("most", &Some::most, "how many");
  }
  stoker::Result<stoker::Dataset> Build(stoker::Dataset input) const {
    if (note == "throw 7") throw 7;
    return stoker::Result(std::move(input)) | stoker::Take{.count = most};
  }
};
}  // namespace own

STOKER_PLUGIN(kinds) { kinds.Add<own::Some>(); }
"""
TRAINS = """\
#include "stoker/run/recipe.h"

int main(int, char** argv) {
  const auto recipe = stoker::LoadRecipe(argv[1]);
  fmt::print("{}", recipe.ok() ? stoker::ToYaml(recipe->Filled()) : recipe.status().message());
  return recipe.ok() ? 0 : 1;
}
"""
COMMANDS = """\
#include "stoker/tools/trainer/trainer_main.h"

int main(int argc, char** argv) { return stoker::TrainerMain(argc, argv); }
"""
SOURCES = {"CMakeLists.txt": CMAKE, "pipeline.cc": PIPELINE, "loader.cc": LOADER, "operators.cc": OPERATORS, "trains.cc": TRAINS,
           "same_name.cc": SAME_NAME, "commands.cc": COMMANDS}
CAN_TRAIN = (BUILD / "bin/stoker-train").exists()


class ForeignProjectTest(ProgramTest):
    """A project outside the tree that finds the installed Stoker."""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="stoker-test-")
        cls.addClassCleanup(directory.cleanup)
        cls.outside = pathlib.Path(directory.name)
        for name, text in SOURCES.items():
            (cls.outside / name).write_text(text, encoding="utf-8")
        cls.run_there("cmake", "--install", BUILD, "--prefix", "prefix")
        os.rename(cls.outside / "prefix", cls.outside / "elsewhere")
        cls.run_there("cmake", "-G", "Ninja", "-B", "build", f"-DCMAKE_PREFIX_PATH={cls.outside}/elsewhere")
        cls.run_there("cmake", "--build", "build")

    @classmethod
    def run_there(cls, *command, expect=0, **environment):
        done = subprocess.run(command, cwd=cls.outside, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              env=dict(os.environ, **environment))
        if done.returncode != expect:
            raise AssertionError(f"{command}\n{done.stdout[-5000:]}")
        return done.stdout

    def configure(self, lines, *options, prefix=None, expect=0):
        """What CMake says of a project with these lines, which finds the Stoker in `prefix`."""
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(asks LANGUAGES CXX)\n" + lines)
        said = self.run_there("cmake", "-G", "Ninja", "-S", self.folder, "-B", self.path("build"),
                              f"-DCMAKE_PREFIX_PATH={prefix or self.outside / 'elsewhere'}", *options, expect=expect)
        return " ".join(said.split())

    def prefix_without(self, name):
        shutil.copytree(self.outside / "elsewhere", self.path("prefix"))
        os.remove(self.path(f"prefix/{name}"))
        return self.path("prefix")

    def skip_unless_it_trains(self):
        if not CAN_TRAIN:
            self.skipTest("this build cannot train")

    def test_a_program_reads_a_pipeline_and_has_all_operators(self):
        operators = [kind for kind in self.run_json("inspect", "--ops") if kind["group"] != "section"]
        self.assertIn(f"sum 45, {len(operators)} operators", self.run_there("build/pipeline"))

    def test_a_program_reads_parquet_by_the_installed_plug_in_beside_it_or_in_the_folder_that_the_environment_names(self):
        if not have_tables():
            self.skipTest("this build has no Apache Arrow")
        write_table(self.path("a.parquet"), PARQUET, {"y": ("int64", "[7, 8]")})
        self.assertIn("sum 15, ", self.run_there("build/pipeline", self.path("a.parquet")))
        shutil.copy(self.outside / "build/pipeline", self.path("alone"))
        self.assertIn("STOKER_PLUGINS", self.run_there(self.path("alone"), self.path("a.parquet"), expect=1))
        said = self.configure("find_package(stoker REQUIRED)\nmessage(STATUS \"plug-ins in ${stoker_PLUGIN_FOLDER}.\")")
        folder = re.search(r"plug-ins in (\S+)\.", said)[1]
        self.assertIn("sum 15, ", self.run_there(self.path("alone"), self.path("a.parquet"), STOKER_PLUGINS=folder))

    def test_a_program_knows_all_kinds_of_the_trainer(self):
        self.skip_unless_it_trains()
        out = self.run_there("build/trains", self.path("recipe.yaml"))
        self.assertIn("convnet: {classes: 4, ", out)
        self.assertIn("adamw: {betas: ", out)

    def test_a_plug_in_made_outside_is_loaded_by_the_installed_program_and_by_one_made_outside(self):
        self.skip_unless_it_trains()
        recipe = (ROOT / "examples/own_kinds/recipe.yaml").read_text(encoding="utf-8")
        self.write("own.yaml", recipe.replace("plugins: []", f"plugins: [{self.outside}/build/own_kinds/own_kinds.so]"))
        for program in ("elsewhere/bin/stoker", "build/commands"):
            with self.subTest(program=program):
                self.run_stoker("train", "own.yaml", "--allow-code", "--run", os.path.basename(program), "--set", "train.max_steps=3",
                                executable=str(self.outside / program))

    def test_two_plug_ins_may_have_kinds_of_one_cpp_name(self):
        self.skip_unless_it_trains()
        self.write("both.yaml", f"plugins: [{self.outside}/build/own_kinds/own_kinds.so, {self.outside}/build/same_name.so]\n"
                                "data: {train: [stripes: {count: 9}, some: {count: 6}, few: {note: short, most: 4}]}\n")
        report = self.run_json("pack", "both.yaml", "packed.stoker", "--allow-code", executable=str(self.outside / "elsewhere/bin/stoker"))
        self.assertEqual(report["elements"], 4)

    def test_what_a_plug_in_throws_ends_the_command_with_a_message_whatever_it_is(self):
        self.skip_unless_it_trains()
        self.write("throws.yaml", f"plugins: [{self.outside}/build/same_name.so]\n"
                                  "data: {train: [range: {stop: 9}, few: {note: throw 7}]}\n")
        _, err = self.run_stoker("bench", "throws.yaml", "--allow-code", expect=1, executable=str(self.outside / "elsewhere/bin/stoker"))
        self.assertRegex(err, r"throws.yaml:2:\d+: few: its Build threw something that is no std::exception")

    def test_where_torch_is_not_the_targets_that_need_none_work_and_the_others_are_not_made(self):
        build = self.path("build")
        shutil.copytree(self.outside, self.path("outside"), ignore=shutil.ignore_patterns("build", "elsewhere"))
        said = self.run_there("cmake", "-G", "Ninja", "-S", self.path("outside"), "-B", build, "-DSTOKER_TORCH_DIR=/nowhere",
                              f"-DCMAKE_PREFIX_PATH={self.outside}/elsewhere")
        if CAN_TRAIN:
            self.assertIn("no torch in '/nowhere' (STOKER_TORCH_DIR), so there is no target stoker::train", said)
        self.run_there("cmake", "--build", build)
        self.assertNotIn("is made", said)
        self.assertIn("sum 45, ", self.run_there(f"{build}/pipeline"))
        self.assertEqual(self.run_there(f"{build}/loader", f"{build}/liboperators.so"), "opened\n")

    def test_a_project_may_find_it_twice_and_in_folders_that_it_takes_in(self):
        for folder in ("first", "second"):
            self.write(f"{folder}/CMakeLists.txt", "find_package(stoker REQUIRED)\nadd_executable(in_" + folder + " ../main.cc)\n"
                       "target_link_libraries(in_" + folder + " PRIVATE stoker::data)\n")
        self.write("main.cc", "int main() {}\n")
        self.configure("add_subdirectory(first)\nfind_package(stoker REQUIRED)\nfind_package(stoker REQUIRED)\n"
                       "add_executable(above main.cc)\ntarget_link_libraries(above PRIVATE stoker::data)\nadd_subdirectory(second)\n")
        self.run_there("cmake", "--build", self.path("build"))

    def test_to_find_it_changes_no_variable_of_the_project(self):
        said = self.configure("""
set(libraries a b)
set(text mine)
set(STOKER_TESTS mine)
get_cmake_property(names VARIABLES)
foreach(name ${names})
  set(before_${name} "${${name}}")
endforeach()
find_package(stoker REQUIRED)
get_cmake_property(now VARIABLES)
get_cmake_property(cached CACHE_VARIABLES)
foreach(name ${now})
  if(name IN_LIST names AND NOT "${${name}}" STREQUAL "${before_${name}}" AND NOT name MATCHES "^CMAKE_MATCH_")
    message(STATUS "changed: ${name}")
  elseif(NOT name IN_LIST names AND NOT name IN_LIST cached AND NOT name MATCHES "^(stoker_|before_|names$|now$)")
    message(STATUS "new: ${name}")
  endif()
endforeach()
message(STATUS "compared ${libraries}")
""")
        self.assertIn("compared a;b", said)
        self.assertNotRegex(said, "changed: |new: ")

    def test_an_optional_one_that_cannot_be_used_is_not_found_and_says_why(self):
        self.write("torch/include/torch/csrc/api/include/torch/torch.h", "")
        self.write("torch/include/torch/headeronly/version.h", '#define TORCH_VERSION "0.4.1"\n')
        archive = "libstoker_train.a" if CAN_TRAIN else "libstoker_data.a"
        cases = [([], {"prefix": self.prefix_without(f"lib/stoker/{archive}")}, "", f"{archive} is missing"),
                 (["-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON"], {}, "", "these packages are missing: fmt"),
                 ([], {}, "COMPONENTS layers", "stoker")]
        if CAN_TRAIN:
            cases += [([f"-DSTOKER_TORCH_DIR={self.path('torch')}"], {}, "", "has 0.4.1; name the right one with -DSTOKER_TORCH_DIR="),
                      (["-DSTOKER_TORCH_DIR=/nowhere"], {}, "COMPONENTS train", "no torch in '/nowhere'")]
        for options, settings, components, reason in cases:
            with self.subTest(reason=reason):
                shutil.rmtree(self.path("build"), ignore_errors=True)
                asks = f"find_package(stoker QUIET {components})\nmessage(STATUS \"found <${{stoker_FOUND}}>\")\n"
                self.assertRegex(self.configure(asks, *options, **settings), "found <(0|FALSE)>")
                self.assertIn(reason, self.configure(f"find_package(stoker REQUIRED {components})\n", *options, expect=1, **settings))

    def test_no_header_for_tests_and_none_of_the_programs_is_installed(self):
        installed = [str(path.relative_to(self.outside / "elsewhere/include")) for path in (self.outside / "elsewhere/include").rglob("*.h")]
        self.assertIn("stoker/data/data.h", installed)
        self.assertEqual([name for name in installed if re.search(r"testing|_bench\.h|stoker/tools/(?!trainer/trainer_main\.h)", name)], [])

    def test_each_header_that_is_installed_includes_only_such_as_are_too(self):
        include = self.outside / "elsewhere/include"
        for path in include.rglob("*.h"):
            for name in re.findall(r'^#include "(stoker/[^"]+)"', path.read_text(encoding="utf-8"), re.M):
                self.assertTrue((include / name).exists(), f"{path.relative_to(include)} includes {name}")


class PublicHeadersTest(unittest.TestCase):
    """cmake/hash_headers.cmake: which headers are installed, and the hash of them that plug-ins carry."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="stoker-test-")
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        for name in ("base/a.h", "base/b_internal.h", "base/c_internal.h", "base/d_testing.h", "tools/trainer/trainer_main.h"):
            self.write(name, "#pragma once\n")

    def write(self, name, text):
        path = self.folder / "stoker" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def public(self):
        """The names of the public headers, and their hash."""
        subprocess.run(["cmake", f"-DROOT={self.folder}", "-DTORCH=none", f"-DLIST={self.folder}/list", f"-DTO={self.folder}/hash.h", "-P",
                        ROOT / "cmake/hash_headers.cmake"], check=True)
        hashed = re.search(r'STOKER_HEADER_HASH "([0-9a-f]{12})"', (self.folder / "hash.h").read_text(encoding="utf-8"))[1]
        return (self.folder / "list").read_text(encoding="utf-8").split(), hashed

    def test_an_internal_header_is_public_as_soon_as_a_public_one_includes_it(self):
        before = self.public()
        self.assertEqual(before[0], ["stoker/base/a.h", "stoker/tools/trainer/trainer_main.h"])
        self.write("base/b_internal.h", "struct B {};\n")
        self.assertEqual(self.public(), before)
        self.write("base/a.h", '#include "stoker/base/b_internal.h"  // and in it a further one\n')
        self.write("base/b_internal.h", '#include "stoker/base/c_internal.h"\n')
        names, hashed = self.public()
        self.assertEqual(names, ["stoker/base/a.h", "stoker/base/b_internal.h", "stoker/base/c_internal.h",
                                 "stoker/tools/trainer/trainer_main.h"])
        self.write("base/c_internal.h", "struct C {};\n")
        self.assertEqual(self.public()[0], names)
        self.assertNotEqual(self.public()[1], hashed)


if __name__ == "__main__":
    unittest.main()
