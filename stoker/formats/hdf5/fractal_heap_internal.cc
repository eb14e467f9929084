#include "stoker/formats/hdf5/fractal_heap_internal.h"

#include <algorithm>
#include <bit>

#include "stoker/formats/hdf5/btree2_internal.h"

namespace stoker::internal {
namespace {

constexpr std::string_view kFractalHeap = "a heap of links";

bool IsPowerOf2(uint64_t value) { return std::has_single_bit(value); }

}  // namespace

Result<FractalHeap> FractalHeap::Open(const Hdf5Content& file, uint64_t at) {
  FractalHeap heap(file);
  heap.at_ = at;
  Hdf5Cursor in(file, at);
  if (!in.Take("FRHP") || in.U8() != 0) in.Fail();
  in.U16();  // bytes of an identity
  const uint16_t filters = in.U16();
  in.U8();  // flags
  const uint32_t most_managed = in.U32();
  in.Length(), in.Address(), in.Length(), in.Address();  // huge objects, free space
  for (int statistic = 0; statistic < 8; ++statistic) in.Length();
  heap.width_ = in.U16();
  heap.first_bytes_ = in.Length();
  heap.most_direct_ = in.Length();
  const uint16_t most_bits = in.U16();
  in.U16();  // rows that the root begins with
  heap.root_ = in.Address();
  heap.root_rows_ = in.U16();
  if (!in.failed() && filters != 0)
    return Unimplemented(
        "{}: byte {}: a group's heap of links is compressed; h5repack writes the "
        "file without",
        file.name, at);
  if (!IsPowerOf2(heap.width_) || !IsPowerOf2(heap.first_bytes_) ||
      !IsPowerOf2(heap.most_direct_) || heap.most_direct_ < heap.first_bytes_ ||
      heap.most_direct_ > (uint64_t{1} << 32) || heap.root_rows_ > 64 || most_bits > 64)
    in.Fail();
  STOKER_RETURN_IF_ERROR(in.Check(at, kFractalHeap));
  STOKER_RETURN_IF_ERROR(CheckMetadata(file, at, in.at(), kFractalHeap));
  heap.offset_bytes_ = (most_bits + 7) / 8;
  heap.length_bytes_ = std::min(BytesToStore(heap.most_direct_), BytesToStore(most_managed));
  return heap;
}

uint64_t FractalHeap::RowBytes(uint64_t row) const {
  return row == 0 ? first_bytes_ : first_bytes_ << (row - 1);
}

Result<FractalHeap::Place> FractalHeap::Find(Hdf5Cursor id, uint64_t size) const {
  const uint8_t flags = id.U8();
  if (!id.failed() && (flags & 0x30) != 0)
    return Unimplemented("{}: byte {}: a link is too long for its heap; give it a shorter name",
                         file_->name, id.at());
  if (size < static_cast<uint64_t>(1 + offset_bytes_ + length_bytes_)) id.Fail();
  const uint64_t offset = id.Number(offset_bytes_), bytes = id.Number(length_bytes_);
  STOKER_RETURN_IF_ERROR(id.Check(at_, kFractalHeap));
  return FindInTable(offset, bytes);
}

// Blocks double in size from row to row; those beyond a size are tables of blocks themselves.
Result<FractalHeap::Place> FractalHeap::FindInTable(uint64_t offset, uint64_t bytes) const {
  uint64_t block = root_, block_bytes = first_bytes_, rows = root_rows_;
  bool direct = rows == 0;
  while (!direct) {
    const uint64_t first_row = first_bytes_ * width_;
    const uint64_t row =
        offset < first_row ? 0 : static_cast<uint64_t>(std::bit_width(offset / first_row));
    Hdf5Cursor in(*file_, block);
    if (!in.Take("FHIB") || row >= rows || rows > 64) in.Fail();
    STOKER_RETURN_IF_ERROR(in.Check(at_, kFractalHeap));
    block_bytes = RowBytes(row);
    const uint64_t row_begin = row == 0 ? 0 : first_row << (row - 1);
    const uint64_t column = (offset - row_begin) / block_bytes;
    in.Skip(static_cast<uint64_t>(1 + file_->address_bytes + offset_bytes_));
    in.Skip((row * width_ + column) * static_cast<uint64_t>(file_->address_bytes));
    block = in.Address();
    if (block == kNoAddress) in.Fail();
    STOKER_RETURN_IF_ERROR(in.Check(at_, kFractalHeap));
    offset -= row_begin + column * block_bytes;
    direct = block_bytes <= most_direct_;
    if (!direct) {
      // A table is smaller than the one it is in, so this ends.
      const uint64_t next = static_cast<uint64_t>(std::bit_width(block_bytes / first_row));
      if (next >= rows) return file_->Damaged(at_, "a heap of links leads back to itself");
      rows = next;
    }
  }
  Hdf5Cursor in(*file_, block);
  if (!in.Take("FHDB") || offset > block_bytes || bytes > block_bytes - offset ||
      !file_->Holds(block + offset, bytes))
    in.Fail();
  STOKER_RETURN_IF_ERROR(in.Check(at_, kFractalHeap));
  return Place{block + offset, bytes};
}

}  // namespace stoker::internal
