#include "stoker/formats/hdf5/global_heap_internal.h"

#include <algorithm>

namespace stoker::internal {
namespace {

constexpr std::string_view kGlobalHeap = "a heap of texts or lists";

}  // namespace

Result<HeapContent> FollowToHeap(const Hdf5Content& file, std::span<const std::byte> stored,
                                 uint64_t value_bytes) {
  const auto number = [&](size_t at, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(stored[at + i]);
    return value;
  };
  const auto address_bytes = static_cast<size_t>(file.address_bytes);
  const uint64_t values = number(0, 4), address = number(4, address_bytes);
  const uint64_t index = number(4 + address_bytes, 4);
  if (values == 0) return HeapContent{};
  if (address > file.bytes.size() - file.base)
    return file.Damaged(0, "a text or list lies outside the file");
  const uint64_t block = file.base + address;
  Hdf5Cursor in(file, block);
  in.KeepingNothing();
  if (!in.Take("GCOL") || in.U8() != 1) in.Fail();
  in.Skip(3);
  const uint64_t block_bytes = in.Length();
  STOKER_RETURN_IF_ERROR(in.Check(block, kGlobalHeap));
  Hdf5Cursor objects(file, in.at(), block_bytes - std::min(block_bytes, in.at() - block));
  objects.KeepingNothing();
  while (!objects.failed()) {
    const uint16_t here = objects.U16();
    objects.Skip(6);  // how often it is used
    const uint64_t bytes = objects.Length();
    if (objects.failed() || here == 0) break;  // the rest is free
    if (here == index) {
      if (bytes > objects.left() || values > bytes / value_bytes) break;
      return HeapContent{objects.at(), values};
    }
    objects.Skip(bytes > objects.left() ? objects.left() + 1 : (bytes + 7) / 8 * 8);
  }
  return file.Damaged(block, fmt::format("number {} of a heap of texts or lists, with {} values of "
                                         "{} bytes, is not there",
                                         index, values, value_bytes));
}

}  // namespace stoker::internal
