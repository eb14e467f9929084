#include "stoker/formats/hdf5/extensible_array_internal.h"

#include <algorithm>
#include <bit>

namespace stoker::internal {
namespace {

// Elements lie in the index block, then in data blocks, which double in size and number from one
// "super block" to the next; the first of these have no block of their own, their data blocks are
// named by the index block.
class ArrayReader {
 public:
  ArrayReader(const Hdf5Content& file, bool filtered, ChunkList& list)
      : file_(file), filtered_(filtered), list_(list) {}

  Status Read(uint64_t at) {
    Hdf5Cursor in(file_, at);
    if (!in.Take("EAHD") || in.U8() != 0 || in.U8() != (filtered_ ? 1 : 0)) in.Fail();
    entry_bytes_ = in.U8();
    const uint8_t most_bits = in.U8();
    in_index_ = in.U8();
    least_ = in.U8();
    least_pointers_ = in.U8();
    const uint8_t page_bits = in.U8();
    in.Length(), in.Length(), in.Length(), in.Length();  // how many blocks, and their bytes
    used_ = in.Length();
    in.Length();  // room for so many
    const uint64_t index = in.Address();
    if (!std::has_single_bit(least_) || !std::has_single_bit(least_pointers_) || most_bits > 64 ||
        page_bits > 32 || used_ > file_.bytes.size() || entry_bytes_ == 0)
      in.Fail();
    STOKER_RETURN_IF_ERROR(in.Check(at, kChunkIndex));
    STOKER_RETURN_IF_ERROR(CheckMetadata(file_, at, in.at(), kChunkIndex));
    offset_bytes_ = static_cast<uint64_t>(most_bits + 7) / 8;
    in_page_ = uint64_t{1} << page_bits;
    const int least_log = std::countr_zero(least_);
    if (most_bits < least_log) return file_.Damaged(at, "the index of chunks makes no sense");
    super_blocks_ = static_cast<uint64_t>(1 + most_bits - least_log);
    return index == kNoAddress ? OkStatus() : ReadIndexBlock(index);
  }

 private:
  static uint64_t BlocksOf(uint64_t super) { return uint64_t{1} << super / 2; }
  uint64_t EntriesOf(uint64_t super) const { return least_ << (super + 1) / 2; }

  Status ReadIndexBlock(uint64_t at) {
    Hdf5Cursor in(file_, at);
    if (!in.Take("EAIB") || in.U8() != 0) in.Fail();
    in.Skip(static_cast<uint64_t>(1 + file_.address_bytes));
    STOKER_RETURN_IF_ERROR(ReadEntries(in, in_index_));
    const uint64_t named_here = std::min<uint64_t>(
        2 * static_cast<uint64_t>(std::countr_zero(least_pointers_)), super_blocks_);
    for (uint64_t super = 0; super < named_here; ++super)
      STOKER_RETURN_IF_ERROR(ReadBlocks(in, super, {}));
    for (uint64_t super = named_here; super < super_blocks_ && !in.failed(); ++super) {
      const uint64_t block = in.Address();
      if (!in.failed() && block != kNoAddress) {
        STOKER_RETURN_IF_ERROR(ReadSuperBlock(block, super));
      } else {
        number_ += super < 64 ? BlocksOf(super) * EntriesOf(super) : 0;
      }
      if (number_ >= used_ && !in.failed()) {
        in.Skip((super_blocks_ - super - 1) * static_cast<uint64_t>(file_.address_bytes));
        break;
      }
    }
    STOKER_RETURN_IF_ERROR(in.Check(at, kChunkIndex));
    return CheckMetadata(file_, at, in.at(), kChunkIndex);
  }

  Status ReadSuperBlock(uint64_t at, uint64_t super) {
    Hdf5Cursor in(file_, at);
    if (!in.Take("EASB") || in.U8() != 0) in.Fail();
    in.Skip(static_cast<uint64_t>(1 + file_.address_bytes) + offset_bytes_);
    std::string_view written;
    if (EntriesOf(super) > in_page_)
      written = in.Text(BlocksOf(super) * WrittenBytes(EntriesOf(super)));
    STOKER_RETURN_IF_ERROR(ReadBlocks(in, super, written));
    STOKER_RETURN_IF_ERROR(in.Check(at, kChunkIndex));
    return CheckMetadata(file_, at, in.at(), kChunkIndex);
  }

  // Which pages of a block there are, a bit each.
  uint64_t WrittenBytes(uint64_t entries) const { return (entries / in_page_ + 7) / 8; }

  // The blocks of a super block, whose addresses are next in `in`.
  Status ReadBlocks(Hdf5Cursor& in, uint64_t super, std::string_view written) {
    const uint64_t entries = EntriesOf(super);
    for (uint64_t block = 0; block < BlocksOf(super) && !in.failed(); ++block) {
      const uint64_t at = in.Address();
      if (in.failed()) break;
      if (at == kNoAddress || number_ >= used_) {
        number_ += entries;
        continue;
      }
      const std::string_view pages =
          written.empty() ? written
                          : written.substr(block * WrittenBytes(entries), WrittenBytes(entries));
      STOKER_RETURN_IF_ERROR(ReadBlock(at, entries, pages));
    }
    return OkStatus();
  }

  Status ReadBlock(uint64_t at, uint64_t entries, std::string_view written) {
    Hdf5Cursor in(file_, at);
    if (!in.Take("EADB") || in.U8() != 0) in.Fail();
    in.Skip(static_cast<uint64_t>(1 + file_.address_bytes) + offset_bytes_);
    if (written.empty()) STOKER_RETURN_IF_ERROR(ReadEntries(in, entries));
    STOKER_RETURN_IF_ERROR(in.Check(at, kChunkIndex));
    STOKER_RETURN_IF_ERROR(CheckMetadata(file_, at, in.at(), kChunkIndex));
    if (written.empty()) return OkStatus();
    in.Skip(4);
    for (uint64_t page = 0; page < entries / in_page_; ++page) {
      const uint64_t begin = in.at();
      if ((static_cast<uint8_t>(written[page / 8]) & (0x80 >> page % 8)) != 0) {
        STOKER_RETURN_IF_ERROR(ReadEntries(in, in_page_));
        STOKER_RETURN_IF_ERROR(CheckMetadata(file_, begin, in.at(), kChunkIndex));
      } else {
        in.Skip(in_page_ * entry_bytes_);
        number_ += in_page_;
      }
      in.Skip(4);
    }
    return in.Check(at, kChunkIndex);
  }

  Status ReadEntries(Hdf5Cursor& in, uint64_t count) {
    STOKER_RETURN_IF_ERROR(
        ArrayEntries(file_, filtered_, entry_bytes_).Read(in, number_, count, list_));
    number_ += count;
    return OkStatus();
  }

  const Hdf5Content& file_;
  const bool filtered_;
  ChunkList& list_;
  uint8_t entry_bytes_ = 0, in_index_ = 0;
  uint64_t least_ = 0, least_pointers_ = 0;  // entries of a data block, blocks of a super block
  uint64_t offset_bytes_ = 0, in_page_ = 0, super_blocks_ = 0;
  uint64_t used_ = 0;    // entries beyond these are empty
  uint64_t number_ = 0;  // of the next entry
};

}  // namespace

Status ArrayEntries::Read(Hdf5Cursor& in, uint64_t first, uint64_t count, ChunkList& list) const {
  const int size_bytes = entry_bytes_ - file_.address_bytes - 4;
  if (filtered_ ? size_bytes < 1 || size_bytes > 8 : entry_bytes_ != file_.address_bytes) in.Fail();
  const uint64_t begin = in.at();
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t listed = in.at();
    Hdf5Chunk chunk;
    chunk.at = in.Address();
    if (filtered_) {
      chunk.bytes = in.Number(size_bytes);
      chunk.left_out = in.U32();
    }
    if (in.failed() || chunk.at == kNoAddress) continue;
    STOKER_RETURN_IF_ERROR(list.AddNumbered(first + i, chunk, listed));
  }
  return in.Check(begin, kChunkIndex);
}

Status VisitExtensibleArray(const Hdf5Content& file, uint64_t at, bool filtered, ChunkList& list) {
  return ArrayReader(file, filtered, list).Read(at);
}

}  // namespace stoker::internal
