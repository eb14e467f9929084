#include "stoker/base/plugin.h"

#include <gnu/libc-version.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "stoker/base/testing.h"

namespace stoker::plugin_test {

// Has plug-ins looked for in a folder for its scope.
class ScopedPlugins {
 public:
  explicit ScopedPlugins(const std::string& folder) {
    if (const char* before = std::getenv("STOKER_PLUGINS")) before_ = before;
    ::setenv("STOKER_PLUGINS", folder.c_str(), 1);
  }
  ~ScopedPlugins() {
    if (before_)
      ::setenv("STOKER_PLUGINS", before_->c_str(), 1);
    else
      ::unsetenv("STOKER_PLUGINS");
  }
  ScopedPlugins(const ScopedPlugins&) = delete;
  ScopedPlugins& operator=(const ScopedPlugins&) = delete;

 private:
  std::optional<std::string> before_;
};

const PluginFile kWanted{
    .file = "libno.so", .tag_function = "NoSuchFunction", .tag = "1", .when_missing = "build it"};

// The C library that this process runs with. It exports a function that returns a text, its
// version, which here stands for a tag.
PluginFile LibraryOfC(const std::string& path) {
  return {.file = path, .tag_function = "gnu_get_libc_version", .tag = ::gnu_get_libc_version()};
}

std::string PathOfC() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t slash = line.find('/');
    if (slash != line.npos && line.ends_with("/libc.so.6")) return line.substr(slash);
  }
  return "";
}

TEST(Plugin, OneThatIsMissingSaysWhereItIsLookedForAndWhatToDo) {
  const TempDir dir;
  const ScopedPlugins here(dir / "");
  EXPECT_THAT(Plugin::Load(kWanted).status(),
              FailsWith(StatusCode::kUnavailable, dir / "libno.so" + ": build it; it is looked "
                                                                     "for"));
}

TEST(Plugin, AnEmptyNameOfTheFolderCountsAsNone) {
  const ScopedPlugins empty("");
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_THAT(Plugin::Load(kWanted).status(),
              FailsWith(StatusCode::kUnavailable,
                        (program.parent_path() / "libno.so").string() + ": build it"));
}

TEST(Plugin, APathThatDoesNotExistIsNotLookedForElsewhere) {
  const TempDir dir;
  const ScopedPlugins here(dir / "");
  std::ofstream(dir / "mine.so") << "text";
  const Status status =
      Plugin::Load({.file = "/nowhere/mine.so", .when_missing = "check the path"}).status();
  EXPECT_EQ(status.message(), "there is no plug-in /nowhere/mine.so: check the path");
}

TEST(Plugin, AFileThatIsNoLibrarySaysWhy) {
  const TempDir dir;
  const ScopedPlugins here(dir / "");
  std::ofstream(dir / "libno.so") << "text";
  EXPECT_THAT(Plugin::Load(kWanted).status(),
              FailsWith(StatusCode::kUnavailable, "libno.so does not load: "));
}

TEST(Plugin, ALibraryWithoutATagIsNoPlugin) {
  const TempDir dir;
  const ScopedPlugins here(dir / "");
  std::filesystem::create_symlink(PathOfC(), dir / "libno.so");
  EXPECT_THAT(Plugin::Load(kWanted).status(),
              FailsWith(StatusCode::kUnavailable, "libno.so is no plug-in of this program"));
}

TEST(Plugin, OneOfAnotherTagIsRefusedWithBothTags) {
  PluginFile wanted = LibraryOfC(PathOfC());
  wanted.tag = "of old";
  EXPECT_THAT(Plugin::Load(wanted).status(),
              FailsWith(StatusCode::kUnavailable, std::string("was built from '") +
                                                      ::gnu_get_libc_version() +
                                                      "', and this program from "
                                                      "'of old'"));
}

TEST(Plugin, OneOfTheSameTagGivesItsFunctionsByName) {
  const std::string path = PathOfC();
  STOKER_ASSERT_OK_AND_ASSIGN(const Plugin plugin, Plugin::Load(LibraryOfC(path)));
  EXPECT_EQ(plugin.path(), path);
  pid_t (*function)() = nullptr;
  STOKER_ASSERT_OK(plugin.Find("getpid", function));
  EXPECT_EQ(function(), ::getpid());
  EXPECT_THAT(plugin.Find("NoSuchFunction", function),
              FailsWith(StatusCode::kUnavailable, "NoSuchFunction"));
}

}  // namespace stoker::plugin_test
