#include "stoker/data/core/key_lists.h"

#include <utility>

namespace stoker {
namespace {

constexpr size_t kMostKept = (size_t{64} << 10) / sizeof(SampleKey);

std::vector<SampleKey>& KeptByThisThread() {
  thread_local std::vector<SampleKey> kept;
  return kept;
}

}  // namespace

std::vector<SampleKey> EmptyKeyList(size_t n) {
  std::vector<SampleKey> keys = std::exchange(KeptByThisThread(), {});
  keys.clear();
  keys.reserve(n);
  return keys;
}

std::vector<SampleKey> KeysAt(std::span<const int64_t> positions, uint64_t epoch) {
  std::vector<SampleKey> keys = EmptyKeyList(positions.size());
  for (const int64_t position : positions) keys.push_back({epoch, position});
  return keys;
}

void DropKeyList(std::vector<SampleKey> keys) {
  std::vector<SampleKey>& kept = KeptByThisThread();
  if (keys.capacity() > kept.capacity() && keys.capacity() <= kMostKept) kept = std::move(keys);
}

}  // namespace stoker
