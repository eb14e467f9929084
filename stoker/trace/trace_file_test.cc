#include "stoker/trace/trace_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "stoker/base/testing.h"

namespace stoker::trace_file_test {

using testing::HasSubstr;

constexpr uint64_t kMuch = uint64_t{1} << 30;
const TraceThread kThread{.id = 12, .name = "decode0"};

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Throws, and so fails the test, if it is no JSON.
Json EventsIn(const std::string& path) { return Json::parse(ContentOf(path)).at("traceEvents"); }

std::vector<TraceEvent> Events(int count) {
  std::vector<TraceEvent> events;
  for (int i = 0; i < count; ++i)
    events.push_back({.name = "decode", .begin_ns = 10 * i, .end_ns = 10 * i + 5});
  return events;
}

TEST(TraceFile, IsJsonWithAllEventsAfterEachFlush) {
  const TempDir dir;
  const std::string path = dir / "trace.json";
  STOKER_ASSERT_OK_AND_ASSIGN(TraceFile file, TraceFile::Create(path, {.pid = 1}, 0, kMuch));
  EXPECT_EQ(EventsIn(path).size(), 2u);  // about the process
  for (size_t round = 1; round <= 3; ++round) {
    file.Add(kThread, Events(100));
    STOKER_ASSERT_OK(file.Flush());
    EXPECT_EQ(EventsIn(path).size(), 2 + 1 + 100 * round);
    EXPECT_EQ(file.size(), ContentOf(path).size());
  }
  EXPECT_EQ(file.events(), 300);
  EXPECT_FALSE(file.is_full());
}

TEST(TraceFile, TakesThePlaceOfALongerOne) {
  const TempDir dir;
  const std::string path = dir / "trace.json";
  std::ofstream(path) << std::string(100'000, 'x');
  STOKER_ASSERT_OK(TraceFile::Create(path, {.pid = 1}, 0, kMuch));
  EXPECT_EQ(EventsIn(path).size(), 2u);
}

TEST(TraceFile, NamesAThreadOnceAndAgainWhereItsNumberIsAnothers) {
  const TempDir dir;
  const std::string path = dir / "trace.json";
  STOKER_ASSERT_OK_AND_ASSIGN(TraceFile file, TraceFile::Create(path, {.pid = 1}, 0, kMuch));
  file.Add(kThread, Events(1));
  file.Add(kThread, Events(1));
  file.Add({.id = kThread.id, .name = "batch0"}, Events(1));
  STOKER_ASSERT_OK(file.Flush());
  std::string names;
  for (const Json& event : EventsIn(path)) {
    if (event.at("name") == "thread_name")
      names += event.at("args").at("name").get<std::string>() + " ";
  }
  EXPECT_EQ(names, "decode0 batch0 ");
}

TEST(TraceFile, StaysWithinItsSizeAndSaysThatItIsFull) {
  const TempDir dir;
  const std::string path = dir / "trace.json";
  constexpr uint64_t kMost = 20'000;
  STOKER_ASSERT_OK_AND_ASSIGN(TraceFile file, TraceFile::Create(path, {.pid = 1}, 0, kMost));
  for (int i = 0; i < 20; ++i) {
    file.Add(kThread, Events(100));
    STOKER_ASSERT_OK(file.Flush());
  }
  EXPECT_TRUE(file.is_full());
  file.AddMark("end", {{"full", true}});
  STOKER_ASSERT_OK(file.Flush());
  EXPECT_LE(ContentOf(path).size(), kMost);
  EXPECT_GT(ContentOf(path).size(), kMost * 3 / 4);
  EXPECT_EQ(EventsIn(path).size(), static_cast<size_t>(2 + 1 + file.events() + 1));
}

TEST(TraceFile, ThatCannotBeMadeIsAnErrorThatNamesIt) {
  EXPECT_THAT(TraceFile::Create("/nowhere/trace.json", {}, 0, kMuch),
              FailsWith(StatusCode::kNotFound, "/nowhere/trace.json: the trace cannot be created"));
}

// Files of this process may have at most so many bytes, as if the disk were full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t most) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    before_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{most, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, before_handler_);
  }

 private:
  rlimit before_{};
  void (*before_handler_)(int) = nullptr;
};

TEST(TraceFile, OnADiskThatBecomesFullEndsWithWhatWasWrittenBeforeAndIsStillJson) {
  const TempDir dir;
  const std::string path = dir / "trace.json";
  STOKER_ASSERT_OK_AND_ASSIGN(TraceFile file, TraceFile::Create(path, {.pid = 1}, 0, kMuch));
  file.Add(kThread, Events(10));
  STOKER_ASSERT_OK(file.Flush());
  const std::string before = ContentOf(path);
  {
    const FileSizeLimit limit(before.size() + 1000);
    file.Add(kThread, Events(100));
    EXPECT_THAT(file.Flush(), FailsWith(StatusCode::kResourceExhausted, "cannot be written"));
  }
  EXPECT_EQ(ContentOf(path), before);
  file.Add(kThread, Events(1));
  EXPECT_THAT(file.Flush(), FailsWith(StatusCode::kResourceExhausted, "cannot be written"));
  EXPECT_EQ(ContentOf(path), before);
}

}  // namespace stoker::trace_file_test
