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

struct Spec {
  std::vector<Field> fields;

  bool operator==(const Spec&) const = default;

  // The number of the field called `name`. The error names `who` asks and lists the fields there
  // are.
  Result<size_t> IndexOf(std::string_view who, std::string_view name) const;

  // Bytes of one element, or nothing where a shape is not fully known.
  std::optional<int64_t> ElementBytes() const;

  // "{image: uint8[1, 28, 28], label: uint8[]}"
  std::string ToString() const;
};

}  // namespace stoker
