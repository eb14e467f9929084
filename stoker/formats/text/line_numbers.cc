#include "stoker/formats/text/line_numbers.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "stoker/base/stop_scope.h"

namespace stoker {
namespace {

constexpr uint64_t kPart = 1 << 20;
constexpr uint64_t kPiece = 1 << 16;  // bytes read at once
static_assert(kPart % kPiece == 0);

}  // namespace

bool LineNumbers::Advance(const File& file, uint64_t offset, Place& place,
                          std::vector<int64_t>& parts) {
  std::vector<std::byte> memory(static_cast<size_t>(std::min(kPiece, offset - place.offset)));
  while (place.offset < offset) {
    // No piece reaches into the next part.
    const uint64_t bytes = std::min(offset, (place.offset / kPiece + 1) * kPiece) - place.offset;
    const std::span<std::byte> piece = std::span(memory).first(static_cast<size_t>(bytes));
    if (StopScope::Asked() || !file.ReadAt(place.offset, piece).ok()) return false;
    place.offset += bytes;
    place.line += std::ranges::count(piece, std::byte{'\n'});
    if (place.offset == parts.size() * kPart) parts.push_back(place.line);
  }
  return true;
}

int64_t LineNumbers::LineAt(const File& file, uint64_t offset) const {
  if (offset > kMostCounted) return 0;
  if (!LockUnlessStopped(mutex_)) return 0;
  const MutexLock lock(mutex_, std::adopt_lock);
  Counts& counts = counts_[&file];
  const uint64_t part = std::min<uint64_t>(offset / kPart, counts.parts.size() - 1);
  Place place{.offset = part * kPart, .line = counts.parts[part]};
  if (place.offset < counts.last.offset && counts.last.offset <= offset) place = counts.last;
  if (!Advance(file, offset, place, counts.parts)) return 0;
  counts.last = place;
  return place.line;
}

}  // namespace stoker
