// When ignore_errors ends the pass, what it counts, logs and says.
#include <fstream>
#include <set>

#include "stoker/data/ops/ignore_errors_testing_internal.h"
#include "stoker/data/ops/window.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(IgnoreErrors, LimitsEndThePassAtTheSameElementUnderEveryRuntimeAndAfterAResume) {
  const IgnoreErrors skip{.limit = 4, .share = 1};
  const IgnoreErrors replace{.policy = "replace", .limit = 4, .share = 1};
  for (const Result<Dataset>& dataset : LosingPipelines(skip, replace)) {
    SCOPED_TRACE(dataset->ToString());
    const Outcome expected = Finish(*dataset, Runtime::Inline());
    EXPECT_THAT(expected.error, FailsWith(StatusCode::kDataLoss, "5"));
    EXPECT_THAT(expected.error.message(), HasSubstr("only 4 may (limit 4)"));
    EXPECT_THAT(expected.error.message(), HasSubstr("the first: data loss: images.bin: byte"));
    EXPECT_THAT(expected.error.message(), HasSubstr("the last: data loss: images.bin: byte"));
    for (const Runtime& runtime : kRuntimes)
      ASSERT_EQ(Finish(*dataset, runtime).Text(), expected.Text()) << runtime.threads;
    for (size_t at = 0; at <= expected.elements.size(); ++at) {
      const Runtime& runtime = kRuntimes[at % 4];
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(runtime, {.seed = 5}));
      for (size_t i = 0; i < at; ++i) STOKER_ASSERT_OK(iterator->Next());
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
      const std::vector<Element> rest(expected.elements.begin() + static_cast<std::ptrdiff_t>(at),
                                      expected.elements.end());
      ASSERT_EQ(Finish(*dataset, kRuntimes[at / 4 % 4], &state).Text(),
                Fingerprint(rest) + expected.error.ToString());
    }
  }
}

TEST(IgnoreErrors, TheShareIsOfTheElementsSeenAndOfAThousandBefore) {
  const auto run = [](const Dataset& source, double share) {
    return Finish(*(Result<Dataset>(source) | FailEveryTenth() | IgnoreErrors{.share = share}),
                  Runtime::Threaded(2));
  };
  STOKER_EXPECT_OK(run(NumberedImages(2000), 0.1).error);
  STOKER_EXPECT_OK(run(StreamedImages(2000), 0.1).error);
  // 50 of 1,000 may: the 51st has label 503.
  const Outcome outcome = run(StreamedImages(2000), 0.05);
  EXPECT_EQ(outcome.elements.size(), 503u - 50u);
  EXPECT_THAT(outcome.error, FailsWith(StatusCode::kDataLoss,
                                       "51 of 504 elements of this epoch have failed, but only 50 "
                                       "may (share 0.05)"));
  EXPECT_THAT(outcome.error.message(), HasSubstr("name a log to see them all"));
  // An epoch of 100 is known to be one: 5 of them may. Of a stream that is known at its end.
  EXPECT_EQ(run(NumberedImages(100), 0.05).elements.size(), 53u - 5u);
  EXPECT_EQ(run(StreamedImages(100), 0.05).elements.size(), 90u);
  EXPECT_THAT(run(StreamedImages(100), 0.05).error,
              FailsWith(StatusCode::kDataLoss, "10 of 100 elements of this epoch have failed"));
  // One always may, where any may.
  STOKER_EXPECT_OK(run(NumberedImages(10), 0.01).error);
  EXPECT_THAT(run(NumberedImages(10), 0).error, FailsWith(StatusCode::kDataLoss, "only 0 may"));
}

TEST(IgnoreErrors, AShareOfAllIsNoLimitForElementsThatAreReadOften) {
  const auto run = [](double share) {
    return Finish(
        *(NumberedImages(40) | FailEveryTenth() |
          IgnoreErrors{.policy = "replace", .share = share} | Window{.size = 20, .shift = 1}),
        Runtime::Threaded(2));
  };
  STOKER_EXPECT_OK(run(1).error);
  EXPECT_EQ(run(1).elements.size(), 40u);
  EXPECT_THAT(run(0.99).error, FailsWith(StatusCode::kDataLoss, "only 40 may (share 0.99)"));
}

TEST(IgnoreErrors, LimitsCountWithinAnEpoch) {
  for (const char* policy : {"skip", "replace"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                NumberedImages(40) | FailEveryTenth() |
                                    IgnoreErrors{.policy = policy, .limit = 4, .share = 1} |
                                    Repeat{.count = 5});
    const Outcome outcome = Finish(dataset, Runtime::Threaded(2));
    STOKER_EXPECT_OK(outcome.error);
    const StageProfile& stage = Stage(outcome.profile, "ignore_errors");
    EXPECT_EQ(stage.skipped + stage.replaced, 20);
  }
}

TEST(IgnoreErrors, LogsEveryElementOnceInTheOrderOfThePassUnderEveryRuntime) {
  const TempDir dir;
  const IgnoreErrors skip{.share = 1, .log = dir / "bad.jsonl"};
  const IgnoreErrors replace{.policy = "replace", .share = 1, .log = dir / "bad.jsonl"};
  for (const Result<Dataset>& dataset : LosingPipelines(skip, replace)) {
    std::vector<std::string> expected;
    for (const Runtime& runtime : kRuntimes) {
      std::filesystem::remove(dir / "bad.jsonl");
      STOKER_ASSERT_OK(Finish(*dataset, runtime).error);
      const std::vector<std::string> lines = LinesOf(dir / "bad.jsonl");
      if (expected.empty()) expected = lines;
      ASSERT_EQ(lines, expected) << dataset->ToString();
    }
    EXPECT_GE(expected.size(), 10u);
    EXPECT_EQ(std::set<std::string>(expected.begin(), expected.end()).size(), expected.size());
  }
  // The last pipeline lost them in the order of the source.
  EXPECT_EQ(Json::parse(LinesOf(dir / "bad.jsonl")[1]),
            Json::parse(R"({"epoch": 0, "index": 13, "stage": "map", "action": "replaced",
                            "file": "images.bin", "offset": 208,
                            "reason": "data loss: images.bin: byte 208: element 13 is bad"})"));
}

TEST(IgnoreErrors, SaysAtTheEndOfAnEpochWhatItHasCostAndNotTheSameTwice) {
  const TempDir dir;
  for (const char* policy : {"skip", "replace"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Dataset dataset,
        NumberedImages(40) | FailEveryTenth() |
            IgnoreErrors{.policy = policy, .share = 1, .log = dir / "bad.jsonl"} |
            Repeat{.count = 3});
    testing::internal::CaptureStderr();
    STOKER_ASSERT_OK(Finish(dataset, Runtime::Threaded(2)).error);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    EXPECT_THAT(said, HasSubstr("elements failed and were " + std::string(policy)));
    EXPECT_THAT(said, HasSubstr("the first: data loss: images.bin: byte 48: element 3 is bad"));
    EXPECT_THAT(said, HasSubstr("all are in " + dir / "bad.jsonl"));
  }
}

TEST(IgnoreErrors, SavesAReasonThatIsNoUtf8AndOneThatIsCutWithinACharacter) {
  for (const std::string& reason :
       {std::string("\xff.jpg: is bad"), std::string(299, 'x') + "\u00e9"}) {
    const Map fails{.function = [&](Element&, Rng&, Scratch&) { return DataLoss("{}", reason); }};
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                NumberedImages(4) | fails | IgnoreErrors{.share = 1});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
    STOKER_ASSERT_OK(iterator->Next());
    STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
    EXPECT_NO_THROW(static_cast<void>(state.dump()));
  }
}

TEST(IgnoreErrors, SummariesNameTheEpochThatWasRestored) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(40) | FailEveryTenth() | IgnoreErrors{.share = 1});
  STOKER_ASSERT_OK_AND_ASSIGN(auto saved, dataset.Open(Runtime::Inline(), {.epoch = 5}));
  STOKER_ASSERT_OK(saved->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
  testing::internal::CaptureStderr();
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset.Open(Runtime::Inline()));
    STOKER_ASSERT_OK(resumed->Restore(state));
    STOKER_ASSERT_OK(ReadAll(*resumed));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("epoch 5: "));
}

TEST(IgnoreErrors, ALogThatCannotBeWrittenIsAnErrorAtOnce) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(9) | IgnoreErrors{.log = "/no/such/folder/bad.jsonl"});
  EXPECT_THAT(dataset.Open(Runtime::Inline()),
              FailsWith(StatusCode::kNotFound, "/no/such/folder/bad.jsonl"));
}

TEST(IgnoreErrors, RefusesDamagedCounts) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset skips, NumberedImages(40) | IgnoreErrors{});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset replaces,
                              NumberedImages(40) | IgnoreErrors{.policy = "replace"});
  const std::pair<const Dataset*, Json> kBroken[] = {
      {&skips, {{"seed", 0}, {"seen", 1}, {"first", ""}}},
      {&skips, {{"seed", 0}, {"seen", 1}, {"failed", 1}}},
      {&replaces, {{"seed", 0}, {"epoch", 0}, {"position", 1}, {"failed", 7}}},
      {&replaces, {{"seed", 0}, {"epoch", 0}, {"position", 1}, {"failed", {{{"stage", 1}}}}}},
  };
  for (const auto& [dataset, state] : kBroken) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(Runtime::Threaded(2)));
    EXPECT_EQ(iterator->Restore(state).code(), StatusCode::kDataLoss) << state;
  }
}

}  // namespace
}  // namespace stoker
