#include "stoker/data/ops/padded_batch.h"

#include <numeric>

#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/lengths.h"
#include "stoker/data/testing/promises.h"

namespace stoker::padded_batch_test {

using testing::ElementsAre;

std::vector<Element> Read(const Result<Dataset>& dataset) {
  return *ReadAll(*dataset, Runtime::Threaded(2));
}

TEST(PaddedBatch, PadsToTheLongestOfEachBatch) {
  for (const Dataset& source : {Sequences({2, 0, 3, 1}), SequenceStream({2, 0, 3, 1})}) {
    const Result<Dataset> dataset = source | PaddedBatch{.size = 2, .padding = {-1}};
    EXPECT_EQ(dataset->spec().fields[0].shape.back(), kUnknownDim);
    const std::vector<Element> batches = Read(dataset);
    ASSERT_EQ(batches.size(), 2u);
    EXPECT_EQ(batches[0].arrays[0].ToString(), "int64[2, 2]");
    EXPECT_THAT(batches[0].arrays[0].values<int64_t>(), ElementsAre(0, 1, -1, -1));
    EXPECT_EQ(batches[1].arrays[0].ToString(), "int64[2, 3]");
    EXPECT_THAT(batches[1].arrays[0].values<int64_t>(), ElementsAre(200, 201, 202, 300, -1, -1));
    EXPECT_THAT(Labels(batches), ElementsAre(0, 1, 2, 3));
  }
}

TEST(PaddedBatch, PadsToAShape) {
  const Result<Dataset> dataset =
      Sequences({2, 1}) | PaddedBatch{.size = 2, .padding = {9}, .shape = {"4"}};
  EXPECT_EQ(dataset->spec().ToString(), "{tokens: int64[2, 4], label: int64[2]}");
  EXPECT_THAT(Read(dataset)[0].arrays[0].values<int64_t>(), ElementsAre(0, 1, 9, 9, 100, 9, 9, 9));
}

TEST(PaddedBatch, AddsLengthsAndMask) {
  const Result<Dataset> dataset =
      Sequences({2, 0, 1}) | PaddedBatch{.size = 3, .lengths = true, .mask = true};
  EXPECT_EQ(dataset->spec().ToString(),
            "{tokens: int64[3, ?], label: int64[3], tokens_length: int64[3], tokens_mask: bool[3, "
            "?]}");
  const Element batch = Read(dataset)[0];
  EXPECT_THAT(batch.arrays[2].values<int64_t>(), ElementsAre(2, 0, 1));
  EXPECT_THAT(batch.arrays[3].values<bool>(), ElementsAre(1, 1, 0, 0, 1, 0));
}

// Images {image: uint8[1, h, w]} of the sizes given, with values 1, 2, ...
Dataset Images(const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  return FromGenerator({{{"image", DType::kUInt8, {1, -1, -1}}}}, [sizes](uint64_t) {
    return [sizes, i = size_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == sizes.size()) return std::nullopt;
      Array image = Array::Allocate(DType::kUInt8, {1, sizes[i].first, sizes[i].second});
      std::iota(image.values<uint8_t>().begin(), image.values<uint8_t>().end(), uint8_t{1});
      ++i;
      return Element{.arrays = {image}};
    };
  });
}

TEST(PaddedBatch, PadsSeveralDimensions) {
  const std::vector<Element> batches =
      Read(Images({{2, 2}, {1, 3}}) |
           PaddedBatch{.size = 2, .padding = {7}, .lengths = true, .mask = true});
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].arrays[0].ToString(), "uint8[2, 1, 2, 3]");
  EXPECT_THAT(batches[0].arrays[0].values<uint8_t>(),
              ElementsAre(1, 2, 7, 3, 4, 7, 1, 2, 3, 7, 7, 7));
  EXPECT_EQ(batches[0].arrays[1].ToString(), "int64[2, 2]");
  EXPECT_THAT(batches[0].arrays[1].values<int64_t>(), ElementsAre(2, 2, 1, 3));
  EXPECT_EQ(batches[0].arrays[2].ToString(), "bool[2, 2, 3]");
  EXPECT_THAT(batches[0].arrays[2].values<bool>(), ElementsAre(1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0));

  const Result<Dataset> partly =
      Images({{2, 2}, {1, 3}}) | PaddedBatch{.size = 2, .drop_remainder = true, .shape = {"1x?x4"}};
  EXPECT_EQ(partly->spec().ToString(), "{image: uint8[2, 1, ?, 4]}");
  EXPECT_EQ(Read(partly)[0].arrays[0].ToString(), "uint8[2, 1, 2, 4]");
}

TEST(PaddedBatch, MakesFieldsOfKnownShapeLarger) {
  const Element batch = Read(
      NumberedImages(2) |
      PaddedBatch{
          .size = 2, .fields = {"image"}, .padding = {5}, .shape = {"1x5x4"}, .mask = true})[0];
  EXPECT_EQ(batch.arrays[0].ToString(), "uint8[2, 1, 5, 4]");
  EXPECT_THAT(batch.arrays[0].Row(1).Row(0).Row(4).values<uint8_t>(), ElementsAre(5, 5, 5, 5));
  EXPECT_THAT(batch.arrays[2].values<bool>(), ElementsAre(1, 1, 1, 1, 0, 1, 1, 1, 1, 0));
}

TEST(PaddedBatch, KeepsOrDropsTheRest) {
  for (const Dataset& source : {Sequences({1, 2, 3}), SequenceStream({1, 2, 3})}) {
    EXPECT_EQ(Read(source | PaddedBatch{.size = 2}).size(), 2u);
    const Result<Dataset> dropped = source | PaddedBatch{.size = 2, .drop_remainder = true};
    EXPECT_EQ(Read(dropped).size(), 1u);
    EXPECT_EQ(dropped->spec().fields[1].shape, (Shape{2}));
    EXPECT_NE(dropped->node().Disturbs(), "");
  }
  EXPECT_EQ((Sequences({1}) | PaddedBatch{})->node().Disturbs(), "");
}

TEST(PaddedBatch, KeepsThePromisesOfAPipeline) {
  const std::vector<int64_t> lengths = {3, 0, 5, 1, 1, 8, 2, 2, 4, 7, 1};
  const PaddedBatch padded{.size = 3, .padding = {-7}, .lengths = true, .mask = true};
  ExpectKeepsItsPromises(*(Sequences(lengths) | Shuffle{} | padded | Prefetch{}));
  ExpectKeepsItsPromises(*(Sequences(lengths) | Repeat{.count = 2} | padded));
  ExpectKeepsItsPromises(*(SequenceStream(lengths) | padded | Repeat{.count = 2}));
}

TEST(PaddedBatch, NamesTheElementThatIsTooLong) {
  for (const Dataset& source : {Sequences({1, 9}), SequenceStream({1, 9})}) {
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      EXPECT_THAT(
          ReadAll(*(source | PaddedBatch{.shape = {"4"}}), runtime),
          FailsWith(StatusCode::kInvalidArgument,
                    "padded_batch: element 1: field 'tokens' has shape [9], but [4] is what there "
                    "is room for"));
    }
  }
}

TEST(PaddedBatch, RefusesWhatMakesNoSense) {
  const auto expect = [](const PaddedBatch& options, const char* says) {
    EXPECT_THAT(Sequences({1, 2}) | options, FailsWith(StatusCode::kInvalidArgument, says));
  };
  expect({.size = 0}, "size is 0");
  expect({.fields = {"label"}}, "field 'tokens' has shape [?], which differs between elements");
  expect({.fields = {"tokens", "words"}}, "there is no field 'words'");
  expect({.padding = {1, 2}}, "padding has 2 entries, but 1 fields are padded");
  expect({.padding = {0.5}}, "padding is 0.5, which int64 of field 'tokens' cannot hold");
  expect({.shape = {"4x4"}}, "shape 4x4 does not fit field 'tokens'");
  expect({.shape = {"4,4"}}, "shape '4,4' is none");
  expect({.shape = {"-1"}}, "shape '-1' is none");
  expect({.shape = {""}}, "shape '' is none");
  expect({.fields = {"tokens", "tokens"}}, "fields names 'tokens' twice");
  expect({.shape = {"1152921504606846976"}}, "more bytes than can be counted");  // 2^60
  expect({.fields = {"tokens", "label"}, .mask = true}, "field 'label' is a scalar");
  EXPECT_THAT((NumberedImages(2) | PaddedBatch{.fields = {"image"}, .shape = {"1x3x4"}}),
              FailsWith(StatusCode::kInvalidArgument, "and none that is smaller"));
}

TEST(PaddedBatch, RefusesOptionsThatWouldSayNothing) {
  const auto expect = [](const PaddedBatch& options, const char* says) {
    EXPECT_THAT(NumberedImages(2) | options, FailsWith(StatusCode::kInvalidArgument, says));
  };
  EXPECT_THAT(NumberedImages(2) | PaddedBatch{}, IsOk());
  expect({.shape = {"1x5x5"}}, "shape is set, but all elements have the same shapes");
  expect({.lengths = true}, "lengths is set, but all elements have the same shapes");
  expect({.mask = true}, "mask is set, but all elements have the same shapes");
}

// The same fields whether the data happen to be of one length or not.
TEST(PaddedBatch, AddsLengthsAndMaskForAFieldThatIsNamed) {
  const std::vector<int64_t> values = {1, 2, 3, 4, 5, 6};
  const Dataset rows = *FromArrays({{"tokens", Array::Of<int64_t>(values, {2, 3})}});
  const Result<Dataset> dataset =
      rows | PaddedBatch{.size = 2, .fields = {"tokens"}, .lengths = true, .mask = true};
  EXPECT_EQ(dataset->spec().ToString(),
            "{tokens: int64[2, 3], tokens_length: int64[2], tokens_mask: bool[2, 3]}");
  const Element batch = Read(dataset)[0];
  EXPECT_THAT(batch.arrays[0].values<int64_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(batch.arrays[1].values<int64_t>(), ElementsAre(3, 3));
  EXPECT_THAT(batch.arrays[2].values<bool>(), ElementsAre(1, 1, 1, 1, 1, 1));
}

TEST(PaddedBatch, CountsItsMemoryWhereTheShapeTells) {
  EXPECT_EQ((Sequences({1, 2}) | PaddedBatch{})->node().MemoryToRead(1), std::nullopt);
  const PaddedBatch larger{.size = 10, .fields = {"image"}, .shape = {"1x8x8"}};
  const Result<Dataset> dataset = NumberedImages(100) | larger;
  // Ten images one by one, each in blocks of its own, then 640 and 80 bytes.
  const int64_t one = 10 * *NumberedImages(100).node().MemoryToRead(1) + 640 + 128;
  EXPECT_EQ(dataset->node().MemoryToRead(1), one);
  // Several batches are made one by one, and then put together.
  EXPECT_EQ(dataset->node().MemoryToRead(3), 3 * one + 3 * 640 + 256);
}

}  // namespace stoker::padded_batch_test
