// Sources whose fields are arrays in chunks: element i is row i of each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/formats/chunked/chunked_array.h"

namespace stoker {

// The default of `cache`, in MiB.
inline constexpr int64_t kChunkCacheMiB = 256;
inline constexpr std::string_view kChunkCacheHelp =
    "MiB of decompressed chunks that are kept, within half of the memory budget; a windowed "
    "shuffle wants all chunks of a window";

// One field of one file.
struct ChunkedField {
  std::string name;
  std::shared_ptr<const ChunkedArray> array;
};
// The fields of a file, in the order of the Spec.
using ChunkedFile = std::vector<ChunkedField>;

struct ChunkedRowsOptions {
  std::string_view op;             // the operator's name
  std::string details;             // of DatasetNode::Details
  std::vector<std::string> paths;  // for DatasetNode::files
  int64_t cache_mib = kChunkCacheMiB;
};

// Makes a dataset of the rows of the files (at least one), in order, by position. An element's key
// is its row in all files. Rows that are stored in their final form share the file's mapping,
// others are copies; decompressed chunks are kept in a cache of the dataset. Opening a pass
// reserves their memory from its budget; kResourceExhausted if one row of chunks does not fit.
// Errors: kInvalidArgument if files disagree in fields, types or shapes of rows, or if there is no
// field; kDataLoss if the arrays of a file differ in rows.
Result<Dataset> ChunkedRowsDataset(ChunkedRowsOptions options, std::vector<ChunkedFile> files);

}  // namespace stoker
