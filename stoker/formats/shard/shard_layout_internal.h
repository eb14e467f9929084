// The parts of a .stoker file that have a fixed layout; docs/formats/stoker.md has all of it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stoker/base/dtype.h"
#include "stoker/formats/array_bytes.h"
#include "stoker/formats/record_fields.h"

namespace stoker::internal {

static_assert(std::endian::native == std::endian::little, "integers are used as they lie");

inline constexpr std::string_view kShardMagic = "STKSHARD", kShardEndMagic = "STKSHRDZ";
inline constexpr uint32_t kShardVersion = 1;
inline constexpr uint64_t kShardAlignment = 64;  // of pages, columns, values and the footer
inline constexpr uint32_t kShardBlockBytes = 256 << 10;
inline constexpr uint64_t kMostShardPageRecords = 1 << 24;

struct ShardHeader {
  char magic[8];
  uint32_t version;
  uint32_t checksum;  // of the bytes that follow
  uint32_t schema_bytes;
  uint32_t schema_checksum;
  uint64_t page_bytes;
  uint64_t zero[4];
};
static_assert(sizeof(ShardHeader) == 64);
inline constexpr size_t kShardHeaderUnchecked = 16;

// Followed by the offset of each field's column in the page.
struct ShardPageEntry {
  uint64_t begin;
  uint64_t bytes;
  uint64_t first;    // record
  uint64_t records;  // at least one
};
static_assert(sizeof(ShardPageEntry) == 32);

struct ShardTrailer {
  uint64_t records;
  uint64_t pages;
  uint64_t footer;  // its offset
  uint64_t blocks;
  uint32_t block_bytes;
  uint32_t footer_checksum;
  uint32_t zero[3];
  uint32_t checksum;  // of the bytes before it
  char magic[8];
};
static_assert(sizeof(ShardTrailer) == 64);
inline constexpr size_t kShardTrailerChecked = 52;

constexpr uint64_t ShardPadded(uint64_t bytes, uint64_t alignment = kShardAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// The layout of a field's column.
struct ShardColumn {
  explicit ShardColumn(const ElementField& field) {
    for (const int64_t extent : field.shape) unknown_extents += extent == kUnknownDim ? 1 : 0;
    if (unknown_extents == 0) record_bytes = *ArrayBytes(field.dtype, field.shape);
  }
  bool fixed() const { return unknown_extents == 0; }
  // Returns the bytes that precede the values of `records` records. REQUIRES: a column that is not
  // fixed.
  uint64_t LeadBytes(uint64_t records) const {
    return ShardPadded(records * sizeof(uint32_t) * (1 + unknown_extents));
  }

  uint64_t unknown_extents = 0;
  uint64_t record_bytes = 0;  // of the values of one record, if fixed
};

}  // namespace stoker::internal
