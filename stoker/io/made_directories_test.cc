#include "stoker/io/made_directories.h"

#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker::made_directories_test {

namespace fs = std::filesystem;

TEST(MadeDirectories, AreRemovedAgainAndThoseThatWereThereStay) {
  const TempDir dir;
  fs::create_directory(dir / "old");
  MadeDirectories made;
  STOKER_ASSERT_OK(made.Create(dir / "old/a/b/"));
  EXPECT_TRUE(made.MadeLast(dir / "old/a/b/"));
  EXPECT_EQ(made.last(), dir / "old/a/b");
  made.RemoveEmpty();
  EXPECT_TRUE(fs::is_empty(dir / "old"));
  STOKER_ASSERT_OK(made.Create(dir / "old"));
  EXPECT_FALSE(made.MadeLast(dir / "old"));
  made.RemoveEmpty();
  EXPECT_TRUE(fs::exists(dir / "old"));
}

TEST(MadeDirectories, ThatHoldSomethingStayWithThoseAboveThem) {
  const TempDir dir;
  MadeDirectories made;
  STOKER_ASSERT_OK(made.Create(dir / "a/b/c"));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a/b/notes", "x"));
  made.RemoveEmpty();
  EXPECT_TRUE(fs::exists(dir / "a/b/notes"));
  EXPECT_FALSE(fs::exists(dir / "a/b/c"));
}

TEST(MadeDirectories, OfAnAttemptThatFailedAreRemovedToo) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "file", ""));
  MadeDirectories made;
  EXPECT_THAT(made.Create(dir / "b/c/../../file/d"),
              FailsWith(StatusCode::kNotFound, "cannot make the directory"));
  EXPECT_TRUE(fs::exists(dir / "b/c"));
  made.RemoveEmpty();
  EXPECT_FALSE(fs::exists(dir / "b"));
}

TEST(MadeDirectories, OneThatIsThereIsNotMadeAnew) {
  const TempDir dir;
  MadeDirectories made;
  STOKER_ASSERT_OK_AND_ASSIGN(const bool first, made.CreateNew(dir / "a"));
  STOKER_ASSERT_OK_AND_ASSIGN(const bool second, made.CreateNew(dir / "a"));
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
  EXPECT_THAT(made.CreateNew(dir / "b/c"),
              FailsWith(StatusCode::kNotFound, "cannot make the directory"));
}

}  // namespace stoker::made_directories_test
