// The indices that chunks have in files of libver='latest'.
#include "stoker/formats/hdf5/chunk_index_internal.h"

#include <bit>

#include "stoker/formats/hdf5/btree2_internal.h"
#include "stoker/formats/hdf5/chunk_list_internal.h"
#include "stoker/formats/hdf5/extensible_array_internal.h"

namespace stoker::internal {
namespace {

enum class Index : uint8_t {
  kSingle = 1,
  kImplicit = 2,
  kFixedArray = 3,
  kExtensibleArray = 4,
  kBTree2 = 5,
};

class IndexReader {
 public:
  IndexReader(const Hdf5Content& file, const Hdf5Grid& grid)
      : file_(file), grid_(grid), list_(file, grid) {}

  Status Read(Hdf5Cursor in, uint8_t flags) {
    const uint64_t begin = in.at();
    const auto kind = static_cast<Index>(in.U8());
    constexpr uint8_t kSingleFiltered = 2;
    Hdf5Chunk single;
    if (kind == Index::kSingle && (flags & kSingleFiltered) != 0) {
      single.bytes = in.Length();
      single.left_out = in.U32();
    }
    if (kind == Index::kFixedArray) in.Skip(1);
    if (kind == Index::kExtensibleArray) in.Skip(5);
    if (kind == Index::kBTree2) in.Skip(6);
    const uint64_t at = in.Address();
    STOKER_RETURN_IF_ERROR(in.Check(begin, kChunkIndex));
    if (at == kNoAddress) return OkStatus();  // nothing has been written
    switch (kind) {
      case Index::kSingle:
        single.at = at;
        return list_.Add(std::vector<uint64_t>(grid_.grid.size(), 0), single, begin);
      case Index::kImplicit: return ReadImplicit(at);
      case Index::kFixedArray: return ReadFixedArray(at);
      case Index::kExtensibleArray: return ReadExtensibleArray(at);
      case Index::kBTree2: return ReadTree(at);
    }
    return file_.Damaged(begin, "the index of chunks is of a kind that there is not");
  }

  ChunkList& list() { return list_; }

 private:
  // All chunks, one after the other.
  Status ReadImplicit(uint64_t at) {
    if (!list_.NumberByMost(0)) return TooMany(at);
    for (uint64_t number = 0; file_.Holds(at, grid_.chunk_bytes); ++number) {
      STOKER_RETURN_IF_ERROR(list_.AddNumbered(number, {.at = at}, at));
      at += grid_.chunk_bytes;
    }
    return OkStatus();
  }

  Status ReadTree(uint64_t at) {
    const uint8_t type = grid_.filtered ? 11 : 10;
    std::vector<uint64_t> coordinates(grid_.grid.size());
    return VisitBTree2(file_, at, type, [&](Hdf5Cursor record, uint64_t size) -> Status {
      const uint64_t listed = record.at();
      Hdf5Chunk chunk;
      chunk.at = record.Address();
      if (grid_.filtered) {
        const uint64_t rest =
            static_cast<uint64_t>(file_.address_bytes) + 4 + 8 * coordinates.size();
        if (size <= rest || size - rest > 8) return TooMany(listed);
        chunk.bytes = record.Number(static_cast<int>(size - rest));
        chunk.left_out = record.U32();
      }
      for (uint64_t& coordinate : coordinates) coordinate = record.Number(8);
      STOKER_RETURN_IF_ERROR(record.Check(listed, kChunkIndex));
      return list_.Add(coordinates, chunk, listed);
    });
  }

  // An entry for every chunk that there can be; many of them in pages with a checksum each.
  Status ReadFixedArray(uint64_t at) {
    Hdf5Cursor in(file_, at);
    if (!in.Take("FAHD") || in.U8() != 0 || in.U8() != (grid_.filtered ? 1 : 0)) in.Fail();
    const uint8_t entry_bytes = in.U8(), page_bits = in.U8();
    const uint64_t count = in.Length(), block = in.Address();
    if (page_bits > 32 || count > file_.bytes.size()) in.Fail();
    STOKER_RETURN_IF_ERROR(in.Check(at, kChunkIndex));
    STOKER_RETURN_IF_ERROR(CheckMetadata(file_, at, in.at(), kChunkIndex));
    if (block == kNoAddress) return OkStatus();
    if (!list_.NumberByMost(0)) return TooMany(at);
    Hdf5Cursor data(file_, block);
    if (!data.Take("FADB") || data.U8() != 0) data.Fail();
    data.Skip(static_cast<uint64_t>(1 + file_.address_bytes));
    const uint64_t in_page = uint64_t{1} << page_bits;
    const ArrayEntries entries(file_, grid_.filtered, entry_bytes);
    if (count <= in_page) {
      STOKER_RETURN_IF_ERROR(entries.Read(data, 0, count, list_));
      return CheckMetadata(file_, block, data.at(), kChunkIndex);
    }
    const uint64_t pages = (count + in_page - 1) / in_page;
    const std::string_view written = data.Text((pages + 7) / 8);
    STOKER_RETURN_IF_ERROR(data.Check(block, kChunkIndex));
    STOKER_RETURN_IF_ERROR(CheckMetadata(file_, block, data.at(), kChunkIndex));
    data.Skip(4);
    for (uint64_t page = 0; page < pages; ++page) {
      const uint64_t first = page * in_page, entries_here = std::min(in_page, count - first);
      const bool there = (static_cast<uint8_t>(written[page / 8]) & (0x80 >> page % 8)) != 0;
      const uint64_t begin = data.at();
      if (there) {
        STOKER_RETURN_IF_ERROR(entries.Read(data, first, entries_here, list_));
        STOKER_RETURN_IF_ERROR(CheckMetadata(file_, begin, data.at(), kChunkIndex));
      } else {
        data.Skip(entries_here * entry_bytes);
      }
      data.Skip(4);
    }
    return data.Check(block, kChunkIndex);
  }

  Status ReadExtensibleArray(uint64_t at) {
    // The one dimension without end comes first, whichever it is.
    size_t endless = 0;
    for (size_t d = 0; d < grid_.most.size(); ++d) {
      if (grid_.most[d] < 0) endless = d;
    }
    if (!list_.NumberByMost(endless)) return TooMany(at);
    return VisitExtensibleArray(file_, at, grid_.filtered, list_);
  }

  Status TooMany(uint64_t at) const {
    return file_.Damaged(at,
                         fmt::format("the index of the chunks of {} makes no sense", grid_.where));
  }

  const Hdf5Content& file_;
  const Hdf5Grid& grid_;
  ChunkList list_;
};

}  // namespace

Result<std::vector<Hdf5Chunk>> ReadChunkIndex(const Hdf5Content& file, const Hdf5Grid& grid,
                                              Hdf5Cursor in, uint8_t flags) {
  IndexReader reader(file, grid);
  STOKER_RETURN_IF_ERROR(reader.Read(in, flags));
  return std::move(reader.list()).Finish();
}

}  // namespace stoker::internal
