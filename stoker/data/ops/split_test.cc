#include "stoker/data/ops/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "stoker/base/stop_scope.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::split_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<int64_t> LabelsOf(const Result<Dataset>& dataset) {
  return Labels(*ReadAll(*dataset, Runtime::Threaded(2)));
}

std::set<int64_t> SetOf(const Result<Dataset>& dataset) {
  const std::vector<int64_t> labels = LabelsOf(dataset);
  return {labels.begin(), labels.end()};
}

Split With(Split split, std::string side) {
  split.side = std::move(side);
  return split;
}

// n rows {row, label, kind, word}: label counts, kind is one of `kinds`, word is a text for it.
Dataset Rows(int64_t n, int64_t kinds) {
  const Map classes{.function =
                        [kinds](Element& element, Rng&, Scratch& scratch) {
                          const int64_t number = element.key.index;
                          Array kind = scratch.NewArray(DType::kInt64, {});
                          kind.values<int64_t>()[0] = number * number % kinds;
                          const std::string text = fmt::format("kind {}", number * number % kinds);
                          Array word =
                              scratch.NewArray(DType::kUInt8, {static_cast<int64_t>(text.size())});
                          std::ranges::copy(std::as_bytes(std::span(text)), word.data());
                          element.arrays.push_back(std::move(kind));
                          element.arrays.push_back(std::move(word));
                          return OkStatus();
                        },
                    .output = {{{"image", DType::kUInt8, {1, 4, 4}},
                                {"label", DType::kInt64, {}},
                                {"kind", DType::kInt64, {}},
                                {"word", DType::kUInt8, {-1}}}},
                    .random = false};
  return *(Result<Dataset>(NumberedImages(n)) | classes);
}

const Split kSplits[] = {{.eval = 0.2},
                         {.fold = "2/5"},
                         {.eval = 0.7, .seed = 3},
                         {.eval = 0.2, .by = {"label"}},
                         {.eval = 0.4, .by = {"label", "word"}},
                         {.eval = 0.4, .group = "kind"},
                         {.eval = 0.25, .stratify = "kind"},
                         {.fold = "1/3", .stratify = "word"},
                         {.eval = 0.25, .by = {"label"}, .stratify = "kind"}};

TEST(Split, TheTwoSidesPartTheElementsAndEachAnnouncesItsNumber) {
  for (const Split& split : kSplits) {
    const Dataset rows = Rows(300, 7);
    const Result<Dataset> train = rows | With(split, "train"), eval = rows | With(split, "eval");
    std::vector<int64_t> all = LabelsOf(train);
    EXPECT_EQ(std::ssize(all), train->cardinality().value());
    EXPECT_TRUE(std::ranges::is_sorted(all));
    const std::vector<int64_t> others = LabelsOf(eval);
    EXPECT_EQ(std::ssize(others), eval->cardinality().value());
    EXPECT_FALSE(others.empty());
    all.insert(all.end(), others.begin(), others.end());
    std::ranges::sort(all);
    ASSERT_EQ(std::ssize(all), 300) << train->ToString();
    for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int64_t>(i));
  }
}

TEST(Split, ShareIsExactToOneSampleWhereNumbersDecide) {
  for (const int64_t n : {1, 2, 4, 5, 299, 300, 301}) {
    const Result<Dataset> train = NumberedImages(n) | Split{.eval = 0.2, .side = "train"};
    EXPECT_LE(
        std::abs(static_cast<double>(train->cardinality().value()) - 0.8 * static_cast<double>(n)),
        1);
  }
}

TEST(Split, SharesOfEachClassAreExactToOneSample) {
  for (const std::string field : {"kind", "word"}) {
    for (const Split& split :
         {Split{.eval = 0.25, .stratify = field}, Split{.fold = "2/4", .stratify = field},
          Split{.eval = 0.25, .by = {"label"}, .stratify = field}}) {
      const Dataset rows = Rows(1000, 7);
      std::map<int64_t, std::pair<double, double>> counts;  // all, eval
      for (int64_t i = 0; i < 1000; ++i) ++counts[i * i % 7].first;
      for (const int64_t label : LabelsOf(rows | With(split, "eval")))
        ++counts[label * label % 7].second;
      EXPECT_EQ(counts.size(), 4u);
      for (const auto& [kind, count] : counts)
        EXPECT_LE(std::abs(count.second - 0.25 * count.first), 1) << field << " " << kind;
    }
  }
}

TEST(Split, AnElementStaysOnItsSideWhenOthersAreAppended) {
  for (const Split& split : kSplits) {
    const std::set<int64_t> few = SetOf(Rows(200, 7) | With(split, "eval"));
    std::set<int64_t> many = SetOf(Rows(450, 7) | With(split, "eval"));
    std::erase_if(many, [](int64_t label) { return label >= 200; });
    EXPECT_EQ(many, few);
  }
}

TEST(Split, ByAKeyAnElementStaysOnItsSideWhereverItStandsAndHoweverItIsStored) {
  const Split split{.eval = 0.3, .by = {"label"}, .side = "eval"};
  const std::set<int64_t> all = SetOf(NumberedImages(200) | split);
  const Result<Dataset> images = NumberedImages(200);
  std::set<int64_t> later = SetOf(images | Skip{.count = 50} | split), expected = all;
  std::erase_if(expected, [](int64_t label) { return label < 50; });
  EXPECT_EQ(later, expected);
  EXPECT_EQ(SetOf(images | Shuffle{.seed = 4, .reshuffle = false} | split), all);
  EXPECT_EQ(SetOf(images | Shuffle{} | split), all);
  EXPECT_EQ(SetOf(StreamedImages(200) | split), all);
}

TEST(Split, GroupsStayWhole) {
  for (const Split& split :
       {Split{.eval = 0.4, .group = "kind"}, Split{.eval = 0.4, .group = "word"},
        Split{.eval = 0.4, .by = {"kind", "word"}}}) {
    std::set<int64_t> train, eval;
    for (const int64_t label : LabelsOf(Rows(300, 41) | With(split, "train")))
      train.insert(label * label % 41);
    for (const int64_t label : LabelsOf(Rows(300, 41) | With(split, "eval")))
      eval.insert(label * label % 41);
    EXPECT_FALSE(eval.empty());
    for (const int64_t kind : eval) EXPECT_FALSE(train.contains(kind));
  }
}

TEST(Split, OfAStreamTheSidesAreTheSameAndTheirNumberIsNotKnown) {
  for (const Split& split : {Split{.eval = 0.2}, Split{.fold = "1/4", .by = {"label"}}}) {
    for (const char* side : {"train", "eval"}) {
      const Result<Dataset> streamed = StreamedImages(100) | With(split, side);
      EXPECT_EQ(streamed->cardinality(), Cardinality::Unknown());
      EXPECT_EQ(LabelsOf(streamed), LabelsOf(NumberedImages(100) | With(split, side)));
    }
  }
}

TEST(Split, KeepsThePromisesOfAPipeline) {
  for (const Split& split : {Split{.eval = 0.3, .side = "train"},
                             Split{.fold = "2/3", .by = {"label"}, .side = "eval"}}) {
    ExpectKeepsItsPromises(*(NumberedImages(23) | split | Shuffle{} | Batch{.size = 3}));
    ExpectKeepsItsPromises(*(StreamedImages(23) | split | Repeat{.count = 2} | Prefetch{}));
    ExpectKeepsItsPromises(
        *(NumberedImages(23) | Filter{.except = {4}} | split | Batch{.size = 2}));
  }
  ExpectKeepsItsPromises(*(Rows(23, 5) | Split{.eval = 0.4, .stratify = "word", .side = "train"} |
                           Shuffle{} | Repeat{.count = 2}));
}

TEST(Split, AnotherSeedSplitsOtherwiseAndTheRunsSeedDoesNot) {
  const Dataset images = NumberedImages(200);
  const Split split{.eval = 0.5, .side = "eval"};
  Split other = split;
  other.seed = 9;
  EXPECT_NE(LabelsOf(images | split), LabelsOf(images | other));
  EXPECT_EQ(Labels(*ReadAll(*(images | split), Runtime::Inline(), {.seed = 1})),
            Labels(*ReadAll(*(images | split), Runtime::Inline(), {.seed = 2})));
}

TEST(Split, SaysWhatIsWrongWithItsOptions) {
  const auto refused = [](std::string_view says) {
    return FailsWith(StatusCode::kInvalidArgument, std::string(says));
  };
  const Result<Dataset> images = NumberedImages(30);
  EXPECT_THAT(images | Split{.side = "train"}, refused("neither eval nor fold is given"));
  EXPECT_THAT((images | Split{.eval = 0.5, .fold = "1/2", .side = "train"}), refused("both given"));
  EXPECT_THAT((images | Split{.eval = 20, .side = "train"}), refused("use take and skip"));
  EXPECT_THAT((images | Split{.eval = 0, .side = "train"}), refused("more than 0"));
  for (const char* fold : {"0/5", "6/5", "1/1", "2", "2/", "a/b", "1/5x", "1/99999999999999999999"})
    EXPECT_THAT((images | Split{.fold = fold, .side = "train"}), refused("such as 1/5")) << fold;
  EXPECT_THAT((images | Split{.eval = 0.5}), refused("side"));
  EXPECT_THAT((images | Split{.eval = 0.5, .by = {"id"}, .side = "train"}),
              refused("there is no field 'id'"));
  EXPECT_THAT((images | Split{.eval = 0.5, .by = {"label"}, .group = "label", .side = "train"}),
              refused("leave `by` out"));
  EXPECT_THAT((images | Split{.eval = 0.5, .stratify = "image", .side = "train"}),
              refused("before batch and one_hot"));
  EXPECT_THAT((StreamedImages(9) | Split{.eval = 0.5, .stratify = "label", .side = "train"}),
              refused("can only be read in order"));
  EXPECT_THAT((images | Shuffle{} | Split{.eval = 0.5, .stratify = "label", .side = "train"}),
              refused("same order in every pass"));
  EXPECT_THAT((images | Shuffle{} | Batch{.size = 4} | Split{.eval = 0.5, .side = "train"}),
              refused("`by: id`"));
}

TEST(Split, ASideWithoutSamplesIsAnError) {
  EXPECT_THAT((NumberedImages(2) | Split{.eval = 0.1, .side = "eval"}),
              FailsWith(StatusCode::kInvalidArgument, "evaluation gets none of the 2 samples"));
  EXPECT_THAT(LabelsOf(NumberedImages(0) | Split{.eval = 0.1, .side = "eval"}), IsEmpty());
}

TEST(Split, AFoldThatLeavesAClassOutOfTrainingIsAnErrorThatNamesIt) {
  const Dataset rows = *FromArrays({{"x", Array::Of<int64_t>({0, 1, 2, 3, 4, 5, 6})},
                                    {"kind", Array::Of<int64_t>({0, 0, 0, 0, 0, 0, 5})}});
  const QuietLog quiet;
  int errors = 0;
  for (const char* fold : {"1/3", "2/3", "3/3"}) {
    const Result<Dataset> train = rows | Split{.fold = fold, .stratify = "kind", .side = "train"};
    if (train.ok()) continue;
    ++errors;
    EXPECT_THAT(train, FailsWith(StatusCode::kInvalidArgument, "1 of 2 classes of 'kind'"));
    EXPECT_THAT(train.status().message(), HasSubstr("5 (1)"));
  }
  EXPECT_EQ(errors, 1);
}

TEST(Split, WarnsOfClassesThatEvaluationLacks) {
  std::string log;
  SetLogSink([&](LogLevel, std::string_view message) { log += message; });
  EXPECT_TRUE((*FromArrays({{"x", Array::Of<int64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})},
                            {"kind", Array::Of<int64_t>({0, 0, 0, 0, 0, 0, 0, 0, 0, 5})}}) |
               Split{.eval = 0.2, .stratify = "kind", .side = "train"})
                  .ok());
  SetLogSink({});
  EXPECT_THAT(log, AllOf(HasSubstr("evaluation gets no sample of 1 of 2 classes of 'kind': 5 (1)"),
                         HasSubstr("about 5 samples")));
}

TEST(Split, RefusesToStratifyByAFieldOfTooManyValues) {
  EXPECT_THAT((NumberedImages(70000) | Split{.eval = 0.2, .stratify = "label", .side = "train"}),
              FailsWith(StatusCode::kInvalidArgument, "more than 65536 different values"));
}

TEST(Split, EndsWhenItIsAskedToStopWhileItReads) {
  std::atomic<int> made = 0;
  const Map count{.function =
                      [&](Element&, Rng&, Scratch&) {
                        ++made;
                        return OkStatus();
                      },
                  .random = false};
  const StopScope scope([&] { return made > 100; }, std::chrono::milliseconds(1));
  EXPECT_THAT(
      (NumberedImages(4000000) | count | Split{.eval = 0.2, .by = {"label"}, .side = "train"}),
      FailsWith(StatusCode::kCancelled, "asked to stop"));
}

}  // namespace stoker::split_test
