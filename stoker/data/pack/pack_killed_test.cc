// A packing that is killed at every step, above all at those of its end, when all files are whole,
// and one in which every step fails.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "stoker/data/testing/packed.h"
#include "stoker/io/atomic_file.h"

// What becomes of the process instead of one call that changes what a directory holds, or flushes
// it: it is killed, the call fails, or it and all that follow fail.
enum class Trouble { kKilled, kFailsOnce, kFailsFromThenOn };

// So many more such calls are let through. Below 0: all are.
static int calls_left = -1;
static Trouble trouble = Trouble::kKilled;
static bool happened = false;

// Whether this call fails.
static bool Count() {
  if (calls_left < 0) return false;
  if (calls_left > 0) {
    --calls_left;
    return false;
  }
  if (trouble == Trouble::kKilled) ::kill(::getpid(), SIGKILL);
  happened = true;
  if (trouble == Trouble::kFailsOnce) calls_left = -1;
  errno = EIO;
  return true;
}

// These take the C library's place in this program.
extern "C" int rename(const char* from, const char* to) {
  return Count() ? -1 : static_cast<int>(::syscall(SYS_rename, from, to));
}
extern "C" int fsync(int fd) { return Count() ? -1 : static_cast<int>(::syscall(SYS_fsync, fd)); }
extern "C" int unlinkat(int directory, const char* path, int flags) {
  return Count() ? -1 : static_cast<int>(::syscall(SYS_unlinkat, directory, path, flags));
}

namespace stoker::pack_killed_test {

constexpr int kPacked = 0, kFailed = 1, kUntroubled = 2;

// Packs in a process of its own, with trouble instead of call number `call`; whether it came to
// that.
bool PackInTrouble(Trouble what, int call, const Dataset& dataset, const std::string& to,
                   const PackOptions& options) {
  const pid_t child = ::fork();
  if (child == 0) {
    trouble = what;
    calls_left = call;
    const bool packed = Pack(dataset, to, options, Runtime::Inline()).ok();
    ::_exit(!packed ? kFailed : happened ? kPacked : kUntroubled);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (what == Trouble::kKilled) {
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == kUntroubled) << "failed by itself";
    return WIFSIGNALED(status);
  }
  EXPECT_FALSE(WIFSIGNALED(status));
  return WEXITSTATUS(status) != kUntroubled;
}

struct KillCase {
  const char* format;
  int64_t files;
  int64_t replaces;  // so many files of an earlier packing
};

class PackKilledTest : public testing::TestWithParam<KillCase> {
 protected:
  void TroubleAtEveryStep(Trouble what);
};

void PackKilledTest::TroubleAtEveryStep(Trouble what) {
  const KillCase& param = GetParam();
  PackOptions options = Into(param.format, param.files);
  options.classes = {"cat", "dog"};
  const TempDir whole;
  STOKER_ASSERT_OK(Pack(NumberedImages(8), (whole.path() / "x").string(), options));
  const auto wanted = FilesIn(whole.path());
  int steps = 0;
  for (bool troubled = true; troubled; ++steps) {
    SCOPED_TRACE(fmt::format("trouble instead of call {}", steps));
    const TempDir directory;
    const std::string to = (directory.path() / "x").string();
    if (param.replaces > 0) {
      STOKER_ASSERT_OK(Pack(NumberedImages(5), to, Into(param.format, param.replaces)));
    }
    options.overwrite = param.replaces > 0;
    troubled = PackInTrouble(what, steps, NumberedImages(8), to, options);
    STOKER_ASSERT_OK(Pack(NumberedImages(8), to, options));
    options.overwrite = false;
    STOKER_ASSERT_OK_AND_ASSIGN(const PackReport again, Pack(NumberedImages(8), to, options));
    EXPECT_EQ(std::ranges::count_if(again.files, &PackReport::File::kept), param.files);
    EXPECT_EQ(FilesIn(directory.path()), wanted);
  }
  EXPECT_GT(steps, 5);
}

TEST_P(PackKilledTest, AtWhateverStepTheSameCommandFinishesItAndIsGivenAgain) {
  TroubleAtEveryStep(Trouble::kKilled);
}

TEST_P(PackKilledTest, WhateverStepFailsTheSameCommandFinishesItAndIsGivenAgain) {
  TroubleAtEveryStep(Trouble::kFailsOnce);
  TroubleAtEveryStep(Trouble::kFailsFromThenOn);
}

INSTANTIATE_TEST_SUITE_P(Formats, PackKilledTest,
                         testing::Values(KillCase{"stoker", 1, 0}, KillCase{"stoker", 3, 0},
                                         KillCase{"tfrecord", 2, 0}, KillCase{"npy", 1, 0},
                                         KillCase{"lmdb", 2, 0}, KillCase{"stoker", 1, 1},
                                         KillCase{"npy", 1, 1}, KillCase{"stoker", 2, 3},
                                         KillCase{"tfrecord", 3, 1}, KillCase{"npy", 1, 2}),
                         [](const auto& each) {
                           return fmt::format("{}{}{}", each.param.format, each.param.files,
                                              each.param.replaces > 0
                                                  ? fmt::format("Replacing{}", each.param.replaces)
                                                  : "");
                         });

}  // namespace stoker::pack_killed_test
