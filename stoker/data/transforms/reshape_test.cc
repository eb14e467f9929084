#include "stoker/data/transforms/reshape.h"

#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/text.h"

namespace stoker::reshape_test {

TEST(Reshape, GivesTheSameValuesAnotherShapeWithoutACopy) {
  const Result<Dataset> images = NumberedImages(6);
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{16}, {4, 4}, {-1}, {2, -1, 2}, {1, 1, 16}}) {
    const Result<Dataset> dataset = images | Reshape{.shape = shape};
    STOKER_ASSERT_OK_AND_ASSIGN(const auto all, ReadAll(*dataset, Runtime::Threaded(2)));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto before, ReadAll(*images, Runtime::Inline()));
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].arrays[0].shape(), dataset->spec().fields[0].shape);
      EXPECT_TRUE(SameBytes(all[i].arrays[0].Reshaped({1, 4, 4}), before[i].arrays[0]));
    }
  }
  EXPECT_EQ((images | Reshape{.shape = {2, -1, 2}})->spec().fields[0].ToString(),
            "image: uint8[2, 4, 2]");
}

TEST(Reshape, MakesANumberOfAnArrayOfOneAndAListOfANumber) {
  const Result<Dataset> rows = *FromArrays({{"x", Array::Of<int64_t>({3, 4})}});
  const Result<Dataset> lists = rows | Reshape{.shape = {1}, .field = "x"};
  EXPECT_EQ(lists->spec().ToString(), "{x: int64[1]}");
  EXPECT_EQ((lists | Reshape{.shape = {}, .field = "x"})->spec().ToString(), "{x: int64[]}");
}

TEST(Reshape, AfterBatchTheFirstExtentIsThatOfTheBatch) {
  const Result<Dataset> dataset = NumberedImages(5) | Batch{.size = 2} | Reshape{.shape = {-1, 16}};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batches, ReadAll(*dataset, Runtime::Threaded(2)));
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].arrays[0].shape(), (Shape{2, 16}));
  EXPECT_EQ(batches[2].arrays[0].shape(), (Shape{1, 16}));
}

TEST(Reshape, KeepsThePromisesOfAPipeline) {
  for (const Dataset& source : {NumberedImages(13), StreamedImages(13)}) {
    ExpectKeepsItsPromises(source | Reshape{.shape = {16}} | Batch{.size = 3});
  }
  ExpectKeepsItsPromises(NumberedImages(13) | Shuffle{} | Reshape{.shape = {2, 8}});
}

TEST(Reshape, RefusesAShapeThatTheValuesDoNotFill) {
  const auto refused = [](std::string_view says) {
    return FailsWith(StatusCode::kInvalidArgument, std::string(says));
  };
  const Result<Dataset> images = NumberedImages(3);
  EXPECT_THAT((images | Reshape{.shape = {15}}), refused("16 values, which do not fill"));
  EXPECT_THAT((images | Reshape{.shape = {3, -1}}), refused("do not fill"));
  EXPECT_THAT((images | Reshape{.shape = {-1, -1}}), refused("only one extent can be -1"));
  EXPECT_THAT((images | Reshape{.shape = {-2, 8}}), refused("shape"));
  EXPECT_THAT((images | Reshape{.shape = {1 << 30, 1 << 30, 1 << 30}}), refused("do not fill"));
  EXPECT_THAT((images | Reshape{.shape = {16}, .field = "x"}), refused("there is no field 'x'"));
}

using ReshapeOfTexts = TextTest;

TEST_F(ReshapeOfTexts, NamesTheElementWhoseValuesDoNotFillTheShape) {
  const Result<Dataset> texts =
      LinesOf("t", "abcdef\nabc\n") | Reshape{.shape = {2, 3}, .field = "text"};
  EXPECT_EQ(texts->spec().fields[0].shape, (Shape{2, 3}));
  EXPECT_THAT(
      ReadAll(*texts, Runtime::Inline()).status(),
      FailsWith(StatusCode::kDataLoss, "t: byte 7: reshape: element 7: field 'text' has 3 values"));
}

}  // namespace stoker::reshape_test
