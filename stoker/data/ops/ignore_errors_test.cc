#include "stoker/data/ops/ignore_errors.h"

#include <fstream>
#include <set>

#include "stoker/data/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/registry.h"
#include "stoker/data/testing.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Runtime kRuntimes[] = {Runtime::Inline(), Runtime::Threaded(1), Runtime::Threaded(2),
                             Runtime::Threaded(8)};

int64_t LabelOf(const Element& element) { return element.arrays[1].values<int64_t>()[0]; }

// Every tenth fails, the first time with label 3.
Map FailEveryTenth() {
  return {.function = [](Element& element, Rng&, Scratch&) {
    const int64_t label = LabelOf(element);
    if (label % 10 == 3)
      return DataLoss("images.bin: byte {}: element {} is bad", 16 * label, label);
    return OkStatus();
  }};
}

// What a pass gave, and the error that ended it.
struct Outcome {
  std::vector<Element> elements;
  Status error;
  Profile profile;

  std::string Text() const { return Fingerprint(elements) + error.ToString(); }
};

Outcome Finish(const Dataset& dataset, const Runtime& runtime, const Json* state = nullptr) {
  Outcome outcome;
  Result<std::unique_ptr<Iterator>> iterator = dataset.Open(runtime, {.seed = 5});
  if (!iterator.ok()) return {.error = iterator.status()};
  if (state != nullptr) {
    EXPECT_THAT((*iterator)->Restore(*state), IsOk());
  }
  while (true) {
    Result<std::optional<Element>> element = (*iterator)->Next();
    outcome.error = element.status();
    if (!element.ok() || !*element) break;
    outcome.elements.push_back(**std::move(element));
  }
  outcome.profile = (*iterator)->GetProfile();
  return outcome;
}

const StageProfile& Stage(const Profile& profile, std::string_view name) {
  for (const StageProfile& stage : profile.stages)
    if (stage.name == name) return stage;
  ADD_FAILURE() << "no stage " << name;
  return profile.stages.front();
}

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Labels 0..n-1 without those that fail.
std::vector<int64_t> GoodLabels(int64_t n) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n; ++i)
    if (i % 10 != 3) labels.push_back(i);
  return labels;
}

TEST(IgnoreErrors, SkipLeavesOutWhatFailsAndBatchesStayFull) {
  for (const Dataset& source : {NumberedImages(95), StreamedImages(95)}) {
    for (const Runtime& runtime : kRuntimes) {
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                  Result<Dataset>(source) | FailEveryTenth() |
                                      IgnoreErrors{.share = 1} | Batch{.size = 10} | Prefetch{});
      const Outcome outcome = Finish(dataset, runtime);
      STOKER_ASSERT_OK(outcome.error);
      EXPECT_EQ(Labels(outcome.elements), GoodLabels(95));
      for (size_t b = 0; b + 1 < outcome.elements.size(); ++b)
        EXPECT_EQ(outcome.elements[b].arrays[1].shape(), Shape{10});
      EXPECT_EQ(Stage(outcome.profile, "map").errors, 10);
      EXPECT_EQ(Stage(outcome.profile, "ignore_errors").skipped, 10);
      EXPECT_EQ(Stage(outcome.profile, "ignore_errors").errors, 0);
      EXPECT_EQ(Stage(outcome.profile, "ignore_errors").elements, 85);
    }
  }
}

TEST(IgnoreErrors, ReplaceGivesOtherElementsOfTheEpochByPosition) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(95) | FailEveryTenth() |
                                  IgnoreErrors{.policy = "replace", .share = 1} | Shuffle{} |
                                  Batch{.size = 10} | Prefetch{});
  EXPECT_TRUE(dataset.node().random_access());
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(10));
  const Outcome expected = Finish(dataset, Runtime::Inline());
  STOKER_ASSERT_OK(expected.error);
  const std::vector<int64_t> labels = Labels(expected.elements);
  ASSERT_EQ(labels.size(), 95u);
  const std::set<int64_t> distinct(labels.begin(), labels.end());
  const std::vector<int64_t> good = GoodLabels(95);
  EXPECT_EQ(distinct, std::set<int64_t>(good.begin(), good.end()));  // none is lost
  for (const Runtime& runtime : kRuntimes) {
    const Outcome outcome = Finish(dataset, runtime);
    EXPECT_EQ(outcome.Text(), expected.Text());
    EXPECT_EQ(Stage(outcome.profile, "ignore_errors").replaced, 10);
  }
}

TEST(IgnoreErrors, TheSameElementsAreReplacedAlikeInEveryPassAndOtherwiseInAnotherEpoch) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      NumberedImages(60) | FailEveryTenth() | IgnoreErrors{.policy = "replace", .share = 1});
  const auto labels = [&](const PassOptions& pass) {
    return Labels(*ReadAll(dataset, Runtime::Threaded(2), pass));
  };
  EXPECT_EQ(labels({.seed = 1}), labels({.seed = 1}));
  EXPECT_NE(labels({.seed = 1}), labels({.seed = 2}));
  EXPECT_NE(labels({.seed = 1}), labels({.seed = 1, .epoch = 1}));
}

// Pipelines that lose some, by position and in order, in every place of the chain.
std::vector<Result<Dataset>> LosingPipelines(const IgnoreErrors& skip,
                                             const IgnoreErrors& replace) {
  return {
      NumberedImages(95) | Shuffle{} | FailEveryTenth() | skip | Batch{.size = 4} | Prefetch{},
      StreamedImages(95) | FailEveryTenth() | skip | Batch{.size = 4} | Prefetch{},
      StreamedImages(95) | FailEveryTenth() | Prefetch{} | skip | Repeat{.count = 2},
      NumberedImages(95) | FailEveryTenth() | replace | Shuffle{} | Batch{.size = 4} | Prefetch{},
      NumberedImages(95) | FailEveryTenth() | replace | Repeat{.count = 3} | Batch{.size = 7},
      NumberedImages(95) | FailEveryTenth() | replace,
  };
}

TEST(IgnoreErrors, ContinuesWithTheSameBytesFromEveryPositionUnderEitherRuntime) {
  for (const Result<Dataset>& dataset :
       LosingPipelines({.share = 1}, {.policy = "replace", .share = 1})) {
    SCOPED_TRACE(dataset->ToString());
    const Outcome whole = Finish(*dataset, Runtime::Inline());
    STOKER_ASSERT_OK(whole.error);
    for (const Runtime& runtime : kRuntimes)
      ASSERT_EQ(Finish(*dataset, runtime).Text(), whole.Text()) << runtime.threads;
    for (size_t at = 0; at <= whole.elements.size(); ++at) {
      const Runtime& first = at % 2 == 0 ? kRuntimes[0] : kRuntimes[2];
      const Runtime& second = at / 2 % 2 == 0 ? kRuntimes[0] : kRuntimes[2];
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(first, {.seed = 5}));
      for (size_t i = 0; i < at; ++i) STOKER_ASSERT_OK(iterator->Next());
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
      const std::vector<Element> rest(whole.elements.begin() + static_cast<std::ptrdiff_t>(at),
                                      whole.elements.end());
      ASSERT_EQ(Finish(*dataset, second, &state).Text(), Fingerprint(rest) + "ok") << "from " << at;
      ASSERT_LT(state.dump().size(), 1200u) << state;
    }
  }
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

TEST(IgnoreErrors, CoversAFilterAndWhatStandsBeforeIt) {
  const Filter filter{.predicate = [](const Element& element) -> Result<bool> {
    if (LabelOf(element) == 7) return DataLoss("element 7 has no answer");
    return LabelOf(element) % 2 == 1;
  }};
  for (const Dataset& source : {NumberedImages(20), StreamedImages(20)}) {
    for (const Runtime& runtime : kRuntimes) {
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(source) |
                                                             FailEveryTenth() | filter |
                                                             IgnoreErrors{.share = 1});
      EXPECT_THAT(Labels(Finish(dataset, runtime).elements), ElementsAre(1, 5, 9, 11, 15, 17, 19));
    }
  }
}

// Throws, without anything that catches it around: a transform of a user's own.
class ThrowingTransform final : public Transform {
 public:
  Status Apply(Element& element, Rng&, Scratch&) const override {
    if (element.key.index % 10 == 3) throw element.key.index;
    return OkStatus();
  }
};

TEST(IgnoreErrors, AnExceptionInUserCodeCostsOneElement) {
  const Map throws{.function = [](Element& element, Rng&, Scratch&) -> Status {
    if (element.key.index % 10 == 3) throw std::runtime_error("user code broke");
    return OkStatus();
  }};
  const Dataset generator = FromGenerator({{{"x", DType::kInt64, {}}}}, [](uint64_t) {
    return [n = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (n == 40) return std::nullopt;
      if (n++ % 10 == 3) throw std::runtime_error("user code broke");
      return Element{.arrays = {Array::Of(std::vector<int64_t>{n - 1}).Reshaped({})}};
    };
  });
  const IgnoreErrors skip{.share = 1};
  for (const Runtime& runtime : kRuntimes) {
    for (const Dataset& source : {NumberedImages(40), StreamedImages(40)}) {
      EXPECT_EQ(Labels(Finish(*(Result<Dataset>(source) | throws | skip), runtime).elements),
                GoodLabels(40));
      const Dataset custom =
          MapDataset(source, "custom", "", source.spec(), std::make_shared<ThrowingTransform>());
      EXPECT_EQ(Labels(Finish(*(Result<Dataset>(custom) | skip), runtime).elements),
                GoodLabels(40));
    }
    EXPECT_EQ(Labels(Finish(*(Result<Dataset>(generator) | skip), runtime).elements, 0),
              GoodLabels(40));
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Dataset replaced,
        NumberedImages(40) | throws | IgnoreErrors{.policy = "replace", .share = 1});
    EXPECT_EQ(Finish(replaced, runtime).elements.size(), 40u);
  }
}

// Gives element 5 a shape that its Spec does not say.
class LyingTransform final : public Transform {
 public:
  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    if (element.key.index == 5) element.arrays[0] = scratch.NewArray(DType::kUInt8, {1, 4, 3});
    return OkStatus();
  }
};

TEST(IgnoreErrors, ABatchThatCannotBeStackedCostsOneBatch) {
  for (const Dataset& source : {NumberedImages(12), StreamedImages(12)}) {
    const Dataset lying =
        MapDataset(source, "lying", "", source.spec(), std::make_shared<LyingTransform>());
    for (const Runtime& runtime : kRuntimes) {
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(lying) | Batch{.size = 4} |
                                                             IgnoreErrors{.share = 1});
      EXPECT_THAT(Labels(Finish(dataset, runtime).elements), ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
    }
  }
}

TEST(IgnoreErrors, DoesNotHideThatThePassWasAskedToStop) {
  for (const Dataset& source : {NumberedImages(40), StreamedImages(40)}) {
    for (Runtime runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      std::atomic<bool> stop = false;
      runtime.stop = &stop;
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(source) |
                                                             FailEveryTenth() |
                                                             IgnoreErrors{.share = 1});
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
      STOKER_ASSERT_OK(iterator->Next());
      stop = true;
      EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kCancelled, "asked to stop"));
    }
  }
}

TEST(IgnoreErrors, WhereNothingCanBeMadeReplaceSaysSo) {
  const Map fail{.function = [](Element&, Rng&, Scratch&) { return NotFound("no such file"); }};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      NumberedImages(100) | fail | IgnoreErrors{.policy = "replace", .share = 1} | Batch{});
  for (const Runtime& runtime : kRuntimes) {
    EXPECT_THAT(Finish(dataset, runtime).error,
                FailsWith(StatusCode::kNotFound,
                          "no such file (and none of the 16 elements drawn in its place could be "
                          "made either"));
  }
}

TEST(IgnoreErrors, AnErrorIsCountedOnceAndWhereItArose) {
  for (const Runtime& runtime : kRuntimes) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(95) | Shuffle{} |
                                                           FailEveryTenth() | Prefetch{} |
                                                           IgnoreErrors{.share = 1});
    const Outcome outcome = Finish(dataset, runtime);
    for (const StageProfile& stage : outcome.profile.stages)
      EXPECT_EQ(stage.errors, stage.name == "map" ? 10 : 0) << stage.name;
  }
}

TEST(IgnoreErrors, OfPolicyFailIsNotThere) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset source, NumberedImages(40) | FailEveryTenth());
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset same,
                              Result<Dataset>(source) | IgnoreErrors{.policy = "fail"});
  EXPECT_EQ(&same.node(), &source.node());
}

TEST(IgnoreErrors, RefusesWhatItCannotDo) {
  const auto fails = [](const Result<Dataset>& dataset, const char* says) {
    EXPECT_THAT(dataset, FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails(StreamedImages(9) | Take{.count = 3} | IgnoreErrors{},
        "'take' cannot go on after an error");
  fails(StreamedImages(9) | IgnoreErrors{.policy = "replace"},
        "can only be read in order; use skip");
  fails(NumberedImages(9) | Repeat{} | IgnoreErrors{.policy = "replace"}, "has no end; use skip");
  fails(NumberedImages(9) | IgnoreErrors{.share = 1.5}, "share is 1.5; it must lie in 0..1");
  fails(NumberedImages(9) | IgnoreErrors{.limit = -1}, "limit is -1");
  fails(NumberedImages(9) | IgnoreErrors{.policy = "skpi"}, "did you mean 'skip'?");
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
