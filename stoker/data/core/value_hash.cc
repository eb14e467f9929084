#include "stoker/data/core/value_hash.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "stoker/base/random.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
// Sets texts and fractions apart from integers.
constexpr uint64_t kText = 0x7465787400000000;
constexpr uint64_t kFraction = 0x6672616300000000;
constexpr double kExact = 0x1p53;  // whole floats below this are the integers that they look like

uint64_t Add(uint64_t hash, uint64_t word) { return Mix64(hash + word * kGolden + 1); }

uint64_t AddText(const std::byte* data, size_t size, uint64_t hash) {
  hash = Add(hash, kText + size);
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, data + at, sizeof(word));
    hash = Add(hash, word);
  }
  uint64_t rest = 0;
  if (at < size) std::memcpy(&rest, data + at, size - at);
  return Add(hash, rest);
}

uint64_t AddNumber(uint64_t hash, double value) {
  if (std::isnan(value)) return Add(hash, kFraction);
  if (std::abs(value) < kExact && value == std::trunc(value))
    return Add(hash, static_cast<uint64_t>(static_cast<int64_t>(value)));
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return Add(Add(hash, kFraction), bits);
}

// Calls `add` with each value as a T, converted some at a time.
template <typename T, typename Add>
void ForEachAs(const Array& array, const Add& add) {
  constexpr size_t kAtOnce = 32;
  T values[kAtOnce];
  const auto count = static_cast<size_t>(array.num_values());
  for (size_t begin = 0; begin < count; begin += kAtOnce) {
    const size_t n = std::min(kAtOnce, count - begin);
    CastValues(array.dtype(), array.data() + begin * DTypeSize(array.dtype()), n, DTypeOf<T>(),
               reinterpret_cast<std::byte*>(values));
    for (size_t i = 0; i < n; ++i) add(values[i]);
  }
}

}  // namespace

uint64_t HashText(std::string_view text, uint64_t seed) {
  return AddText(reinterpret_cast<const std::byte*>(text.data()), text.size(),
                 Mix64(seed + kGolden));
}

uint64_t HashValues(const Array& array, uint64_t seed) {
  uint64_t hash = Mix64(seed + kGolden);
  if (array.dtype() == DType::kUInt8 && array.shape().size() == 1)
    return AddText(array.data(), array.num_bytes(), hash);
  hash = Add(hash, static_cast<uint64_t>(array.num_values()));
  if (IsFloating(array.dtype())) {
    ForEachAs<double>(array, [&](double value) { hash = AddNumber(hash, value); });
  } else {
    ForEachAs<int64_t>(array,
                       [&](int64_t value) { hash = Add(hash, static_cast<uint64_t>(value)); });
  }
  return hash;
}

}  // namespace stoker
