#include "stoker/data/sources/indexed_files_internal.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "stoker/base/remote_path.h"
#include "stoker/data/core/runtime.h"
#include "stoker/io/byte_source.h"

namespace stoker {
namespace {

// Blocks are recycled by size. Four sizes for each doubling keep the sizes few, and a fifth of a
// block is lost at most.
uint64_t BlockBytes(uint64_t bytes) {
  constexpr uint64_t kLeast = 256, kStepsToDouble = 4;
  if (bytes <= kLeast) return kLeast;
  const uint64_t step = std::bit_floor(bytes - 1) / kStepsToDouble;
  return (bytes + step - 1) / step * step;
}

Result<OffsetIndex> IndexOf(const std::string& path, const File& file, std::string_view format,
                            uint64_t settings, IndexUse use, const IndexedFiles::Scan& scan) {
  if (!IsRemotePath(path) && !IsStandardInput(path))  // beside those nothing can be kept
    return IndexFile(path, format, settings, use, [&] { return scan(file); });
  STOKER_ASSIGN_OR_RETURN(const std::vector<uint64_t> offsets, scan(file));
  return OffsetIndex::Of(offsets);
}

}  // namespace

Result<bool> AllArePlain(const std::vector<std::string>& paths, bool fetch) {
  for (const std::string& path : paths) {
    if (IsRemotePath(path) && !fetch) return false;
    STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
    if (!source->size_bound().exact) return false;  // a decoder does not know it
  }
  return true;
}

Result<IndexedFiles> IndexedFiles::Open(const std::vector<std::string>& paths,
                                        std::string_view format, uint64_t settings, IndexUse use,
                                        const Scan& scan) {
  IndexedFiles all;
  for (const std::string& path : paths) {
    STOKER_ASSIGN_OR_RETURN(File file, File::OpenLocally(path));
    STOKER_ASSIGN_OR_RETURN(OffsetIndex index, IndexOf(path, file, format, settings, use, scan));
    if (index.size() > 0 && index.end(index.size() - 1) > file.size()) {
      return FailedPrecondition(
          "{}: another file took this name while it was opened; wait until it is written, and run "
          "again",
          path);
    }
    all.longest_ = std::max(all.longest_, index.longest());
    all.starts_.Add(index.size());
    all.files_.push_back(std::move(file));
    all.indices_.push_back(std::move(index));
  }
  return all;
}

std::string IndexedFiles::Place::ToString() const {
  return fmt::format("{}: record {} (byte {})", file->path(), number, begin);
}

IndexedFiles::Place IndexedFiles::At(int64_t position) const {
  const auto [file, number] = starts_.At(position);
  return {&files_[file], number, indices_[file].begin(number), indices_[file].end(number)};
}

Result<Buffer> IndexedFiles::Read(const Place& place, Scratch& scratch) const {
  const auto block = static_cast<int64_t>(BlockBytes(place.bytes()));
  Buffer buffer = scratch.NewArray(DType::kUInt8, {block}).buffer();
  STOKER_RETURN_IF_ERROR(
      place.file->ReadAt(place.begin, {buffer.data(), static_cast<size_t>(place.bytes())}));
  return buffer;
}

int64_t IndexedFiles::MostBytes() const { return static_cast<int64_t>(BlockBytes(longest_)); }

IndexedFilesNode::IndexedFilesNode(std::string_view name, Spec spec, std::string details,
                                   std::vector<std::string> paths, IndexedFiles records)
    : ByPositionNode(name, std::move(spec), Cardinality::Of(records.size())),
      details_(std::move(details)),
      paths_(std::move(paths)),
      records_(std::move(records)) {}

std::string IndexedFilesNode::NameOfRecord(int64_t number) const {
  return number >= 0 && number < records_.size() ? records_.At(number).ToString() : "";
}

}  // namespace stoker
