// Helpers for tests of transforms that move images and masks together. Only tests include it.
#pragma once

#include <vector>

#include "stoker/data/testing/transforms.h"

namespace stoker {

// {image: uint8[3, -1, -1], mask: int64[1, -1, -1]}: decoded pictures differ in size.
inline Dataset EmptyPairs() {
  return EmptyDataset({{{"image", DType::kUInt8, {3, kUnknownDim, kUnknownDim}},
                        {"mask", DType::kInt64, {1, kUnknownDim, kUnknownDim}}}});
}

// Mixed bytes, 1 or more, so that a border of 0 shows; the mask is the image's first channel.
inline Element PairOf(int64_t index, int64_t height, int64_t width) {
  Array image = Array::Allocate(DType::kUInt8, {3, height, width});
  uint32_t state = static_cast<uint32_t>(index);
  for (uint8_t& value : image.values<uint8_t>()) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<uint8_t>(1 + (state >> 24) % 255);
  }
  Array mask = Array::Allocate(DType::kInt64, {1, height, width});
  for (size_t i = 0; i < mask.values<int64_t>().size(); ++i)
    mask.values<int64_t>()[i] = image.values<uint8_t>()[i];
  return {.key = {.epoch = 1, .index = index}, .arrays = {std::move(image), std::move(mask)}};
}

// The mask still is the image's first channel: both went through the same draw.
inline void ExpectStillAPair(const Element& element) {
  const Array &image = element.arrays[0], &mask = element.arrays[1];
  ASSERT_EQ(image.shape()[1], mask.shape()[1]);
  ASSERT_EQ(image.shape()[2], mask.shape()[2]);
  for (size_t i = 0; i < mask.values<int64_t>().size(); ++i)
    ASSERT_EQ(mask.values<int64_t>()[i], image.values<uint8_t>()[i]) << i;
}

// `options` takes nearest neighbour, and `masks: mask`.
template <typename Options>
void ExpectMovesMasksWithImages(const Options& options) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(EmptyPairs()) | options);
  TransformTester tester(dataset);
  for (int64_t index = 0; index < 30; ++index) {
    SCOPED_TRACE(testing::Message() << Options::kName << ' ' << index);
    STOKER_ASSERT_OK_AND_ASSIGN(const Element out, tester.Apply(PairOf(index, 20 + index % 3, 25)));
    ExpectStillAPair(out);
  }
}

// Checks that the result does not depend on whether the memory may be written, nor on earlier
// calls, and that shared memory does not change.
template <typename Options>
void ExpectRowsAndElementsAgree(const Options& options, DType dtype, const Shape& shape) {
  SCOPED_TRACE(testing::Message() << Options::kName << ' ' << DTypeName(dtype));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyImages(dtype, shape)) | options);
  TransformTester(dataset).ExpectRowsGiveTheBytesOfElements(CountingRows(12, dtype, shape));
}

inline Array BytesArray(const std::vector<uint8_t>& values, Shape shape) {
  return Array::Of(std::span<const uint8_t>(values), std::move(shape));
}

template <typename Options>
void ExpectRefused(const Options& options, DType dtype, const Shape& shape, const char* says) {
  EXPECT_THAT(Result<Dataset>(EmptyImages(dtype, shape)) | options,
              FailsWith(StatusCode::kInvalidArgument, says));
}

}  // namespace stoker
