// What ends a pass although the pipeline has a policy for elements that fail: trouble that says
// nothing about an element.
#include <chrono>
#include <fstream>
#include <new>
#include <system_error>
#include <thread>

#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/sources/folder.h"
#include "stoker/data/sources/list.h"
#include "stoker/data/testing/bad_elements.h"
#include "stoker/io/few_files_testing_internal.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"

namespace stoker::ignore_errors_trouble_test {

using testing::ElementsAre;

constexpr StatusCode kTrouble[] = {StatusCode::kUnavailable, StatusCode::kResourceExhausted,
                                   StatusCode::kPermissionDenied, StatusCode::kFailedPrecondition};
constexpr StatusCode kAboutTheSample[] = {StatusCode::kInvalidArgument, StatusCode::kNotFound,
                                          StatusCode::kDataLoss,        StatusCode::kOutOfRange,
                                          StatusCode::kUnimplemented,   StatusCode::kInternal};

// Element 3 fails with `code`.
Map FailThird(StatusCode code) {
  return {.function =
              [code](Element& element, Rng&, Scratch&) {
                return LabelOf(element) == 3 ? Status(code, "element 3 fails") : OkStatus();
              },
          .random = false};
}

// The elements of both kinds of source, losing what fails in every way that there is.
std::vector<Result<Dataset>> Tolerant(const Map& map) {
  const IgnoreErrors skip{.share = 1};
  const IgnoreErrors replace{.policy = "replace", .share = 1};
  return {NumberedImages(6) | map | skip, StreamedImages(6) | map | skip,
          StreamedImages(6) | map | Prefetch{} | skip, NumberedImages(6) | map | replace,
          NumberedImages(6) | map | Prefetch{} | replace};
}

TEST(IgnoreErrors, TroubleEndsThePassAtItsElementWhateverThePolicy) {
  for (const StatusCode code : kTrouble) {
    for (const Result<Dataset>& dataset : Tolerant(FailThird(code))) {
      SCOPED_TRACE(dataset->ToString());
      for (const Runtime& runtime : kRuntimes) {
        const Outcome outcome = Finish(*dataset, runtime);
        EXPECT_THAT(outcome.error, FailsWith(code, "element 3 fails"));
        EXPECT_THAT(Labels(outcome.elements), ElementsAre(0, 1, 2));
        for (const StageProfile& stage : outcome.profile.stages)
          EXPECT_EQ(stage.skipped + stage.replaced, 0) << stage.name;
      }
    }
  }
}

TEST(IgnoreErrors, APassThatTroubleEndsLeavesNoCacheOfWhatItHadRead) {
  const TempDir directory;
  const std::filesystem::path path = directory.path() / "kept";
  for (const Dataset& source : {NumberedImages(6), StreamedImages(6)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(source) | FailThird(StatusCode::kUnavailable) |
                                    IgnoreErrors{.share = 1} | Cache{.path = path});
    for (const Runtime& runtime : kRuntimes) {
      EXPECT_THAT(Finish(dataset, runtime).error, FailsWith(StatusCode::kUnavailable, "element 3"));
      EXPECT_FALSE(std::filesystem::exists(path));
    }
  }
}

TEST(IgnoreErrors, WhatIsWrongWithASampleIsLeftOut) {
  for (const StatusCode code : kAboutTheSample) {
    for (const Result<Dataset>& dataset : Tolerant(FailThird(code))) {
      SCOPED_TRACE(dataset->ToString());
      for (const Runtime& runtime : kRuntimes) STOKER_EXPECT_OK(Finish(*dataset, runtime).error);
    }
  }
}

TEST(IgnoreErrors, TroubleWhileAnotherElementIsDrawnEndsThePassToo) {
  const Map map{.function = [](Element& element, Rng&, Scratch&) {
    return LabelOf(element) == 3 ? DataLoss("element 3 is bad") : Unavailable("the server is away");
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      NumberedImages(6) | Skip{.count = 3} | map | IgnoreErrors{.policy = "replace", .share = 1});
  for (const Runtime& runtime : kRuntimes)
    EXPECT_THAT(Finish(dataset, runtime).error,
                FailsWith(StatusCode::kUnavailable, "the server is away"));
}

TEST(IgnoreErrors, MemoryThatRunsOutIsNoBadElementWhoeverAsksForIt) {
  const IgnoreErrors skip{.share = 1};
  const Map map{.function = [](Element& element, Rng&, Scratch&) -> Status {
    if (LabelOf(element) == 3) throw std::bad_alloc();
    return OkStatus();
  }};
  const Filter filter{.predicate = [](const Element& element) -> Result<bool> {
    if (LabelOf(element) == 3) throw std::bad_alloc();
    return true;
  }};
  const Dataset generator = FromGenerator({{{"x", DType::kInt64, {}}}}, [](uint64_t) {
    return [n = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (n++ == 3) throw std::bad_alloc();
      return Element{.arrays = {Array::Of(std::vector<int64_t>{n}).Reshaped({})}};
    };
  });
  for (const Runtime& runtime : kRuntimes) {
    for (const Dataset& source : {NumberedImages(6), StreamedImages(6)}) {
      for (const Result<Dataset>& dataset :
           {Result<Dataset>(source) | map | skip, Result<Dataset>(source) | filter | skip}) {
        const Outcome outcome = Finish(*dataset, runtime);
        EXPECT_THAT(outcome.error, FailsWith(StatusCode::kResourceExhausted, "out of memory"));
        EXPECT_THAT(Labels(outcome.elements), ElementsAre(0, 1, 2));
      }
    }
    EXPECT_THAT(
        Finish(*(Result<Dataset>(generator) | skip), runtime).error,
        FailsWith(StatusCode::kResourceExhausted, "element 3: the function: out of memory"));
  }
}

TEST(IgnoreErrors, AnErrorOfTheSystemThatAFunctionThrowsKeepsItsMeaning) {
  const auto throws = [](std::errc error) {
    return Map{.function = [error](Element& element, Rng&, Scratch&) -> Status {
      if (LabelOf(element) == 3) throw std::system_error(std::make_error_code(error), "x.bin");
      return OkStatus();
    }};
  };
  const IgnoreErrors skip{.share = 1};
  for (const Runtime& runtime : kRuntimes) {
    EXPECT_THAT(
        Finish(*(NumberedImages(6) | throws(std::errc::too_many_files_open) | skip), runtime).error,
        FailsWith(StatusCode::kResourceExhausted, "element 3: the function threw: x.bin"));
    STOKER_EXPECT_OK(
        Finish(*(NumberedImages(6) | throws(std::errc::no_such_file_or_directory) | skip), runtime)
            .error);
  }
}

class FilesInTrouble : public testing::Test {
 protected:
  static constexpr int64_t kFiles = 60;

  FilesInTrouble() {
    std::filesystem::create_directories(directory_.path() / "data" / "a");
    for (int64_t i = 0; i < kFiles; ++i)
      std::ofstream(directory_ / fmt::format("data/a/{:02}.txt", i)) << i;
  }
  Result<Dataset> Files(const IgnoreErrors& policy) const {
    return Source(Folder{.path = directory_ / "data", .extensions = {"txt"}}) | policy;
  }

  const TempDir directory_;
};

TEST_F(FilesInTrouble, AProcessWithTooManyOpenFilesLosesNoneOfThem) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "UndefinedBehaviorSanitizer looks at types through a pipe, which it cannot open";
#endif
  for (const IgnoreErrors& policy :
       {IgnoreErrors{.share = 1}, IgnoreErrors{.policy = "replace", .share = 1}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Files(policy));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all,
                                ReadAll(dataset, Runtime::Inline()));
    for (const Runtime& runtime : kRuntimes) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, dataset.Open(runtime));
      NoMoreFiles trouble;
      std::thread helper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        trouble.Lift();
      });
      const Result<std::vector<Element>> elements = ReadAll(*pass);
      helper.join();
      STOKER_ASSERT_OK(elements);
      EXPECT_EQ(Fingerprint(*elements), Fingerprint(all));
    }
  }
}

TEST_F(FilesInTrouble, AFileThatIsGoneIsTheFaultOfItsSample) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Files({.share = 1}));
  std::filesystem::remove(directory_ / "data/a/07.txt");
  for (const Runtime& runtime : kRuntimes) {
    const Outcome outcome = Finish(dataset, runtime);
    STOKER_EXPECT_OK(outcome.error);
    EXPECT_EQ(std::ssize(outcome.elements), kFiles - 1);
  }
}

// Nine files on a server, of which the sixth is asked for in vain `failures` times.
class ServersInTrouble : public testing::Test {
 protected:
  // What is known of a file holds for the process, so each pass has files of its own.
  Outcome ReadAll(const Runtime& runtime, int failures) {
    failures_left_ = failures;
    const int pass = passes_++;
    std::ofstream list(directory_ / "list.txt");
    for (int i = 0; i < 9; ++i) list << fmt::format("pass-{}/{}.txt\t{}\n", pass, i, i);
    list.close();
    const Result<Dataset> dataset =
        Source(List{.path = directory_ / "list.txt", .root = server_.root()}) |
        IgnoreErrors{.share = 1};
    return dataset.ok() ? Finish(*dataset, runtime) : Outcome{.error = dataset.status()};
  }

 private:
  const ScopedRemoteOptions options_{{.retries = 1}};
  const TempDir directory_;
  std::atomic<int> failures_left_{0};
  int passes_ = 0;
  const LoopbackServer server_{[this](const LoopbackRequest& request, int) -> LoopbackAnswer {
    if (request.target.ends_with("/5.txt") && failures_left_-- > 0) return {.status = 503};
    return ServeContent(request, request.target);
  }};
};

TEST_F(ServersInTrouble, AServerThatIsAwayEndsThePassAndCostsNoElement) {
  for (const Runtime& runtime : kRuntimes) {
    const Outcome passing = ReadAll(runtime, /*failures=*/1);  // one more try is made
    STOKER_EXPECT_OK(passing.error);
    EXPECT_EQ(passing.elements.size(), 9u);
    const Outcome lasting = ReadAll(runtime, /*failures=*/1000);
    EXPECT_THAT(lasting.error, FailsWith(StatusCode::kUnavailable, "5.txt"));
    EXPECT_EQ(lasting.elements.size(), 5u);
  }
}

}  // namespace stoker::ignore_errors_trouble_test
