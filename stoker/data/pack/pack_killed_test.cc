// A packing that is killed at every step, above all at those of its end, when all files are whole.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "stoker/data/pack/pack_testing_internal.h"
#include "stoker/io/atomic_file.h"

// So many more calls that change what a directory holds, or flush it, are let through; the process
// is killed instead of the next. Below 0: all are.
static int calls_left = -1;

static void Count() {
  if (calls_left >= 0 && calls_left-- == 0) ::kill(::getpid(), SIGKILL);
}

// These take the C library's place in this program.
extern "C" int rename(const char* from, const char* to) {
  Count();
  return static_cast<int>(::syscall(SYS_rename, from, to));
}
extern "C" int fsync(int fd) {
  Count();
  return static_cast<int>(::syscall(SYS_fsync, fd));
}
extern "C" int unlinkat(int directory, const char* path, int flags) {
  Count();
  return static_cast<int>(::syscall(SYS_unlinkat, directory, path, flags));
}

namespace stoker {
namespace {

// Packs in a process of its own that is killed instead of call number `call`; whether it was.
bool PackAndKill(int call, const Dataset& dataset, const std::string& to,
                 const PackOptions& options) {
  const pid_t child = ::fork();
  if (child == 0) {
    calls_left = call;
    const bool packed = Pack(dataset, to, options, Runtime::Inline()).ok();
    ::_exit(packed ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "it failed by itself";
  return WIFSIGNALED(status);
}

struct KillCase {
  const char* format;
  int64_t files;
  bool replaces;  // a file of an earlier packing
};

class PackKilledTest : public testing::TestWithParam<KillCase> {};

TEST_P(PackKilledTest, AtWhateverStepTheSameCommandFinishesItAndIsGivenAgain) {
  const KillCase& param = GetParam();
  PackOptions options = Into(param.format, param.files);
  options.classes = {"cat", "dog"};
  const TempDir whole;
  STOKER_ASSERT_OK(Pack(NumberedImages(8), (whole.path() / "x").string(), options));
  const auto wanted = FilesIn(whole.path());
  int kills = 0;
  for (bool killed = true; killed; ++kills) {
    SCOPED_TRACE(fmt::format("killed instead of call {}", kills));
    const TempDir directory;
    const std::string to = (directory.path() / "x").string();
    if (param.replaces) {
      STOKER_ASSERT_OK(Pack(NumberedImages(5), to, Into(param.format)));
    }
    options.overwrite = param.replaces;
    killed = PackAndKill(kills, NumberedImages(8), to, options);
    // What was begun with --overwrite goes on without, unless it had not yet begun.
    STOKER_ASSERT_OK(Pack(NumberedImages(8), to, options));
    options.overwrite = false;
    STOKER_ASSERT_OK_AND_ASSIGN(const PackReport again, Pack(NumberedImages(8), to, options));
    EXPECT_EQ(std::ranges::count_if(again.files, &PackReport::File::kept), param.files);
    EXPECT_EQ(FilesIn(directory.path()), wanted);
  }
  EXPECT_GT(kills, 5);
}

INSTANTIATE_TEST_SUITE_P(Formats, PackKilledTest,
                         testing::Values(KillCase{"stoker", 1, false}, KillCase{"stoker", 3, false},
                                         KillCase{"tfrecord", 2, false}, KillCase{"npy", 1, false},
                                         KillCase{"lmdb", 2, false}, KillCase{"stoker", 1, true},
                                         KillCase{"npy", 1, true}),
                         [](const auto& each) {
                           return fmt::format("{}{}{}", each.param.format, each.param.files,
                                              each.param.replaces ? "Replacing" : "");
                         });

}  // namespace
}  // namespace stoker
