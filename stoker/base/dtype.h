// Element types of arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

enum class DType : uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64
};

// Returns the size of one value in bytes.
size_t DTypeSize(DType dtype);

// Returns "uint8", "float32", ...
std::string_view DTypeName(DType dtype);

// Returns the inverse of DTypeName; the error lists the names.
Result<DType> ParseDType(std::string_view name);

// Returns true for kFloat16 to kFloat64.
bool IsFloating(DType dtype);

// Returns the DType of a C++ type: DTypeOf<float>() is kFloat32.
template <typename T>
constexpr DType DTypeOf();
template <>
constexpr DType DTypeOf<bool>() {
  return DType::kBool;
}
template <>
constexpr DType DTypeOf<uint8_t>() {
  return DType::kUInt8;
}
template <>
constexpr DType DTypeOf<int8_t>() {
  return DType::kInt8;
}
template <>
constexpr DType DTypeOf<int16_t>() {
  return DType::kInt16;
}
template <>
constexpr DType DTypeOf<int32_t>() {
  return DType::kInt32;
}
template <>
constexpr DType DTypeOf<int64_t>() {
  return DType::kInt64;
}
template <>
constexpr DType DTypeOf<float>() {
  return DType::kFloat32;
}
template <>
constexpr DType DTypeOf<double>() {
  return DType::kFloat64;
}

}  // namespace stoker
