#include "stoker/data/advice/data_doubts.h"

#include <fmt/format.h>

#include <set>

#include "stoker/base/testing.h"
#include "stoker/data/testing/random_pipeline.h"

namespace stoker::data_doubts_test {

constexpr std::string_view kSource = "idx: {images: i, labels: l}";

// The problems of pipelines over one source, each a list without it: "shuffle, batch: 8".
std::vector<std::string> Problems(const std::string& train, const std::string& eval,
                                  const std::string& eval_source = std::string(kSource)) {
  const auto data =
      ParseYaml(fmt::format("train: [{}, {}]\neval: [{}, {}]\n", kSource, train, eval_source, eval),
                "r.yaml");
  EXPECT_THAT(data, IsOk());
  std::vector<std::string> problems;
  for (const DataDoubt& doubt : DoubtsAbout(*data)) {
    EXPECT_NE(doubt.place.file, nullptr);
    EXPECT_FALSE(doubt.advice.empty());
    problems.push_back(doubt.problem);
  }
  return problems;
}

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kOther[] = "idx: {images: j, labels: m}";

TEST(DataDoubts, EvaluationThatReadsTheSamplesOfTrainingIsNamedWithBothPlaces) {
  EXPECT_THAT(Problems("shuffle, normalize, batch: 8", "normalize, batch: 8"),
              ElementsAre(HasSubstr("data.eval (r.yaml:2:8) reads samples that data.train "
                                    "(r.yaml:1:9) learns from: the same source, whole")));
  EXPECT_THAT(Problems("shuffle, batch: 8", "batch: 8", kOther), IsEmpty());
}

TEST(DataDoubts, PartsThatTakeAndSkipLeaveMustNotOverlap) {
  for (const auto& [train, eval] : std::vector<std::pair<std::string, std::string>>{
           {"take: 400, shuffle, batch: 8", "skip: 399, batch: 8"},
           {"skip: 100, batch: 8", "take: 101, batch: 8"},
           {"bucketize: {bounds: [1], field: label}, skip: 100, batch: 8",
            "bucketize: {bounds: [1], field: label}, take: 101, batch: 8"},
           {"shuffle, batch: 8", "take: 10, batch: 8"},
           {"skip: 10, take: 10, batch: 8", "skip: 15, take: 10, batch: 8"}}) {
    EXPECT_THAT(Problems(train, eval), ElementsAre(HasSubstr("leave overlap"))) << train;
  }
  for (const auto& [train, eval] : std::vector<std::pair<std::string, std::string>>{
           {"take: 400, shuffle, batch: 8", "skip: 400, batch: 8"},
           {"skip: 100, shuffle, batch: 8", "take: 100, batch: 8"},
           {"skip: 10, take: 10, batch: 8", "skip: 20, take: 10, batch: 8"}}) {
    EXPECT_THAT(Problems(train, eval), IsEmpty()) << train;
  }
}

TEST(DataDoubts, AShuffleBeforeTheCutMustGiveOneOrderInAllEpochs) {
  EXPECT_THAT(Problems("shuffle, take: 400, batch: 8", "skip: 400, batch: 8"),
              ElementsAre(HasSubstr("`shuffle` precedes the cut and draws another order")));
  const std::string fixed = "shuffle: {seed: 7, reshuffle: false}, ";
  EXPECT_THAT(Problems(fixed + "take: 400, shuffle, batch: 8", fixed + "skip: 400, batch: 8"),
              IsEmpty());
}

TEST(DataDoubts, NothingIsSaidWhereAnotherStageMayPartTheSamples) {
  for (const char* stage : {"filter: {where: label < 3}", "shard: {count: 2, index: 0}",
                            "sample: {count: 10}", "balance"}) {
    EXPECT_THAT(Problems(fmt::format("{}, batch: 8", stage), "batch: 8"), IsEmpty()) << stage;
    EXPECT_THAT(Problems("batch: 8", fmt::format("{}, batch: 8", stage)), IsEmpty()) << stage;
  }
}

TEST(DataDoubts, AWordWhoseNumberIsThatOfPaddingIsNamed) {
  const auto of = [](const std::string& words, const std::string& batch) {
    return Problems(words + ", shuffle, " + batch, words + ", " + batch, kOther);
  };
  EXPECT_THAT(of("words: {values: auto}", "padded_batch: 8"),
              ElementsAre(HasSubstr("a word has the number 0")));
  EXPECT_THAT(of("words: {hash: 100}", "padded_batch: 8"),
              ElementsAre(HasSubstr("a word has the number 0")));
  EXPECT_THAT(of("words: {values: auto, reserve: 1, unknown_number: 0}", "padded_batch: 8"),
              ElementsAre(HasSubstr("a word has the number 0")));
  EXPECT_THAT(of("words: {hash: 100, reserve: 1}", "padded_batch: 8"), IsEmpty());
  EXPECT_THAT(of("words: {values: [a, b], reserve: 0}", "bucket_by_length: {padding: [0]}"),
              ElementsAre(HasSubstr("`bucket_by_length`")));
  EXPECT_THAT(of("words: {values: auto, reserve: 1}", "padded_batch: 8"), IsEmpty());
  EXPECT_THAT(of("words: {values: auto}", "batch: {size: 8, ragged: true}"),
              ElementsAre(HasSubstr("counts as no word")));
  EXPECT_THAT(of("words: {values: auto, reserve: 1}", "batch: {size: 8, ragged: true}"), IsEmpty());
  EXPECT_THAT(of("words: {values: auto}", "padded_batch: {size: 8, padding: -1}"), IsEmpty());
  EXPECT_THAT(of("words: {vocabulary: w.txt}", "padded_batch: 8"), IsEmpty());
  // A list of a row of features knows how long it is.
  const std::string row = ", feature_row: {features: {tokens: {is: category, most: 6}}}";
  EXPECT_THAT(of("words: {values: auto}" + row, "padded_batch: 8"), IsEmpty());
  EXPECT_THAT(of("words: {values: auto, output: other}" + row, "padded_batch: 8"),
              ElementsAre(HasSubstr("a word has the number 0")));
}

TEST(DataDoubts, EvaluationThatNumbersWordsOtherwiseIsNamed) {
  const std::string plain = "words: {vocabulary: a.txt}";
  for (const char* other : {"words: {vocabulary: b.txt}", "words: {values: [a, b]}",
                            "words: {vocabulary: a.txt, reserve: 1}", "words: {hash: 100}"}) {
    EXPECT_THAT(
        Problems(plain + ", batch: 8", std::string(other) + ", batch: 8", kOther),
        ElementsAre(HasSubstr("has `words` that numbers words otherwise than that of data.train")))
        << other;
  }
  for (const char* same :
       {"words: {vocabulary: a.txt}", "words: {vocabulary: a.txt, reserve: 0, lower: true}",
        "words: {vocabulary: b.txt, field: title}", "lookup: {vocabulary: b.txt}"}) {
    EXPECT_THAT(Problems(plain + ", batch: 8", std::string(same) + ", batch: 8", kOther), IsEmpty())
        << same;
  }
}

TEST(DataDoubts, EvaluationNormalisedWithOtherValuesIsNamed) {
  EXPECT_THAT(
      Problems("normalize: {mean: 0.5}, batch: 8", "normalize: {mean: 0.4}, batch: 8", kOther),
      ElementsAre(HasSubstr("normalises 'image' with other values than data.train")));
  EXPECT_THAT(
      Problems("normalize: {mean: 0.5}, batch: 8", "normalize: {mean: [0.5]}, batch: 8", kOther),
      IsEmpty());
  // The default scale of bytes, written out.
  EXPECT_THAT(
      Problems("normalize, batch: 8", "normalize: {scale: 0.00392156862745098}, batch: 8", kOther),
      IsEmpty());
}

TEST(DataDoubts, NothingIsSaidOfValuesThatDoNotFitEachOther) {
  for (const char* wrong : {"mean: []", "std: []", "mean: [1, 2], std: [1, 2, 3]", "std: 0"}) {
    EXPECT_THAT(Problems("normalize: {mean: 0.5}, batch: 8",
                         fmt::format("normalize: {{{}}}, batch: 8", wrong), kOther),
                IsEmpty())
        << wrong;
  }
}

TEST(DataDoubts, RandomAugmentationInEvaluationIsNamed) {
  EXPECT_THAT(Problems("random_flip, batch: 8", "random_flip, batch: 8", kOther),
              ElementsAre(HasSubstr("data.eval (r.yaml:2:37) has `random_flip`")));
  EXPECT_THAT(Problems("batch: 8", "gaussian_blur: 3, batch: 8", kOther),
              ElementsAre(HasSubstr("has `gaussian_blur`")));
  EXPECT_THAT(Problems("batch: 8", "grayscale: {probability: 0.1}, batch: 8", kOther),
              ElementsAre(HasSubstr("has `grayscale`")));
  EXPECT_THAT(Problems("grayscale, batch: 8", "grayscale, batch: 8", kOther), IsEmpty());
}

TEST(DataDoubts, AFieldThatIsNormalisedTwiceIsNamed) {
  EXPECT_THAT(
      Problems("normalize: {mean: 0.1}, normalize: {mean: 0.5}, batch: 8", "batch: 8", kOther),
      ElementsAre(HasSubstr("data.train (r.yaml:1:62) normalises 'image' a second time")));
  EXPECT_THAT(Problems("normalize: {mean: 0.1}, normalize: {mean: 0.5, field: other}, batch: 8",
                       "batch: 8", kOther),
              IsEmpty());
}

TEST(DataDoubts, ScalingFirstAndStandardizingThenIsOneNormalization) {
  EXPECT_THAT(Problems("normalize: {scale: 0.01}, normalize: {mean: 0.5, std: 2}, batch: 8",
                       "batch: 8", kOther),
              IsEmpty());
}

// The operators in `dataset` that draw, and do not only say which samples come, and in which order.
void AddDrawn(const Dataset& dataset, std::set<std::string>& names) {
  const OperatorRegistry& known = OperatorRegistry::Known();
  const std::string& name = dataset.node().name();
  const std::vector<std::string> all = known.Names();
  const bool named = std::ranges::find(all, name) != all.end();
  if (dataset.node().random() && named && !known.Arranges(name)) names.insert(name);
  for (const Dataset& input : dataset.node().inputs()) AddDrawn(input, names);
}

TEST(DataDoubts, EvaluationThatDrawsHowSamplesLookIsNamedWhicheverOperatorDraws) {
  std::set<std::string> drawn;
  for (const RandomStep& step : RandomSteps()) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      Draws draws(seed);
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, step.add(NumberedImages(60), draws));
      AddDrawn(dataset, drawn);
    }
  }
  EXPECT_THAT(drawn, testing::IsSupersetOf({"random_affine", "color_jitter", "mixup"}));
  drawn.erase("mix");         // says which samples come
  drawn.erase("input_mask");  // draws what the model is asked, in evaluations too
  for (const std::string& name : drawn) {
    const std::string stage = name == "grayscale" ? "grayscale: {probability: 0.5}" : name;
    EXPECT_THAT(Problems("batch: 8", stage + ", batch: 8", kOther),
                ElementsAre(HasSubstr("draws at random")))
        << name;
  }
}

}  // namespace stoker::data_doubts_test
