#include "stoker/data/transforms/hash.h"

#include <set>

#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/sources/csv.h"
#include "stoker/data/testing/text.h"
#include "stoker/data/testing/transforms.h"

namespace stoker::hash_test {

using testing::Each;
using testing::ElementsAre;

class HashTest : public TextTest {
 protected:
  // Rows of a word and a whole number, without spaces removed.
  Result<Dataset> Rows(const std::string& rows) {
    return Source(Csv{.files = Write("a.csv", "city,day\n" + rows), .index = "memory"});
  }
  static std::vector<int64_t> Numbers(const Result<Dataset>& dataset, size_t field) {
    EXPECT_THAT(dataset, IsOk());
    return Labels(*ReadAll(*dataset, Runtime::Inline()), field);
  }
};

TEST_F(HashTest, EqualWordsAndNumbersGetOneNumberWhateverSpaceIsAroundThem) {
  const Result<Dataset> rows = Rows("oslo,1\n\" oslo\t\",2\nrome,1\n");
  const std::vector<int64_t> cities = Numbers(rows | Hash{.fields = {"city"}, .buckets = 1000}, 0);
  EXPECT_EQ(cities[0], cities[1]);
  EXPECT_NE(cities[0], cities[2]);
  const std::vector<int64_t> days = Numbers(rows | Hash{.fields = {"day"}, .buckets = 1000}, 1);
  EXPECT_EQ(days[0], days[2]);
  EXPECT_NE(days[0], days[1]);
  ExpectKeepsItsPromises(rows | Hash{.fields = {"city"}});
}

TEST_F(HashTest, AWholeNumberIsTheWordThatItIsWrittenAs) {
  const Hash of_words{.fields = {"city"}}, of_numbers{.fields = {"day"}};
  const std::vector<int64_t> words = Numbers(Rows("12,1\nx,2\n-3,2\n") | of_words, 0);
  const std::vector<int64_t> numbers = Numbers(Rows("x,12\ny,-3\n") | of_numbers, 1);
  EXPECT_EQ(words[0], numbers[0]);
  EXPECT_EQ(words[2], numbers[1]);
}

// The numbers are part of what a model has learned, so they must not change.
TEST_F(HashTest, NumbersAreTheSameInEveryReleaseAndOnEveryMachine) {
  const Result<Dataset> rows = Rows("oslo,1\nrome,2\n,3\n");
  EXPECT_THAT(Numbers(rows | Hash{.fields = {"city"}, .buckets = 1 << 24}, 0),
              ElementsAre(16676123, 15014508, 6384073));
  EXPECT_THAT(Numbers(rows | Hash{.fields = {"day"}, .buckets = 1 << 24}, 1),
              ElementsAre(12992306, 11544268, 15765458));
}

TEST_F(HashTest, EachCombinationOfSeveralFieldsHasItsNumberInANewField) {
  const Result<Dataset> crossed = Rows("oslo,1\noslo,2\nrome,1\noslo,1\n") |
                                  Hash{.fields = {"city", "day"}, .buckets = 100000, .to = "both"};
  EXPECT_EQ(crossed->spec().ToString(), "{city: uint8[?], day: int64[], both: int64[]}");
  const std::vector<int64_t> numbers = Numbers(crossed, 2);
  EXPECT_EQ(numbers[0], numbers[3]);
  EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), 3u);
  EXPECT_EQ(FindNumCategories(*crossed, "both"), 100000);
  EXPECT_EQ(FindNumCategories(*crossed, "city"), std::nullopt);
}

TEST_F(HashTest, FillsAllBucketsAboutEquallyAndAnotherSeedOtherwise) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += fmt::format("w{},{}\n", i, i);
  const Result<Dataset> rows = Rows(text);
  const std::vector<int64_t> numbers = Numbers(rows | Hash{.fields = {"city"}, .buckets = 8}, 0);
  std::vector<int64_t> counts(8);
  for (const int64_t number : numbers) ++counts[static_cast<size_t>(number)];
  // 500 each, with a deviation of 21.
  EXPECT_THAT(counts, Each(testing::AllOf(testing::Gt(395), testing::Lt(605))));
  EXPECT_NE(Numbers(rows | Hash{.fields = {"city"}, .buckets = 8, .seed = 1}, 0), numbers);
}

TEST_F(HashTest, EachNumberOfAListIsHashedAsItWouldBeAlone) {
  const std::vector<int64_t> alone = Numbers(Rows("x,7\nx,-2\n") | Hash{.fields = {"day"}}, 1);
  for (const Shape& shape : {Shape{kUnknownDim}, Shape{3}}) {
    const Result<Dataset> lists =
        Result<Dataset>(EmptyDataset({{{"x", DType::kInt32, shape}}})) | Hash{.fields = {"x"}};
    ASSERT_THAT(lists, IsOk());
    EXPECT_EQ(lists->spec().fields[0], (Field{"x", DType::kInt64, shape}));
    EXPECT_EQ(FindNumCategories(*lists, "x"), 1000);
    STOKER_ASSERT_OK_AND_ASSIGN(const Array numbers,
                                TransformTester(*lists).Apply(Array::Of<int32_t>({7, -2, 7})));
    EXPECT_THAT(numbers.values<int64_t>(), ElementsAre(alone[0], alone[1], alone[0]));
  }
  const Array pairs = Array::Of<int64_t>({1, 2, 3, 4, 5, 6}).Reshaped({3, 2});
  ExpectKeepsItsPromises(FromArrays({{"x", pairs}}, "pairs") | Hash{.fields = {"x"}});
}

TEST_F(HashTest, RefusesFractionsListsAmongOthersAndANumberWithoutAField) {
  const Dataset lists = EmptyDataset({{{"x", DType::kInt64, {3}}, {"y", DType::kFloat32, {}}}});
  EXPECT_THAT((Result<Dataset>(lists) | Hash{.fields = {"x", "y"}, .to = "z"}),
              FailsWith(StatusCode::kInvalidArgument,
                        "field 'x' is x: int64[3]; words and whole numbers, one a sample, are "
                        "hashed: a list of numbers is hashed alone"));
  EXPECT_THAT(Result<Dataset>(lists) | Hash{.fields = {"y"}},
              FailsWith(StatusCode::kInvalidArgument, "`bucketize` makes a whole number"));
  EXPECT_THAT((Rows("a,1\n") | Hash{.fields = {"city", "day"}}),
              FailsWith(StatusCode::kInvalidArgument, "`to` is missing"));
  EXPECT_THAT((Rows("a,1\n") | Hash{.fields = {"city", "day"}, .to = "day"}),
              FailsWith(StatusCode::kInvalidArgument, "day"));
}

}  // namespace stoker::hash_test
