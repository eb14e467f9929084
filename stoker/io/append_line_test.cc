#include "stoker/io/append_line.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "stoker/base/testing.h"

namespace stoker::append_line_test {

using testing::ElementsAre;

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(AppendLine, AddsToWhatIsThere) {
  const TempDir dir;
  for (const char* line : {"one", "two"}) {
    STOKER_ASSERT_OK(AppendLine(dir / "log", line));
  }
  EXPECT_THAT(LinesOf(dir / "log"), ElementsAre("one", "two"));
}

TEST(AppendLine, EndsALineThatAKilledProcessLeftHalfWritten) {
  const TempDir dir;
  std::ofstream(dir / "log") << "whole\nhal";
  STOKER_ASSERT_OK(AppendLine(dir / "log", "next"));
  EXPECT_THAT(LinesOf(dir / "log"), ElementsAre("whole", "hal", "next"));
}

TEST(AppendLine, TakesBackALineThatDoesNotFit) {
  const TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    // The file may grow to 10 bytes: the second line ends in the middle.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 10, .rlim_max = 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool first = AppendLine(dir / "log", "first").ok();
    const Status second = AppendLine(dir / "log", "second").status();
    ::_exit(first && second.code() == StatusCode::kResourceExhausted ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(LinesOf(dir / "log"), ElementsAre("first"));
}

TEST(AppendLine, KeepsTheLinesOfThreadsAndProcessesWhole) {
  const TempDir dir;
  constexpr int kProcesses = 3, kThreads = 2, kLines = 200;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, name = static_cast<char>('a' + process * kThreads + thread)] {
          for (int i = 0; i < kLines; ++i)
            if (!AppendLine(dir / "log", std::string(static_cast<size_t>(1 + i * 7 % 500), name))
                     .ok())
              ::_exit(1);
        });
      }
      for (std::thread& thread : threads) thread.join();
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::map<char, int> lines;
  for (const std::string& line : LinesOf(dir / "log")) {
    EXPECT_EQ(std::set<char>(line.begin(), line.end()).size(), 1u) << line;
    ++lines[line[0]];
  }
  EXPECT_EQ(lines.size(), size_t{kProcesses * kThreads});
  for (const auto& [name, count] : lines) EXPECT_EQ(count, kLines) << name;
}

TEST(AppendLine, BeginsANewFileWhereTheOldOneWasMovedAway) {
  const TempDir dir;
  STOKER_ASSERT_OK(AppendLine(dir / "log", "old"));
  std::filesystem::rename(dir / "log", dir / "log.1");
  STOKER_ASSERT_OK(AppendLine(dir / "log", "new"));
  EXPECT_THAT(LinesOf(dir / "log"), ElementsAre("new"));
}

TEST(AppendLine, SaysWhereItCannot) {
  const TempDir dir;
  for (const auto& append :
       {PrepareToAppend, +[](const std::string& path) { return AppendLine(path, "x"); }}) {
    EXPECT_THAT(append(dir / "missing/log"),
                FailsWith(StatusCode::kNotFound, "make its directory first"));
    EXPECT_THAT(append(dir.path().string()), testing::Not(IsOk()));
  }
}

TEST(PrepareToAppend, MakesTheFileAndLeavesWhatIsThere) {
  const TempDir dir;
  STOKER_ASSERT_OK(PrepareToAppend(dir / "log"));
  EXPECT_TRUE(std::filesystem::exists(dir / "log"));
  STOKER_ASSERT_OK(AppendLine(dir / "log", "one"));
  STOKER_ASSERT_OK(PrepareToAppend(dir / "log"));
  EXPECT_THAT(LinesOf(dir / "log"), ElementsAre("one"));
}

bool IsBad(std::string_view line) { return line.starts_with("bad"); }

TEST(TakeBackLines, TakesThoseAfterTheOffsetThatAreAskedForAndLeavesOthers) {
  const TempDir dir;
  std::ofstream(dir / "log") << "bad 1\ngood 1\nbad 2\ngood 2\nbad 3\nhal";
  STOKER_ASSERT_OK_AND_ASSIGN(const uint64_t size, TakeBackLines(dir / "log", 6, IsBad));
  EXPECT_THAT(LinesOf(dir / "log"), ElementsAre("bad 1", "good 1", "good 2"));
  EXPECT_EQ(size, std::filesystem::file_size(dir / "log"));
}

// Killed between any two system calls, the file is one or the other: what was there is never
// written to, and a copy takes its place in one step.
TEST(TakeBackLines, IsWholeAtEveryMoment) {
  const TempDir dir;
  const std::string before = "bad 1\ngood 1\nbad 2\ngood 2\nbad 3\nhal";
  std::ofstream(dir / "log") << before;
  std::ifstream old(dir / "log");
  std::ofstream(dir / ".log.tmp-999999999-0123abcd") << "of one that was killed";
  STOKER_ASSERT_OK(TakeBackLines(dir / "log", 0, IsBad));
  EXPECT_THAT(LinesOf(dir / "log"), ElementsAre("good 1", "good 2"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(old), {}), before);
  const auto files = std::distance(std::filesystem::directory_iterator(dir.path()), {});
  EXPECT_EQ(files, 1);
}

TEST(TakeBackLines, WhereTheDiskIsFullLeavesTheFileAsItWas) {
  const TempDir dir;
  std::ofstream(dir / "log") << "bad 1\ngood 1\ngood 2\n";
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 10, .rlim_max = 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = TakeBackLines(dir / "log", 0, IsBad).status();
    ::_exit(status.code() == StatusCode::kResourceExhausted ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(LinesOf(dir / "log"), ElementsAre("bad 1", "good 1", "good 2"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

// One that waits for the lock of the file that is replaced appends to the one in its place.
TEST(TakeBackLines, LosesNoLineThatOthersAppendMeanwhile) {
  const TempDir dir;
  constexpr int kLines = 2000;
  STOKER_ASSERT_OK(PrepareToAppend(dir / "log"));
  std::thread appends([&] {
    for (int i = 0; i < kLines; ++i)
      STOKER_EXPECT_OK(AppendLine(dir / "log", fmt::format("good {}", i)));
  });
  for (int i = 0; i < 200; ++i) {
    STOKER_EXPECT_OK(AppendLine(dir / "log", "bad"));
    STOKER_EXPECT_OK(TakeBackLines(dir / "log", 0, IsBad));
  }
  appends.join();
  std::vector<std::string> expected;
  for (int i = 0; i < kLines; ++i) expected.push_back(fmt::format("good {}", i));
  EXPECT_EQ(LinesOf(dir / "log"), expected);
}

TEST(TakeBackLines, KeepsTheAccessRightsOfTheFile) {
  using std::filesystem::perms;
  const TempDir dir;
  std::ofstream(dir / "log") << "bad 1\ngood 1\n";
  std::filesystem::permissions(dir / "log", perms::owner_read | perms::owner_write);
  STOKER_ASSERT_OK(TakeBackLines(dir / "log", 0, IsBad));
  EXPECT_EQ(std::filesystem::status(dir / "log").permissions(),
            perms::owner_read | perms::owner_write);
}

TEST(TakeBackLines, KeepsLinesThatAreTooLongToBeLookedAt) {
  const TempDir dir;
  const std::string longest = "bad " + std::string(kMostLineBytes - 4, 'x'), longer = longest + "x";
  for (const std::string& line : {longest, longer, std::string("bad"), std::string("good")})
    STOKER_ASSERT_OK(AppendLine(dir / "log", line));
  STOKER_ASSERT_OK(TakeBackLines(dir / "log", 0, IsBad));
  const std::vector<std::string> left = LinesOf(dir / "log");
  ASSERT_EQ(left.size(), 2u);
  EXPECT_TRUE(left[0] == longer);
  EXPECT_EQ(left[1], "good");
}

TEST(VisitLines, GivesThoseThatHaveAnEnd) {
  const TempDir dir;
  std::ofstream(dir / "log") << "one\n\ntwo\nhal";
  std::vector<std::string> lines;
  const auto note = [&](std::string_view line) { lines.emplace_back(line); };
  STOKER_ASSERT_OK(VisitLines(dir / "log", note));
  EXPECT_THAT(lines, ElementsAre("one", "", "two"));
  STOKER_EXPECT_OK(VisitLines(dir / "none", note));
}

TEST(TakeBackLines, LeavesAFileInWhichNoLineBeginsThere) {
  const TempDir dir;
  for (const uint64_t offset : {3, 100}) {
    std::ofstream(dir / "log") << "bad 1\nbad 2\n";
    STOKER_ASSERT_OK(TakeBackLines(dir / "log", offset, IsBad));
    EXPECT_THAT(LinesOf(dir / "log"), ElementsAre("bad 1", "bad 2"));
  }
  STOKER_EXPECT_OK(TakeBackLines(dir / "none", 0, IsBad));
  EXPECT_FALSE(std::filesystem::exists(dir / "none"));
}

TEST(TakeBackLines, DoesNotFollowASymbolicLink) {
  const TempDir dir;
  std::ofstream(dir / "target") << "bad 1\n";
  std::filesystem::create_symlink(dir / "target", dir / "log");
  STOKER_ASSERT_OK(TakeBackLines(dir / "log", 0, IsBad));
  EXPECT_THAT(LinesOf(dir / "target"), ElementsAre("bad 1"));
}

}  // namespace stoker::append_line_test
