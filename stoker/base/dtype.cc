#include "stoker/base/dtype.h"

#include <array>
#include <string>

namespace stoker {
namespace {

struct DTypeFacts {
  std::string_view name;
  size_t size;
};

// In the order of the enumerators.
constexpr std::array<DTypeFacts, 10> kFacts = {{{"bool", 1},
                                                {"uint8", 1},
                                                {"int8", 1},
                                                {"int16", 2},
                                                {"int32", 4},
                                                {"int64", 8},
                                                {"float16", 2},
                                                {"bfloat16", 2},
                                                {"float32", 4},
                                                {"float64", 8}}};

const DTypeFacts& FactsOf(DType dtype) { return kFacts[static_cast<size_t>(dtype)]; }

}  // namespace

size_t DTypeSize(DType dtype) { return FactsOf(dtype).size; }

std::string_view DTypeName(DType dtype) { return FactsOf(dtype).name; }

Result<DType> ParseDType(std::string_view name) {
  std::string names;
  for (size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].name == name) return static_cast<DType>(i);
    if (i > 0) names += ", ";
    names += kFacts[i].name;
  }
  return InvalidArgument("'{}' is not a dtype; the dtypes are {}", name, names);
}

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat32 ||
         dtype == DType::kFloat64;
}

}  // namespace stoker
