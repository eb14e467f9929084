// Any bytes are either an HDF5 file, all of whose datasets can be read or say what is wrong, or an
// error.
#include <cstdint>
#include <cstdlib>

#include "stoker/formats/chunked/row_gather.h"
#include "stoker/formats/copied_bytes_testing_internal.h"
#include "stoker/formats/hdf5/hdf5_file.h"

namespace stoker {
namespace {

void ReadAll(const ChunkedArray& array) {
  constexpr int64_t kMostRows = 64;
  constexpr size_t kMostBytes = 1 << 20;  // larger rows and chunks teach nothing
  if (array.stored_row_bytes() > kMostBytes || array.chunk_bytes() > kMostBytes) return;
  const ChunkGetter chunks = [&](int64_t number) { return array.ReadChunk(number); };
  std::vector<std::byte> stored(array.stored_row_bytes());
  for (int64_t row = 0; row < std::min(array.rows(), kMostRows); ++row) {
    if (!GatherRows(array, {&row, 1}, chunks, stored.data()).ok()) continue;
    if (array.layout().form != RowForm::kFollowed) continue;
    const Result<Array> followed = array.Follow(
        stored, [](DType dtype, Shape shape) { return Array::Allocate(dtype, shape); });
    if (followed.ok() && followed->num_values() < 0) std::abort();
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const Buffer buffer = CopyOf(std::as_bytes(std::span(data, size)));
  const Result<Hdf5File> file = Hdf5File::Parse(buffer, "input");
  if (!file.ok()) return 0;
  const Result<std::vector<std::string>> paths = file->ListDatasets();
  if (!paths.ok()) return 0;
  for (const std::string& path : *paths) {
    const auto array = file->OpenDataset(path);
    if (array.ok()) ReadAll(**array);
  }
  return 0;
}
