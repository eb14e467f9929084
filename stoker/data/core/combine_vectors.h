// How the vectors of a list of categories, or of a sequence of tokens, become one.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace stoker {

// Their sum times a share that depends on how many there are. The share of kSqrtN, 1 / sqrt(count),
// keeps the variance of a sum of independent vectors that of one (the combiner `sqrtn` of
// TensorFlow's embedding columns, for weights of 1).
enum class CombineVectors { kMean, kSum, kSqrtN };

// REQUIRES: `name` is "mean", "sum" or "sqrtn".
inline CombineVectors CombineNamed(std::string_view name) {
  if (name == "sum") return CombineVectors::kSum;
  return name == "sqrtn" ? CombineVectors::kSqrtN : CombineVectors::kMean;
}

// Returns what each of `count` vectors counts. REQUIRES: count > 0.
inline float ShareOfEach(CombineVectors combine, int64_t count) {
  if (combine == CombineVectors::kSum) return 1;
  const auto n = static_cast<float>(count);
  return 1 / (combine == CombineVectors::kMean ? n : std::sqrt(n));
}

}  // namespace stoker
