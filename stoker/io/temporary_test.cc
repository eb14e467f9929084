#include "stoker/io/temporary.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file_names_testing_internal.h"

namespace stoker::temporary_test {

namespace fs = std::filesystem;

// Runs `body` in a child process that is then killed, or stopped until `release` where it is to
// stay alive.
template <typename Body>
pid_t RunAndStop(const Body& body) {
  int ready[2];
  EXPECT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto kept = body();
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
    while (true) ::pause();
  }
  char byte;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

void Kill(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(RemoveStaleTemporaries, RemovesWhatAKilledProcessLeft) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "keep", "x"));
  const pid_t child = RunAndStop([&] {
    auto file = AtomicFileWriter::Create(dir / "weights");
    auto directory = AtomicDirectory::Create(dir / "step-1");
    const Status inside = WriteFileAtomically(directory->path() + "/a", "1");
    return std::pair(std::move(file), std::move(directory));
  });
  EXPECT_EQ(Names(dir.path()).size(), 3u);
  EXPECT_THAT(RemoveStaleTemporaries(dir.path().string()), IsOk());
  EXPECT_EQ(Names(dir.path()).size(), 3u) << "its process is alive";
  Kill(child);
  STOKER_ASSERT_OK_AND_ASSIGN(const int removed, RemoveStaleTemporaries(dir.path().string()));
  EXPECT_EQ(removed, 2);
  EXPECT_EQ(Names(dir.path()), std::vector<std::string>{"keep"});
}

TEST(RemoveStaleTemporaries, LeavesWhatThisProcessIsWriting) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(AtomicFileWriter writer, AtomicFileWriter::Create(dir / "a"));
  STOKER_ASSERT_OK_AND_ASSIGN(const int removed, RemoveStaleTemporaries(dir.path().string()));
  EXPECT_EQ(removed, 0);
  STOKER_EXPECT_OK(writer.Commit());
}

TEST(RemoveStaleTemporaries, LeavesWhatAnotherThreadHasJustMade) {
  const TempDir dir;
  std::atomic<bool> done = false;
  std::thread cleaner([&] {
    while (!done) EXPECT_THAT(RemoveStaleTemporaries(dir.path().string()), IsOk());
  });
  int lost = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto made =
        internal::Temporary::Create(internal::Temporary::Type::kFile, dir.path() / "a");
    lost += !made.ok() || !std::filesystem::exists(made->path());
  }
  done = true;
  cleaner.join();
  EXPECT_EQ(lost, 0);
}

TEST(RemoveStaleTemporaries, TakesOurNumberOnAnUnlockedFileForAnEarlierProcess) {
  const TempDir dir;
  std::ofstream(dir / fmt::format(".a.tmp-{}-0123abcd", ::getpid())) << "x";
  STOKER_ASSERT_OK_AND_ASSIGN(const int removed, RemoveStaleTemporaries(dir.path().string()));
  EXPECT_EQ(removed, 1);
}

TEST(RemoveStaleTemporaries, TouchesNoFileThatIsNotOurs) {
  const TempDir dir;
  // 4194305 is above the largest process number that Linux gives (2^22).
  const std::vector<std::string> names = {".a.tmp-",
                                          ".a.tmp-4194305",
                                          ".a.tmp-4194305-0123abc",
                                          ".a.tmp-4194305-0123ABCD",
                                          ".a.tmp-x-0123abcd",
                                          ".a.tmp--1-0123abcd",
                                          ".tmp-4194305-0123abcd",
                                          "a.tmp-4194305-0123abcd",
                                          ".hidden"};
  for (const std::string& name : names) std::ofstream(dir / name) << "x";
  STOKER_ASSERT_OK_AND_ASSIGN(const int none, RemoveStaleTemporaries(dir.path().string()));
  EXPECT_EQ(none, 0);
  EXPECT_EQ(Names(dir.path()).size(), names.size());
  std::ofstream(dir / ".a.tmp-4194305-0123abcd") << "x";
  STOKER_ASSERT_OK_AND_ASSIGN(const int one, RemoveStaleTemporaries(dir.path().string()));
  EXPECT_EQ(one, 1);
}

TEST(IsStill, SaysWhetherAPathNamesWhatIsOpenAndNotThatItDoesNotWhereItCannotLook) {
  const TempDir dir;
  const std::string path = dir / "a", link = dir / "link", loop = dir / "loop";
  const Descriptor open(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  fs::create_symlink(path, link);
  fs::create_directory_symlink(loop, loop);
  EXPECT_TRUE(internal::IsStill(path, open.get()).value());
  EXPECT_TRUE(internal::IsStill(link, open.get()).value());
  EXPECT_FALSE(internal::IsStill(link, open.get(), AT_SYMLINK_NOFOLLOW).value());
  EXPECT_THAT(internal::IsStill(loop + "/a", open.get()),
              FailsWith(StatusCode::kInvalidArgument, loop + "/a: cannot look at it"));
  std::ofstream(dir / "b") << "another";
  fs::rename(dir / "b", path);
  EXPECT_FALSE(internal::IsStill(path, open.get()).value());
  fs::remove(path);
  EXPECT_FALSE(internal::IsStill(path, open.get()).value());
}

TEST(RemoveStaleTemporaries, OfADirectoryThatIsMissingIsAnError) {
  EXPECT_THAT(RemoveStaleTemporaries("/no/such/directory"),
              FailsWith(StatusCode::kNotFound, "/no/such/directory"));
}

}  // namespace stoker::temporary_test
