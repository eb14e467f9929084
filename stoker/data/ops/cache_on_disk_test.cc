// cache with a path.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/sources/snapshot.h"
#include "stoker/data/testing/cached.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/elements/element_file.h"
#include "stoker/io/atomic_file.h"

namespace stoker::cache_on_disk_test {

using testing::HasSubstr;

// Runs `make` over a cache in `path` for a whole epoch, and gives what it said.
std::string RunAndListen(const Result<Dataset>& dataset) {
  testing::internal::CaptureStderr();
  EXPECT_THAT(ReadAll(*dataset, Runtime::Threaded(2)), IsOk());
  return testing::internal::GetCapturedStderr();
}

TEST(Cache, OnDiskInAFolderThatCannotBeWrittenToSaysWhereRelativePathsStart) {
  const TempDir dir;
  for (const std::string& path : {dir / "missing/x", std::string("/proc/self/x")}) {
    const Result<Dataset> cached = Result<Dataset>(NumberedImages(3)) | Cache{.path = path};
    const Status status = ReadAll(*cached, Runtime::Inline()).status();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(),
                testing::StartsWith(std::filesystem::path(path).parent_path().string()));
    EXPECT_THAT(status.message(), HasSubstr("a relative path of a recipe starts at data.root: give "
                                            "an absolute path"));
  }
}

TEST(Cache, OnDiskIsReadByLaterRunsWithoutMakingAnything) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const TempDir dir;
    std::atomic<int> calls = 0;
    const auto run = [&] {
      const Result<Dataset> cached = c.before(calls) | Cache{.path = dir / "cache"};
      return Fingerprint(*ReadAll(*cached, Runtime::Threaded(2)));
    };
    const std::string first = run();
    EXPECT_EQ(calls, 60);
    EXPECT_EQ(run(), first);
    EXPECT_EQ(calls, 60);
  }
}

TEST(Cache, OnDiskIsNotMadeAnewWhereWhatItWasMadeFromCannotBeLookedAt) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteSnapshot(NumberedImages(20), dir / "source"));
  std::atomic<int> calls = 0;
  const auto cached = [&] {
    return Source(Snapshot{.path = dir / "source"}) | Costly(calls) | Cache{.path = dir / "cache"};
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset first, cached());
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset again, cached());
  STOKER_ASSERT_OK(ReadAll(first, Runtime::Inline()));
  std::filesystem::remove(dir / "source");
  std::filesystem::create_symlink("source", dir / "source");  // it leads to itself
  EXPECT_THAT(ReadAll(again, Runtime::Inline()).status().message(),
              HasSubstr("source: cannot look at"));
  EXPECT_EQ(calls, 20);
}

TEST(Cache, OnDiskIsMadeAnewAndSaysSoWhereWhatItWasMadeFromHasChanged) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteSnapshot(NumberedImages(20), dir / "source"));
  std::atomic<int> calls = 0;
  const auto over = [&](const Cache& cache, int64_t take) {
    return Source(Snapshot{.path = dir / "source"}) | Take{.count = take} | Costly(calls) | cache;
  };
  const Cache cache{.path = dir / "cache"};
  EXPECT_EQ(RunAndListen(over(cache, 20)), "");
  EXPECT_EQ(RunAndListen(over(cache, 20)), "");
  EXPECT_EQ(calls, 20);
  // Another option before it.
  EXPECT_THAT(RunAndListen(over(cache, 15)), HasSubstr("was made by another pipeline"));
  EXPECT_EQ(calls, 35);
  EXPECT_EQ(RunAndListen(over(cache, 15)), "");
  // Another key.
  EXPECT_THAT(RunAndListen(over({.path = dir / "cache", .key = "2"}, 15)),
              HasSubstr("it is made anew"));
  EXPECT_EQ(calls, 50);
  // Another file of the same name.
  STOKER_ASSERT_OK(WriteSnapshot(NumberedImages(20), dir / "source"));
  EXPECT_THAT(RunAndListen(over({.path = dir / "cache", .key = "2"}, 15)), HasSubstr("source: "));
  EXPECT_EQ(calls, 65);
}

TEST(Cache, OnDiskIsMadeAnewWhereAnOptionOfARecipeOrAVocabularyIsAnother) {
  const TempDir dir;
  const auto values = [&](const std::string& stages) {
    const Result<Dataset> dataset =
        FromRecipe(fmt::format("{}- cache: {{path: {}}}\n", stages, dir / "cache"));
    EXPECT_THAT(dataset, IsOk());
    return Labels(*ReadAll(*dataset, Runtime::Inline()), 0);
  };
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a.csv", "a,b,c\n1,10,cat\n2,NA,dog\n"));
  const auto csv = [&](const std::string& fields) {
    return fmt::format("- csv: {{files: {}, na_values: [NA], fields: {{{}}}}}\n", dir / "a.csv",
                       fields);
  };
  const QuietLog quiet;
  EXPECT_THAT(values(csv("x: {type: int64, columns: [a]}")), testing::ElementsAre(1, 2));
  EXPECT_THAT(values(csv("x: {type: int64, columns: [b], default: 7}")),
              testing::ElementsAre(10, 7));
  EXPECT_THAT(values(csv("x: {type: int64, columns: [b], default: 8}")),
              testing::ElementsAre(10, 8));
  const std::string lookup =
      csv("c: text") + fmt::format("- lookup: {{field: c, vocabulary: {}}}\n", dir / "words");
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "words", "cat\ndog\n"));
  EXPECT_THAT(values(lookup), testing::ElementsAre(0, 1));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "words", "dog\ncat\n"));
  EXPECT_THAT(values(lookup), testing::ElementsAre(1, 0));
}

TEST(Cache, OnDiskIsMadeAnewWhereArraysHoldOtherValues) {
  const TempDir dir;
  const auto over = [&](uint8_t value) {
    return FromArrays({{"x", Array::Of(std::vector<uint8_t>(20, value))}}) |
           Cache{.path = dir / "cache"};
  };
  EXPECT_EQ(RunAndListen(over(1)), "");
  EXPECT_EQ(RunAndListen(over(1)), "");
  EXPECT_THAT(RunAndListen(over(2)), HasSubstr("arrays with checksum"));
}

TEST(Cache, OnDiskIsNeverWrittenOverAFileOfAnotherKindOrOneThatThePipelineReads) {
  const TempDir dir;
  std::ofstream(dir / "notes.txt") << "precious notes";
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset notes,
                              NumberedImages(9) | Cache{.path = dir / "notes.txt"});
  EXPECT_THAT(notes.Open(Runtime::Inline()),
              FailsWith(StatusCode::kFailedPrecondition, "another kind of file"));
  STOKER_ASSERT_OK(WriteSnapshot(NumberedImages(20), dir / "source"));
  EXPECT_THAT(Source(Snapshot{.path = dir / "source"}) | Cache{.path = dir / "./source"},
              FailsWith(StatusCode::kInvalidArgument, "reads"));
  EXPECT_THAT(Source(Snapshot{.path = dir / "source"}) | IgnoreErrors{.log = dir / "source"},
              FailsWith(StatusCode::kInvalidArgument, "reads"));
  std::ofstream(dir / "empty").close();
  STOKER_EXPECT_OK(ReadAll(*(NumberedImages(9) | Cache{.path = dir / "empty"}), Runtime::Inline()));
}

TEST(Cache, OnDiskIsNotTrustedWhereItIsDamaged) {
  const TempDir dir;
  std::atomic<int> calls = 0;
  const Cache cache{.path = dir / "cache"};
  EXPECT_EQ(RunAndListen(NumberedImages(20) | Costly(calls) | cache), "");
  const auto size = std::filesystem::file_size(dir / "cache");
  std::filesystem::resize_file(dir / "cache", size - 1);
  EXPECT_THAT(RunAndListen(NumberedImages(20) | Costly(calls) | cache),
              HasSubstr("it is made anew"));
  EXPECT_EQ(calls, 40);
  {
    std::fstream file(dir / "cache", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));  // in a record
    file.put('\x55');
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(20) | Costly(calls) | cache);
  EXPECT_THAT(ReadAll(dataset, Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "the file is damaged: remove it"));
}

TEST(Cache, HalfWrittenByAKilledRunIsNeverTrusted) {
  for (const bool by_position : {true, false}) {
    const TempDir dir;
    std::atomic<int> calls = 0;
    const auto make = [&] {
      return (by_position ? NumberedImages(50) : StreamedImages(50)) | Costly(calls) |
             Cache{.path = dir / "cache"};
    };
    const pid_t child = ::fork();
    if (child == 0) {
      const Result<Dataset> dataset = make();
      const auto iterator = dataset->Open(Runtime::Inline());
      for (int i = 0; i < 40; ++i) (void)(*iterator)->Next();
      ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_FALSE(std::filesystem::is_empty(dir.path()));  // the temporary
    EXPECT_FALSE(std::filesystem::exists(dir / "cache"));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got,
                                ReadAll(*make(), Runtime::Threaded(2)));
    EXPECT_EQ(got.size(), 50u);
    EXPECT_EQ(calls, 50);
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
      names.push_back(entry.path().filename());
    EXPECT_THAT(names, testing::ElementsAre("cache"));  // and the temporary is gone
  }
}

TEST(Cache, SeveralProcessesMakeAndUseOneFile) {
  const TempDir dir;
  std::atomic<int> calls = 0;
  const auto make = [&] {
    return NumberedImages(400) | Costly(calls) | Cache{.path = dir / "cache"} | Shuffle{} |
           Repeat{.count = 3};
  };
  const std::string expected = [&] {
    const TempDir other;
    return Fingerprint(*ReadAll(*(NumberedImages(400) | Costly(calls) |
                                  Cache{.path = other / "cache"} | Shuffle{} | Repeat{.count = 3}),
                                Runtime::Inline()));
  }();
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Result<std::vector<Element>> got = ReadAll(*make(), Runtime::Inline());
      ::_exit(got.ok() && Fingerprint(*got) == expected ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  STOKER_EXPECT_OK(ElementFile::Open(dir / "cache"));
}

TEST(Cache, RanksShareOneFileAlthoughEachReadsAPart) {
  const TempDir dir;
  std::atomic<int> calls = 0;
  std::vector<int64_t> labels;
  for (const int64_t rank : {0, 1, 2}) {
    // As in processes of their own, each describes the pipeline anew.
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(30) | Costly(calls) |
                                                           Cache{.path = dir / "cache"} |
                                                           Shuffle{});
    for (const uint64_t epoch : {0, 1}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> share,
                                  ReadAll(dataset, Runtime::Threaded(2),
                                          {.seed = 1, .epoch = epoch, .rank = rank, .world = 3}));
      const std::vector<int64_t> more = Labels(share);
      if (epoch == 0) labels.insert(labels.end(), more.begin(), more.end());
    }
    EXPECT_EQ(calls, 30) << "rank " << rank;  // the first has made it for all
  }
  std::ranges::sort(labels);
  EXPECT_EQ(labels, Labels(*ReadAll(NumberedImages(30), Runtime::Inline())));
}

TEST(Cache, ARankWhoseFileCannotBeMadeWholeGoesOnWithoutIt) {
  const TempDir dir;
  const Map fail{.function =
                     [](Element& element, Rng&, Scratch&) {
                       return element.key.index == 5 ? DataLoss("element 5 is bad") : OkStatus();
                     },
                 .random = false};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(20) | fail | Cache{.path = dir / "cache"});
  testing::internal::CaptureStderr();
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> even,
                              ReadAll(dataset, Runtime::Inline(), {.rank = 0, .world = 2}));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("is not made, as element 5 is bad"));
  EXPECT_EQ(even.size(), 10u);
  EXPECT_FALSE(std::filesystem::exists(dir / "cache"));
}

TEST(Cache, SaysWhereItsFileCannotBeWritten) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(9) | Cache{.path = "/no/such/folder/cache"});
  EXPECT_THAT(ReadAll(dataset, Runtime::Inline()).status().message(), HasSubstr("/no/such/folder"));
}

}  // namespace stoker::cache_on_disk_test
