// The tensors of a file as `stoker inspect` lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/dtype.h"
#include "stoker/base/json.h"
#include "stoker/base/shape.h"

namespace stoker {

class TensorList {
 public:
  void Add(std::string_view name, DType dtype, const Shape& shape);
  // Adds a tensor of a type that Stoker lacks.
  void Add(std::string_view name, std::string_view type, const Shape& shape, uint64_t bytes);

  int64_t values() const { return values_; }
  uint64_t bytes() const { return bytes_; }
  size_t size() const { return rows_.size() - 1; }
  // For each name an object: dtype, shape, bytes.
  const Json& json() const { return json_; }
  // "7 tensors, 17,018 values, 68 KB"
  std::string Totals() const;
  // A table, whole lines.
  std::string Table() const;

 private:
  Json json_ = Json::object();
  std::vector<std::vector<std::string>> rows_ = {{"tensor", "type", "shape", "size"}};
  int64_t values_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace stoker
