// Spec: what the elements of a dataset look like, known before the first one is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/dtype.h"
#include "stoker/base/shape.h"
#include "stoker/base/status.h"

namespace stoker {

// One named array of every element. Extents that differ between elements are -1.
struct Field {
  std::string name;
  DType dtype = DType::kUInt8;
  Shape shape;

  bool operator==(const Field&) const = default;
  // "image: uint8[1, 28, 28]"
  std::string ToString() const;
};

// Return the sum, or the product, of two sizes; nothing if one is unknown or the result exceeds 64
// bits.
std::optional<int64_t> AddSizes(std::optional<int64_t> a, std::optional<int64_t> b);
std::optional<int64_t> MultiplySizes(std::optional<int64_t> a, std::optional<int64_t> b);

struct Spec {
  std::vector<Field> fields;

  bool operator==(const Spec&) const = default;

  // Returns the number of the field called `name`. The error names `who`, the caller, and lists the
  // fields.
  Result<size_t> IndexOf(std::string_view who, std::string_view name) const;

  // Returns the bytes of one element, or nothing if a shape is not fully known.
  std::optional<int64_t> ElementBytes() const;

  // Return the bytes of the memory blocks that hold `count` elements: a block for each field of
  // each element, or one block for each field. Nothing if a shape is not fully known, or beyond 64
  // bits.
  std::optional<int64_t> BytesApart(int64_t count) const;
  std::optional<int64_t> BytesTogether(int64_t count) const;

  // "{image: uint8[1, 28, 28], label: uint8[]}"
  std::string ToString() const;
};

}  // namespace stoker
