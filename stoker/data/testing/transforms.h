// Helpers for tests of transforms. Only tests include it.
#pragma once

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/data/core/transform.h"
#include "stoker/data/nodes/from_generator.h"
#include "stoker/data/options/registry.h"

namespace stoker {

// Returns a dataset of nothing, for what is found out before the first element.
inline Dataset EmptyDataset(Spec spec) {
  return FromGenerator(std::move(spec), [](uint64_t) {
    return []() -> Result<std::optional<Element>> { return std::nullopt; };
  });
}
inline Dataset EmptyImages(DType dtype, Shape shape) {
  return EmptyDataset({{{"image", dtype, std::move(shape)}}});
}

inline Array CopyOf(const Array& array) {
  Array copy = Array::Allocate(array.dtype(), array.shape());
  if (array.num_bytes() > 0) std::memcpy(copy.data(), array.data(), array.num_bytes());
  return copy;
}

// n samples {image, label} with keys 100, 101, ...; the image's bytes count up (floats count up as
// numbers).
inline Rows CountingRows(int64_t n, DType dtype, const Shape& shape) {
  Array images = Array::Allocate(dtype, ShapeOfRows(n, shape));
  if (dtype == DType::kFloat32) {
    std::iota(images.values<float>().begin(), images.values<float>().end(), 0.0f);
  } else {
    for (size_t i = 0; i < images.num_bytes(); ++i) images.data()[i] = static_cast<std::byte>(i);
  }
  Array labels = Array::Allocate(DType::kInt64, {n});
  std::iota(labels.values<int64_t>().begin(), labels.values<int64_t>().end(), 0);
  Rows rows{.keys = {}, .columns = {std::move(images), std::move(labels)}};
  for (int64_t i = 0; i < n; ++i) rows.keys.push_back({.epoch = 3, .index = 100 + i});
  return rows;
}

// Puts samples through the transform of a dataset's last stage.
class TransformTester {
 public:
  explicit TransformTester(const Dataset& dataset)
      : dataset_(dataset),
        transform_(*dataset.node().element_wise()),
        rngs_{.seed = 1, .stage = 1} {}

  // Returns the stream that the stage hands a sample.
  Rng RngOf(const SampleKey& key) const { return rngs_.For(key); }

  Result<Element> Apply(Element element) {
    Rng rng = RngOf(element.key);
    STOKER_RETURN_IF_ERROR(transform_.Apply(element, rng, scratch_));
    return element;
  }

  // One image alone, whose memory is not shared.
  Result<Array> Apply(const Array& image) {
    Element element{.key = {.epoch = 0, .index = 7}, .arrays = {}};
    element.arrays.push_back(CopyOf(image));
    STOKER_ASSIGN_OR_RETURN(Element out, Apply(std::move(element)));
    return out.arrays.front();
  }

  Result<Rows> ApplyRows(Rows rows) {
    STOKER_RETURN_IF_ERROR(transform_.ApplyRows(rows, rngs_, scratch_));
    return rows;
  }

  // Many at once give what one by one gives, whether the memory may be written in place or is
  // shared, and what is shared stays as it was.
  void ExpectRowsGiveTheBytesOfElements(const Rows& rows) {
    const std::vector<Array> before = {CopyOf(rows.columns[0]), CopyOf(rows.columns[1])};
    STOKER_ASSERT_OK_AND_ASSIGN(const Rows shared, ApplyRows(rows));
    STOKER_ASSERT_OK_AND_ASSIGN(const Rows owned,
                                ApplyRows({.keys = rows.keys, .columns = before}));
    for (int64_t i = 0; i < rows.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "row " << i);
      STOKER_ASSERT_OK_AND_ASSIGN(const Element of_shared, Apply(rows.RowElement(i)));
      Element copy = rows.RowElement(i);
      for (Array& array : copy.arrays) array = CopyOf(array);
      STOKER_ASSERT_OK_AND_ASSIGN(const Element of_owned, Apply(std::move(copy)));
      for (size_t f = 0; f < rows.columns.size(); ++f) {
        ASSERT_TRUE(SameBytes(shared.columns[f].Row(i), of_shared.arrays[f]));
        ASSERT_TRUE(SameBytes(owned.columns[f].Row(i), of_shared.arrays[f]));
        ASSERT_TRUE(SameBytes(of_owned.arrays[f], of_shared.arrays[f]));
      }
    }
    EXPECT_EQ(shared.keys, rows.keys);
  }

 private:
  const Dataset dataset_;
  const Transform& transform_;
  const RngFactory rngs_;
  BufferPool pool_{nullptr, /*max_idle_bytes=*/1 << 20};
  Scratch scratch_{pool_};
};

}  // namespace stoker
