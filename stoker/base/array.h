// Array: a dense, C-contiguous, n-dimensional block of values. Every field of an element is one.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/dtype.h"
#include "stoker/base/shape.h"

struct DLManagedTensor;

namespace stoker {

// A cheap value: copies share the Buffer. The shape is always fully known.
class Array {
 public:
  Array() = default;
  // `buffer` must hold at least DTypeSize(dtype) * NumValues(shape) bytes from byte_offset on.
  Array(Buffer buffer, DType dtype, Shape shape, size_t byte_offset = 0);

  // Returns a new array whose values are not initialised.
  static Array Allocate(DType dtype, Shape shape,
                        const std::shared_ptr<MemoryAccount>& account = nullptr);

  // Returns a copy of `values` with this shape (default: one dimension). For tests, labels and
  // small data.
  template <typename T>
  static Array Of(std::span<const T> values, Shape shape) {
    Array out = Allocate(DTypeOf<T>(), std::move(shape));
    // The pointer of an empty span may be null, which memcpy must not be given.
    if (!values.empty()) std::memcpy(out.data(), values.data(), values.size_bytes());
    return out;
  }
  template <typename T>
  static Array Of(const std::vector<T>& values) {
    return Of(std::span<const T>(values), {static_cast<int64_t>(values.size())});
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t num_values() const { return num_values_; }
  size_t num_bytes() const { return static_cast<size_t>(num_values_) * DTypeSize(dtype_); }
  std::byte* data() const { return data_; }
  const Buffer& buffer() const { return buffer_; }

  // Returns the values as Ts. REQUIRES: T is the dtype's C++ type.
  template <typename T>
  std::span<T> values() const {
    return {reinterpret_cast<T*>(data_), static_cast<size_t>(num_values_)};
  }

  // Returns part i of the first dimension, sharing the memory. REQUIRES: the array has a first
  // dimension and 0 <= i < its extent.
  Array Row(int64_t i) const;
  // Returns parts begin..end-1 of the first dimension, sharing the memory.
  Array Rows(int64_t begin, int64_t end) const;
  // Returns the same values in another shape of the same size, sharing the memory.
  Array Reshaped(Shape shape) const;

  // Returns "float32[128, 1, 28, 28]"
  std::string ToString() const;

 private:
  Buffer buffer_;
  std::byte* data_ = nullptr;
  DType dtype_ = DType::kUInt8;
  Shape shape_{0};
  int64_t num_values_ = 0;
};

// Returns true if dtype, shape and bytes are the same.
bool SameBytes(const Array& a, const Array& b);

// DLPack (https://dmlc.github.io/dlpack, version 0.8 of the structure); neither direction copies.
// The caller of ToDLPack owns the result and must call its deleter; the memory lives until then.
DLManagedTensor* ToDLPack(const Array& array);
// Takes ownership of `tensor` (on success and on failure). It must lie in CPU memory, contiguous,
// with a dtype of DType.
Result<Array> FromDLPack(DLManagedTensor* tensor);

}  // namespace stoker
