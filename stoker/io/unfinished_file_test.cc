#include "stoker/io/unfinished_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

// Paths whose files were removed are freed by nobody: a process that removes them ends.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: LeakSanitizer's name
extern "C" const char* __lsan_default_suppressions() { return "leak:stoker::UnfinishedFile::"; }

namespace stoker::unfinished_file_test {

namespace fs = std::filesystem;

TEST(UnfinishedFile, IsRemovedWhileItLivesAndNotAfterwards) {
  const TempDir dir;
  for (const char* name : {"moved", "finished", "other"})
    STOKER_ASSERT_OK(WriteFileAtomically(dir / name, "x"));
  { const UnfinishedFile finished(dir / "finished"); }
  UnfinishedFile first(dir / "moved");
  const UnfinishedFile moved(std::move(first));
  RemoveUnfinishedFiles();
  EXPECT_FALSE(fs::exists(dir / "moved"));
  EXPECT_TRUE(fs::exists(dir / "finished"));
  EXPECT_TRUE(fs::exists(dir / "other"));
}

TEST(UnfinishedFile, OfAProcessIsNotRemovedByItsChild) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", "x"));
  const UnfinishedFile file(dir / "a");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RemoveUnfinishedFiles();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(fs::exists(dir / "a"));
}

TEST(UnfinishedFile, BeyondTheirNumberIsLeftAlone) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "last", "x"));
  {
    std::vector<UnfinishedFile> many;
    for (int i = 0; i < 1000; ++i) many.emplace_back(dir / "none");
    const UnfinishedFile last(dir / "last");
    RemoveUnfinishedFiles();
    EXPECT_TRUE(fs::exists(dir / "last"));
  }
  const UnfinishedFile again(dir / "last");
  RemoveUnfinishedFiles();
  EXPECT_FALSE(fs::exists(dir / "last"));
}

}  // namespace stoker::unfinished_file_test
