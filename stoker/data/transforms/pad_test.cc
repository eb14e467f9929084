#include "stoker/data/transforms/pad.h"

#include "stoker/data/testing/paired_transforms.h"

namespace stoker::pad_test {

Result<Array> Padded(const Pad& options) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                          Result<Dataset>(EmptyImages(DType::kUInt8, {1, 1, 2})) | options);
  STOKER_ASSIGN_OR_RETURN(Array out, TransformTester(dataset).Apply(BytesArray({1, 2}, {1, 1, 2})));
  EXPECT_EQ(out.shape(), dataset.spec().fields[0].shape);
  return out;
}

TEST(Pad, TakesOneTwoOrFourWidths) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array all, Padded({.padding = {1}, .fill = 9}));
  EXPECT_THAT(all.values<uint8_t>(), testing::ElementsAre(9, 9, 9, 9,  //
                                                          9, 1, 2, 9,  //
                                                          9, 9, 9, 9));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array two, Padded({.padding = {2, 0}}));
  EXPECT_THAT(two.values<uint8_t>(), testing::ElementsAre(0, 0, 1, 2, 0, 0));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array four, Padded({.padding = {1, 0, 0, 1}}));
  EXPECT_THAT(four.values<uint8_t>(), testing::ElementsAre(0, 1, 2, 0, 0, 0));
}

TEST(Pad, ShowsWhatIsInTheImageWhereItIsTold) {
  const auto padded = [](const char* mode) {
    const Array out = *Padded({.padding = {3, 0}, .fill = 9, .padding_mode = mode});
    return std::vector<int>(out.values<uint8_t>().begin(), out.values<uint8_t>().end());
  };
  EXPECT_THAT(padded("constant"), testing::ElementsAre(9, 9, 9, 1, 2, 9, 9, 9));
  EXPECT_THAT(padded("edge"), testing::ElementsAre(1, 1, 1, 1, 2, 2, 2, 2));
  EXPECT_THAT(padded("reflect"), testing::ElementsAre(2, 1, 2, 1, 2, 1, 2, 1));
  EXPECT_THAT(padded("symmetric"), testing::ElementsAre(2, 2, 1, 1, 2, 2, 1, 1));
}

TEST(Pad, RefusesToGoOnWithNothing) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {1, -1, -1})) |
                                  Pad{.padding = {1}, .padding_mode = "edge"});
  EXPECT_THAT(TransformTester(dataset).Apply(Array::Allocate(DType::kUInt8, {1, 0, 3})),
              FailsWith(StatusCode::kInvalidArgument, "pad: an image of 0 x 3 pixels has none"));
}

TEST(Pad, LeavesUnknownSizesUnknown) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyImages(DType::kUInt8, {1, -1, 4})) | Pad{.padding = {1}});
  EXPECT_EQ(dataset.spec().ToString(), "{image: uint8[1, ?, 6]}");
}

TEST(Pad, MovesMasksWithImages) {
  for (const char* mode : {"constant", "edge", "reflect", "symmetric"}) {
    ExpectMovesMasksWithImages(
        Pad{.padding = {3, 0, 1, 2}, .padding_mode = mode, .masks = {"mask"}});
  }
}

TEST(Pad, FillsMasksWithAValueOfTheirOwn) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(EmptyPairs()) |
          Pad{.padding = {0, 0, 0, 1}, .fill = 3, .mask_fill = -100, .masks = {"mask"}});
  STOKER_ASSERT_OK_AND_ASSIGN(const Element out, TransformTester(dataset).Apply(PairOf(1, 1, 1)));
  EXPECT_EQ(out.arrays[0].values<uint8_t>()[1], 3);
  EXPECT_EQ(out.arrays[1].values<int64_t>()[1], -100);
}

TEST(Pad, RowsGiveTheBytesOfElements) {
  for (const DType dtype : {DType::kUInt8, DType::kInt64})
    ExpectRowsAndElementsAgree(Pad{.padding = {2}}, dtype, {3, 5, 7});
}

TEST(Pad, IsRefusedBeforeTheFirstElement) {
  ExpectRefused(Pad{.padding = {1, 2, 3}}, DType::kUInt8, {3, 8, 8}, "pad: padding has 3 values");
  ExpectRefused(Pad{.padding = {-1}}, DType::kUInt8, {3, 8, 8}, "padding");
}

}  // namespace stoker::pad_test
