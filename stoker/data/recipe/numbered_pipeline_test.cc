#include "stoker/data/recipe/numbered_pipeline.h"

#include "stoker/data/recipe/recipe.h"
#include "stoker/data/testing/picture_folder.h"
#include "stoker/data/testing/testing.h"

namespace stoker::numbered_pipeline_test {

using testing::ElementsAre;

class NumberedPipelineTest : public testing::Test {
 protected:
  Result<ConfigNode> Recipe(const std::string& eval) const {
    return ParseYaml("data:\n  eval: " + eval, "r.yaml");
  }
  Result<NumberedPipeline> Parse(const std::string& eval) const {
    STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, Recipe(eval));
    return ParseNumberedEvalPipeline(recipe, dir_.path());
  }
  const TempDir dir_;
};

// All values of a field of batches.
std::vector<int64_t> Values(const std::vector<Element>& batches, size_t field) {
  std::vector<int64_t> values;
  for (const Element& batch : batches) {
    const auto of_batch = batch.arrays[field].values<int64_t>();
    values.insert(values.end(), of_batch.begin(), of_batch.end());
  }
  return values;
}

TEST_F(NumberedPipelineTest, GivesTheBytesOfThePlainOneAndEachSamplesNumberInItsSource) {
  for (const char* eval :
       {"[range: 20, batch: 6]", "[range: 20, shuffle, batch: 6]",
        "[range: 20, shuffle, take: 11, shuffle, batch: 4]",
        "[range: 20, filter: {field: index, min: 7}, batch: 3]",
        "[range: 20, shuffle: {seed: 3}, shard: {index: 1, count: 2}, prefetch, batch: 4]",
        "[range: 20, skip: 4, repeat: 2, batch: 6, prefetch]", "[range: 20, cache, batch: 7]",
        "[{range: 20, on_error: skip}, batch: 7]", "[range: 20, shuffle, padded_batch: 7]",
        "[range: 20, batch: 6, unbatch, batch: 4]"}) {
    SCOPED_TRACE(eval);
    STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode recipe, Recipe(eval));
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset plain, ParseEvalPipeline(recipe, dir_.path()));
    STOKER_ASSERT_OK_AND_ASSIGN(const NumberedPipeline numbered,
                                ParseNumberedEvalPipeline(recipe, dir_.path()));
    STOKER_ASSERT_OK_AND_ASSIGN(const size_t field,
                                numbered.batches.spec().IndexOf("test", numbered.number));
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> wanted, ReadAll(plain, runtime));
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got,
                                  ReadAll(numbered.batches, runtime));
      EXPECT_EQ(got.size(), wanted.size());
      EXPECT_EQ(Values(got, 0), Values(wanted, 0));
      std::vector<int64_t> indices;
      for (const int64_t number : Values(got, field)) indices.push_back(KeyOfNumber(number).index);
      EXPECT_EQ(indices, Values(wanted, 0));  // a range's values are its numbers
    }
  }
}

TEST_F(NumberedPipelineTest, HasNoNumbersWhereTheyWouldChangeDrawsOrMeanNothing) {
  for (const char* eval : {"[range: 20, batch: 4, shuffle]",
                           "[zip: [[range: 5], [range: {stop: 5, field: b}]], batch]",
                           "[range: 20, window: {size: 3, drop_remainder: true}, batch: 2]",
                           "[concatenate: [[range: 5], [range: 5]], batch: 2]"}) {
    SCOPED_TRACE(eval);
    STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode recipe, Recipe(eval));
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset plain, ParseEvalPipeline(recipe, dir_.path()));
    STOKER_ASSERT_OK_AND_ASSIGN(const NumberedPipeline numbered,
                                ParseNumberedEvalPipeline(recipe, dir_.path()));
    EXPECT_EQ(numbered.number, "");
    EXPECT_EQ(numbered.batches.ToString(), plain.ToString());
  }
}

TEST_F(NumberedPipelineTest, LeavesWhatACacheIsMadeFromAsItIs) {
  STOKER_ASSERT_OK_AND_ASSIGN(const NumberedPipeline numbered,
                              Parse("[range: 20, cache, batch: 4]"));
  EXPECT_THAT(numbered.batches.ToString(),
              testing::ContainsRegex("range[^\n]*\ncache[^\n]*\nsample_numbers"));
}

TEST_F(NumberedPipelineTest, KnowsTheFilesOfSamplesAlsoWhereOthersAreSkipped) {
  for (const char* name : {"a/0.ppm", "a/2.ppm", "b/3.ppm"})
    WriteBelow(dir_, name, SmallPicture(2, 2, 0));
  WriteBelow(dir_, "a/1.ppm", "no picture");
  STOKER_ASSERT_OK_AND_ASSIGN(
      const NumberedPipeline numbered,
      Parse("[folder: ., {decode: {}, on_error: {policy: skip, limit: 1}}, resize: {shorter_side: "
            "2}, center_crop: 2, batch: 2]"));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> batches,
                              ReadAll(numbered.batches, Runtime::Threaded(2)));
  const std::vector<int64_t> numbers = Values(batches, batches.front().arrays.size() - 1);
  EXPECT_THAT(numbers, ElementsAre(0, 2, 3));
  ASSERT_NE(numbered.names, nullptr);
  EXPECT_THAT(numbered.names->NameOf(2, "image"), testing::EndsWith("a/2.ppm"));
}

// Pictures whose first value is the number in their name.
TEST_F(NumberedPipelineTest, KnowsTheFilesOfSamplesThatAreDrawnOrOfSeveralSources) {
  for (int number = 0; number < 9; ++number) {
    WriteBelow(dir_, fmt::format("all/{}/{}.ppm", number < 6 ? "a" : "b", number),
               SmallPicture(2, 2, number));
  }
  const std::string folder = "{folder: {path: all}}";
  for (const std::string& eval :
       {"[" + folder + ", balance, decode, center_crop: 2, batch: 2]",
        "[" + folder + ", balance, repeat: 3, decode, center_crop: 2, batch: 2]",
        "[" + folder + ", {sample: {count: 7}}, decode, center_crop: 2, batch: 2]",
        "[" + folder + ", decode, center_crop: 2, balance, shuffle, batch: 2]",
        "[concatenate: {inputs: [[" + folder + "], [" + folder +
            ", take: 4]]}, decode, center_crop: 2, batch: 2]",
        "[concatenate: {inputs: [[" + folder + "], [" + folder +
            ", balance]]}, decode, center_crop: 2, shuffle, batch: 2]"}) {
    SCOPED_TRACE(eval);
    STOKER_ASSERT_OK_AND_ASSIGN(const NumberedPipeline numbered, Parse(eval));
    EXPECT_FALSE(numbered.numbers_source);
    ASSERT_NE(numbered.names, nullptr);
    STOKER_ASSERT_OK_AND_ASSIGN(const size_t field,
                                numbered.batches.spec().IndexOf("test", numbered.number));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> batches,
                                ReadAll(numbered.batches, Runtime::Threaded(2)));
    for (const Element& batch : batches) {
      for (int64_t row = 0; row < batch.arrays[field].shape()[0]; ++row) {
        const int64_t number = batch.arrays[field].values<int64_t>()[static_cast<size_t>(row)];
        const int first = static_cast<int>(*batch.arrays[0].Row(row).data());
        EXPECT_THAT(numbered.names->NameOfKey(KeyOfNumber(number), "image"),
                    testing::EndsWith(fmt::format("/{}.ppm", first)));
      }
    }
  }
}

TEST_F(NumberedPipelineTest, SaysWhatKeepsSamplesFromComingOnceAndInOrder) {
  STOKER_ASSERT_OK_AND_ASSIGN(const NumberedPipeline all, Parse("[range: 20, batch: 4]"));
  EXPECT_THAT(all.disturbances, ElementsAre());
  STOKER_ASSERT_OK_AND_ASSIGN(
      const NumberedPipeline some,
      Parse("[range: 20, shuffle, batch: {size: 8, drop_remainder: true}]"));
  EXPECT_THAT(some.disturbances,
              ElementsAre("shuffle reorders elements", testing::HasSubstr("(drop_remainder)")));
}

TEST_F(NumberedPipelineTest, SaysWhatIsWrongWithTheRecipe) {
  EXPECT_THAT(Parse("[range: 20, shufle]"), FailsWith(StatusCode::kInvalidArgument, "shuffle"));
  EXPECT_THAT(Parse("[range: 20, normalize: {field: x}]"),
              FailsWith(StatusCode::kInvalidArgument, "r.yaml:2:"));
  EXPECT_THAT(Parse("[range: 20, shuffle]"),
              FailsWith(StatusCode::kInvalidArgument, "end it with `batch`"));
  EXPECT_THAT(Parse("7"), FailsWith(StatusCode::kInvalidArgument, "data.eval is a list"));
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode none, ParseYaml("data: {root: .}", "r.yaml"));
  EXPECT_THAT(ParseNumberedEvalPipeline(none, "."),
              FailsWith(StatusCode::kFailedPrecondition, "no pipeline data.eval"));
}

}  // namespace stoker::numbered_pipeline_test
