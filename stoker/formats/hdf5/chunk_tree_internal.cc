// The index that chunks have had from the beginning: a B-tree of version 1.
#include <vector>

#include "stoker/formats/hdf5/chunk_list_internal.h"

namespace stoker::internal {
namespace {

class TreeReader {
 public:
  TreeReader(const Hdf5Content& file, const Hdf5Grid& grid)
      : file_(file), grid_(grid), list_(file, grid) {}

  Status ReadNode(uint64_t at, int highest) {
    Hdf5Cursor in(file_, at);
    if (!in.Take("TREE") || in.U8() != 1) in.Fail();
    const int level = in.U8();
    // Nodes that are reached twice would make a small file endless.
    if (level > highest || ++nodes_ > file_.bytes.size() / 8) in.Fail();
    const uint16_t count = in.U16();
    in.Address(), in.Address();  // the neighbours
    std::vector<uint64_t> coordinates(grid_.shape.size());
    for (uint16_t i = 0; i < count && !in.failed(); ++i) {
      const uint64_t listed = in.at();
      Hdf5Chunk chunk;
      chunk.bytes = in.U32();
      chunk.left_out = in.U32();
      bool whole = true;
      for (size_t d = 0; d < coordinates.size(); ++d) {
        const uint64_t offset = in.Number(8);
        const auto extent = static_cast<uint64_t>(grid_.chunk_shape[d]);
        whole = whole && offset % extent == 0;
        coordinates[d] = offset / extent;
      }
      in.Skip(8);  // within a value
      chunk.at = in.Address();
      if (!whole || chunk.at == kNoAddress) in.Fail();
      if (in.failed()) break;
      STOKER_RETURN_IF_ERROR(level > 0 ? ReadNode(chunk.at, level - 1)
                                       : list_.Add(coordinates, chunk, listed));
    }
    return in.Check(at, kChunkIndex);
  }

  ChunkList& list() { return list_; }

 private:
  const Hdf5Content& file_;
  const Hdf5Grid& grid_;
  ChunkList list_;
  uint64_t nodes_ = 0;
};

}  // namespace

Result<std::vector<Hdf5Chunk>> ReadChunkTree(const Hdf5Content& file, const Hdf5Grid& grid,
                                             uint64_t tree) {
  if (tree == kNoAddress) return std::vector<Hdf5Chunk>();  // nothing has been written
  constexpr int kDeepest = 32;
  TreeReader reader(file, grid);
  STOKER_RETURN_IF_ERROR(reader.ReadNode(tree, kDeepest));
  return std::move(reader.list()).Finish();
}

}  // namespace stoker::internal
