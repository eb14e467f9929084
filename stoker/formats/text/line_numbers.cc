#include "stoker/formats/text/line_numbers.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "stoker/base/stop_scope.h"

namespace stoker {
namespace {

constexpr uint64_t kPart = 1 << 20;

// The line ends among `bytes` bytes from `offset` on. `memory` holds kPart bytes.
std::optional<int64_t> CountLineEnds(const File& file, uint64_t offset, uint64_t bytes,
                                     std::vector<std::byte>& memory) {
  const std::span<std::byte> read(memory.data(), static_cast<size_t>(bytes));
  if (StopScope::Asked() || !file.ReadAt(offset, read).ok()) return std::nullopt;
  return std::ranges::count(read, std::byte{'\n'});
}

}  // namespace

int64_t LineNumbers::LineAt(const File& file, uint64_t offset) const {
  if (offset > kMostCounted) return 0;
  const std::lock_guard lock(mutex_);
  std::vector<int64_t>& lines = lines_.try_emplace(&file, 1, 1).first->second;
  std::vector<std::byte> memory(kPart);
  while (lines.size() <= offset / kPart) {
    const uint64_t begin = (lines.size() - 1) * kPart;
    const std::optional<int64_t> more = CountLineEnds(file, begin, kPart, memory);
    if (!more) return 0;
    lines.push_back(lines.back() + *more);
  }
  const uint64_t begin = offset / kPart * kPart;
  const std::optional<int64_t> more = CountLineEnds(file, begin, offset - begin, memory);
  return more ? lines[offset / kPart] + *more : 0;
}

}  // namespace stoker
