// Wherever a thread waits for what it reads, it comes back soon after its pass is asked to stop.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/statistics.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/interleave.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/runtime/stalling_server_testing_internal.h"
#include "stoker/data/sources/binary.h"
#include "stoker/data/sources/files.h"
#include "stoker/data/sources/lines.h"
#include "stoker/data/testing/damaged_files.h"
#include "stoker/data/testing/test_stages.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/decode.h"
#include "stoker/data/transforms/resize.h"
#include "stoker/formats/arrow/arrow_testing_internal.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"
#include "stoker/io/remote/remote_names.h"
#include "stoker/io/standard_input.h"

namespace stoker::stop_waits_test {

// A single wait tells apart one that ends and one that goes on to its own end, on a machine however
// busy. The second that is promised is a median.
constexpr double kStall =
    900;  // seconds that a wait would take which nobody ends; the next try: 120
constexpr double kPrompt = 60;  // beyond it a thread was stuck
constexpr int kRounds = 5;      // at least, of a median

// What waits, for files below `root`: what is made before the server stalls, and the work that then
// ends once `stop` is true.
using Work = std::function<Status(const std::atomic<bool>& stop)>;
struct Reader {
  const char* name;
  std::function<Result<Work>(const std::string& root)> make;
};

void PrintTo(const Reader& reader, std::ostream* out) { *out << reader.name; }

Work ReadingOf(const Dataset& dataset, Runtime::Kind kind) {
  return [dataset, kind](const std::atomic<bool>& stop) {
    return ReadAll(dataset, {.kind = kind, .threads = 3, .stop = &stop}).status();
  };
}

Work InScope(std::function<Status()> work) {
  return [work = std::move(work)](const std::atomic<bool>& stop) {
    const StopScope scope([&stop] { return stop.load(); });
    return work();
  };
}

template <Runtime::Kind kKind>
Result<Work> InOrder(const std::string& root) {
  STOKER_ASSIGN_OR_RETURN(const Dataset lines, Source(Lines{.path = root + "/a.txt"}));
  return ReadingOf(lines, kKind);
}

template <Runtime::Kind kKind>
Result<Work> ByPosition(const std::string& root) {
  STOKER_ASSIGN_OR_RETURN(
      const Dataset rows,
      Source(Binary{.files = root + "/a.bin",
                    .fields = BinaryFields({{.name = "row", .shape = {100'000}}})}));
  return ReadingOf(rows, kKind);
}

// A batch of them is made by all threads together.
template <Runtime::Kind kKind>
Result<Work> Pictures(const std::string& root) {
  STOKER_ASSIGN_OR_RETURN(const Dataset batches,
                          Source(Files{.path = root + "/{0..7}.png", .read = true}) |
                              Decode{.field = "bytes"} | Resize{.size = 8, .field = "bytes"} |
                              Cast{.field = "bytes"} | Batch{.size = 8});
  return ReadingOf(batches, kKind);
}

template <Runtime::Kind kKind>
Result<Work> SideBySide(const std::string& root) {
  std::vector<Dataset> inputs;
  for (int i = 0; i < 4; ++i) {
    STOKER_ASSIGN_OR_RETURN(Dataset lines,
                            Source(Lines{.path = fmt::format("{}/{}.txt", root, i)}));
    inputs.push_back(std::move(lines));
  }
  STOKER_ASSIGN_OR_RETURN(const Dataset lines,
                          Source(Interleave{.inputs = Pipelines(inputs), .deterministic = false}) |
                              Prefetch{.deterministic = false});
  return ReadingOf(lines, kKind);
}

Result<Work> ACopyInTheCache(const std::string& root) {
  const std::string path = root + "/a.tar";
  STOKER_RETURN_IF_ERROR(File::Open(path).status());
  return InScope([path] { return File::OpenLocally(path).status(); });
}

Result<Work> AWholeFile(const std::string& root) {
  const std::string path = root + "/a";
  STOKER_RETURN_IF_ERROR(File::Open(path).status());
  return InScope([path] { return ReadWholeFile(path).status(); });
}

Result<Work> ALookup(const std::string& root) {
  return InScope([path = root + "/a"] { return File::Open(path).status(); });
}

Result<Work> ManyLookups(const std::string& root) {
  std::vector<std::string> paths;
  for (int i = 0; i < 40; ++i) paths.push_back(fmt::format("{}/{}", root, i));
  return InScope([paths] { return CheckRemoteFiles(paths); });
}

Result<Work> AList(const std::string&) {
  return InScope([] { return ExpandRemoteGlob("s3://bucket/*").status(); });
}

// Each asks for one byte only.
const Reader kLookups[] = {{"ManyLookups", ManyLookups}};

constexpr Runtime::Kind kInline = Runtime::Kind::kInline, kThreaded = Runtime::Kind::kThreaded;
const Reader kReaders[] = {{"InOrderInline", InOrder<kInline>},
                           {"InOrderThreaded", InOrder<kThreaded>},
                           {"ByPositionInline", ByPosition<kInline>},
                           {"ByPositionThreaded", ByPosition<kThreaded>},
                           {"PicturesInline", Pictures<kInline>},
                           {"PicturesThreaded", Pictures<kThreaded>},
                           {"SideBySideInline", SideBySide<kInline>},
                           {"SideBySideThreaded", SideBySide<kThreaded>},
                           {"ACopyInTheCache", ACopyInTheCache},
                           {"AWholeFile", AWholeFile},
                           {"ALookup", ALookup},
                           {"AList", AList}};

class StopWaits : public ::testing::TestWithParam<std::tuple<Reader, Wait>> {};

// Begins `work`, asks it to stop once `waits` holds, and expects it to come back. Returns the
// seconds between.
double ExpectToStop(const Work& work, const std::function<bool()>& waits) {
  std::atomic<bool> stop{false}, ended{false};
  Status status;
  std::thread reader([&] {
    status = work(stop);
    ended = true;
  });
  while (!waits() && !ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // into the wait
  EXPECT_FALSE(ended);
  const Stopwatch watch;
  stop = true;
  reader.join();
  const double seconds = watch.ElapsedSeconds();
  EXPECT_LT(seconds, kPrompt);
  EXPECT_EQ(status.code(), StatusCode::kCancelled) << status.ToString();
  return seconds;
}

double SecondsToStop(const Reader& reader, const Wait& wait) {
  const TempDir cache;
  StallingServer server(wait);
  const ScopedRemoteOptions options({.retries = 1,
                                     .timeout = kStall,
                                     .cache = cache / "cache",
                                     .endpoint = server.root(),
                                     .anonymous = true});
  const Result<Work> work = reader.make(server.root());
  EXPECT_THAT(work, IsOk());
  if (!work.ok()) return kPrompt;
  server.Stall();
  const double seconds = ExpectToStop(*work, [&] { return server.HasStalled(); });
  // Nothing goes on asking for a pass that has ended. On a busy machine the server meets what was
  // sent before only now.
  std::this_thread::sleep_for(2 * kAskStopEvery);
  const int asked = server.stalled();
  std::this_thread::sleep_for(2 * kAskStopEvery);
  EXPECT_EQ(server.stalled(), asked);
  return seconds;
}

TEST_P(StopWaits, EndWithinASecondAfterThePassIsAskedToStopInTheMedian) {
  const auto& [reader, wait] = GetParam();
  std::vector<double> seconds;
  for (int round = 0; round < kRounds; ++round) seconds.push_back(SecondsToStop(reader, wait));
  EXPECT_LT(Median(seconds), 1);
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<Reader, Wait>>& test) {
  return fmt::format("{}{}", std::get<0>(test.param).name, std::get<1>(test.param).name);
}

INSTANTIATE_TEST_SUITE_P(Servers, StopWaits,
                         ::testing::Combine(::testing::ValuesIn(kReaders),
                                            ::testing::ValuesIn(kWaits)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Lookups, StopWaits,
                         ::testing::Combine(::testing::ValuesIn(kLookups),
                                            ::testing::Values(kWaits[0], kWaits[1], kWaits[3])),
                         NameOf);

// Every source, from a server that answers a number of requests of a pass and no more.
struct StopKind {
  std::string name, stages;  // names of files begin with `$/`
  std::function<void(const TempDir&)> make;
};

void PrintTo(const StopKind& kind, std::ostream* out) { *out << kind.name; }

// The test is skipped where Stoker was built without Arrow.
std::function<void(const TempDir&)> Table(TableFormat format) {
  return [format](const TempDir& dir) {
    const Status written =
        WriteTestTable(format, dir / "x.table",
                       {.columns = {{"t", "string", "[\"one\", \"two\", \"three\"]"}},
                        .group_rows = 2,
                        .compression = "none"});
    if (written.code() == StatusCode::kUnavailable) GTEST_SKIP() << written.message();
    STOKER_ASSERT_OK(written);
  };
}

std::vector<StopKind> StopKinds() {
  std::vector<StopKind> kinds;
  for (const DamagedKind& kind : DamagedKinds())
    kinds.push_back({kind.name, kind.stages, kind.make});
  kinds.push_back(
      {"files", "files: {path: [$/a.jpg, $/b.jpg], read: true}", damaged_kinds::MakeList});
  kinds.push_back(
      {"folder", "folder: {path: s3://bucket/f, extensions: [jpg]}", [](const TempDir& dir) {
         std::filesystem::create_directories(dir / "f/a");
         WriteFast(dir / "f/a/1.jpg", "one");
         WriteFast(dir / "f/a/2.jpg", "two");
       }});
  for (const auto& [name, format] :
       {std::pair{"parquet", TableFormat::kParquet}, std::pair{"arrow", TableFormat::kArrow}}) {
    kinds.push_back({name, fmt::format("{}: {{files: $/x.table}}", name), Table(format)});
  }
  for (StopKind& kind : kinds) {
    std::erase(kind.name, '.');
    // On a server a database is one file.
    if (kind.name == "lmdb") kind.stages = "lmdb: {path: $/x.lmdb/data.mdb}";
  }
  return kinds;
}

// What is in a directory, as a web server and as a store that lists it has it. From the request
// `stalls_at` on, counted from 0, it says nothing.
class DirectoryServer {
 public:
  DirectoryServer(std::filesystem::path root, int stalls_at)
      : root_(std::move(root)),
        stalls_at_(stalls_at),
        server_([this](const LoopbackRequest& request, int number) {
          if (number < stalls_at_) return AnswerTo(request);
          ++stalled_;
          return LoopbackAnswer{.silent = true};
        }) {}
  std::string root() const { return server_.root(); }
  int requests() const { return server_.requests(); }
  bool HasStalled() const { return stalled_ > 0; }

 private:
  LoopbackAnswer AnswerTo(const LoopbackRequest& request) const {
    std::string path = request.target.substr(0, request.target.find('?'));
    if (request.target.find("list-type=2") != std::string::npos) return List();
    if (path.starts_with("/bucket/")) path.erase(0, std::string_view("/bucket").size());
    const std::string file = root_.native() + path;
    if (!std::filesystem::is_regular_file(file)) return {.status = 404};
    return ServeContent(request, *ReadTextFile(file));
  }
  LoopbackAnswer List() const {
    std::string keys;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      if (entry.is_regular_file())
        keys += fmt::format("<Contents><Key>{}</Key><Size>{}</Size><ETag>\"v1\"</ETag></Contents>",
                            entry.path().lexically_relative(root_).string(), entry.file_size());
    }
    return {.body = fmt::format(
                "<ListBucketResult><IsTruncated>false</IsTruncated>{}</ListBucketResult>", keys)};
  }

  const std::filesystem::path root_;
  const int stalls_at_;
  std::atomic<int> stalled_{0};
  const LoopbackServer server_;
};

class StopWaitsOfSources : public ::testing::TestWithParam<StopKind> {
 protected:
  // Builds the pipeline and reads all of it, as work that can be stopped.
  Work Reading(const DirectoryServer& server) const {
    return [stages = GetParam().stages, root = server.root()](const std::atomic<bool>& stop) {
      const StopScope scope([&stop] { return stop.load(); });
      STOKER_ASSIGN_OR_RETURN(const Dataset dataset, OpenStages(stages, root));
      return ReadAll(dataset, {.kind = kThreaded, .threads = 2, .stop = &stop}).status();
    };
  }
};

TEST_P(StopWaitsOfSources, EndWithinASecondInTheMedianAtWhicheverRequestTheServerFallsSilent) {
  const TempDir dir;
  GetParam().make(dir);
  if (IsSkipped()) return;
  const auto options = [](const DirectoryServer& server, const TempDir& cache) {
    return RemoteOptions{.retries = 1,
                         .timeout = kStall,
                         .cache = cache / "cache",
                         .endpoint = server.root(),
                         .path_style = "true",
                         .anonymous = true};
  };
  int requests = 0;
  {
    const TempDir cache;
    const DirectoryServer whole(dir.path(), /*stalls_at=*/1 << 20);
    const ScopedRemoteOptions scope(options(whole, cache));
    STOKER_ASSERT_OK(Reading(whole)(false));
    requests = whole.requests();
  }
  ASSERT_GT(requests, 0);
  std::vector<double> seconds;
  for (int round = 0; round < std::max(requests, kRounds); ++round) {
    const int stalls_at = round % requests;
    SCOPED_TRACE(fmt::format("request {} of {}", stalls_at, requests));
    const TempDir cache;
    const DirectoryServer server(dir.path(), stalls_at);
    const ScopedRemoteOptions scope(options(server, cache));
    seconds.push_back(ExpectToStop(Reading(server), [&] { return server.HasStalled(); }));
  }
  EXPECT_LT(Median(seconds), 1);
}

INSTANTIATE_TEST_SUITE_P(All, StopWaitsOfSources, ::testing::ValuesIn(StopKinds()),
                         [](const auto& test) { return test.param.name; });

TEST(StopWaitsKinds, HaveEverySource) {
  // range waits for nothing.
  EXPECT_THAT(SourcesWithoutKind(StopKinds()), testing::IsSubsetOf({"range"}))
      << "add a source to StopKinds, or to what is left out with the reason";
}

bool AtOnce() { return true; }

TEST(StopWaits, ForAPipeEndWithinASecondInTheMedian) {
  std::vector<double> seconds;
  for (int round = 0; round < kRounds; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const auto start = MakePipeStart(ends[0], 100);
    // The second waits for the first.
    const auto read = [&] {
      STOKER_ASSIGN_OR_RETURN(const auto source, OpenPipe(start));
      std::byte first;
      return source->Read({&first, 1}).status();
    };
    double of_other = 0;
    std::thread other([&] { of_other = ExpectToStop(InScope(read), AtOnce); });
    const double of_this = ExpectToStop(InScope(read), AtOnce);
    other.join();
    seconds.push_back(std::max(of_this, of_other));
    ::close(ends[0]);
    ::close(ends[1]);
  }
  EXPECT_LT(Median(seconds), 1);
}

TEST(StopWaits, ForTheWriterOfANamedPipeEndWithinASecondInTheMedian) {
  std::vector<double> without_writer, without_end;
  for (int round = 0; round < kRounds; ++round) {
    const TempDir dir;
    const std::string path = dir / "fifo";
    ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
    const auto read = [&] { return ReadTextFile(path).status(); };
    without_writer.push_back(ExpectToStop(InScope(read), AtOnce));
    const int writer = ::open(path.c_str(), O_RDWR);
    ASSERT_EQ(::write(writer, "half", 4), 4);
    without_end.push_back(ExpectToStop(InScope(read), AtOnce));
    ::close(writer);
  }
  EXPECT_LT(Median(without_writer), 1);
  EXPECT_LT(Median(without_end), 1);
}

// Where an element cannot be broken off, the caller comes back all the same.
TEST(StopWaits, ForAnElementOfAnotherThreadEndBeforeThatElementDoes) {
  std::atomic<bool> began{false}, release{false};
  const Map slow{.function = [&](Element&, Rng&, Scratch&) {
    began = true;
    // Ends in any case, so that a consumer who waits for it fails the test and does not hang in it.
    const Stopwatch watch;
    while (!release && watch.ElapsedSeconds() < kStall)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return OkStatus();
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(NumberedImages(10)) | slow | Prefetch{});
  std::atomic<bool> stop{false};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass,
                              dataset.Open({.kind = kThreaded, .threads = 2, .stop = &stop}));
  std::thread stopper([&] {
    while (!began) std::this_thread::yield();
    stop = true;
  });
  const Stopwatch watch;
  EXPECT_THAT(pass->Next(), FailsWith(StatusCode::kCancelled, "asked to stop"));
  EXPECT_LT(watch.ElapsedSeconds(), kPrompt);
  release = true;
  stopper.join();
}

}  // namespace stoker::stop_waits_test
