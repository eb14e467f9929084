#include "stoker/data/ops/ignore_errors.h"

#include <atomic>
#include <set>

#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/testing/bad_elements.h"

namespace stoker::ignore_errors_test {

using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(IgnoreErrors, SaysWhatBecameOfOneElementInASentence) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(10) | FailEveryTenth() | IgnoreErrors{.share = 1});
  testing::internal::CaptureStderr();
  STOKER_ASSERT_OK(Finish(dataset, Runtime::Inline()).error);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("epoch 0: 1 of 10 elements failed and was skipped: data loss: images.bin: "
                        "byte 48: element 3 is bad\n"));
}

}  // namespace stoker::ignore_errors_test
