#include "stoker/data/ops/concatenate.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"

namespace stoker::concatenate_test {

using testing::ElementsAre;

TEST(Concatenate, GivesOneInputAfterTheOther) {
  for (const Dataset& second : {Numbers(2, 10), StreamedNumbers(2, 10)}) {
    EXPECT_THAT(
        ValuesOf(Source(Concatenate{.inputs = {Numbers(3), second, Numbers(0), Numbers(2, 20)}})),
        ElementsAre(0, 1, 2, 10, 11, 20, 21));
  }
}

TEST(Concatenate, IsReadByPositionWhereAllInputsAre) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset all,
                              Source(Concatenate{.inputs = {Numbers(3), Numbers(2)}}));
  EXPECT_TRUE(all.node().random_access());
  EXPECT_EQ(all.cardinality(), Cardinality::Of(5));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset streamed,
                              Source(Concatenate{.inputs = {Numbers(3), StreamedNumbers(2)}}));
  EXPECT_FALSE(streamed.node().random_access());
  EXPECT_EQ(streamed.cardinality(), Cardinality::Unknown());
}

TEST(Concatenate, KeepsItsPromises) {
  ExpectKeepsItsPromises(
      Source(Concatenate{.inputs = {Numbers(7) | AddMillions(), Numbers(8, 100) | Shuffle{}}}) |
      AddMillions() | Batch{.size = 4});
  ExpectKeepsItsPromises(
      Source(Concatenate{.inputs = {StreamedNumbers(7) | AddMillions(), Numbers(0), Numbers(5)}}) |
      AddMillions());
  ExpectKeepsItsPromises(Source(Concatenate{.inputs = {Numbers(6), Numbers(5, 50)}}) | Shuffle{} |
                         AddMillions() | Repeat{.count = 2});
}

TEST(Concatenate, FieldsMustAgreeAndDifferentExtentsBecomeUnknown) {
  EXPECT_THAT(Source(Concatenate{.inputs = {Numbers(3), Numbers(3, 0, "y")}}),
              FailsWith(StatusCode::kInvalidArgument, "input 1 has {y: int64[]}"));
  const auto rows = [](int64_t width) {
    return *FromArrays({{"x", Array::Allocate(DType::kUInt8, {2, width})}});
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset ragged,
                              Source(Concatenate{.inputs = {rows(3), rows(4)}}));
  EXPECT_EQ(ragged.spec().ToString(), "{x: uint8[?]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all,
                              ReadAll(ragged, Runtime::Threaded(2)));
  EXPECT_EQ(all[1].arrays[0].shape(), (Shape{3}));
  EXPECT_EQ(all[2].arrays[0].shape(), (Shape{4}));
}

TEST(Concatenate, OnlyTheLastInputMayBeEndless) {
  EXPECT_THAT(Source(Concatenate{.inputs = {Numbers(3) | Repeat{}, Numbers(3)}}),
              FailsWith(StatusCode::kInvalidArgument, "input 0 has no end, so input 1 is never"));
  EXPECT_TRUE(
      Source(Concatenate{.inputs = {Numbers(3), Numbers(3) | Repeat{}}})->cardinality().infinite());
}

TEST(Concatenate, RefusesADamagedPosition) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Source(Concatenate{.inputs = {Numbers(3), StreamedNumbers(2)}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
  EXPECT_THAT(iterator->Restore({{"seed", 0}, {"number", 3}}),
              FailsWith(StatusCode::kDataLoss, "input 3 of 2"));
}

}  // namespace stoker::concatenate_test
