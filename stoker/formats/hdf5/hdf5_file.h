// HDF5 files: datasets by path, in chunks. README.md has the layout.
//
// Read without the HDF5 library, which serves one thread at a time and does not survive damaged
// files (docs/adr/0018-hdf5-without-its-library.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/status.h"
#include "stoker/formats/chunked/chunked_array.h"
#include "stoker/io/file_bytes.h"

namespace stoker {

namespace internal {
struct Hdf5Content;
class Hdf5Groups;
}  // namespace internal

// A file opened for reading: its superblock. A cheap value; const calls are safe from several
// threads, and datasets may outlive it. Errors: kDataLoss with file and byte.
class Hdf5File {
 public:
  // Reads the file as io/file_bytes.h says. Its metadata stays in memory.
  static Result<Hdf5File> Open(const std::string& path);
  // Opens bytes in memory, shared, not copied. `name`: what errors call them.
  static Result<Hdf5File> Parse(Buffer bytes, std::string name);

  const std::string& name() const;

  // Returns the paths of all datasets, such as "/train/images", without those through soft links.
  // In the order of the file's groups, each before its members. Errors: kDataLoss.
  Result<std::vector<std::string>> ListDatasets() const;

  // Opens the dataset of this path, "train/images" or "/train/images"; follows soft links within
  // the file. Reads and checks its description and the places of its chunks, but no values. Costs
  // 32 bytes a chunk; the file keeps the names in the last groups of the path. These types become
  // rows:
  //   integers, floats, enumerations   of either byte order; h5py's bool is bool, unsigned numbers
  //                                    of 16 and 32 bits become int32 and int64, of 64 bits int64
  //   arrays as values, opaque values  further dimensions
  //   texts of fixed length            uint8[-1] without the padding, one a row
  //   texts and lists of any length    uint8[-1], or numbers [-1], one a row; texts are not copied
  // Layouts: compact, contiguous and chunked; gzip, lzf, zstd, shuffle, fletcher32 (verified).
  // Chunks that were never written have the fill value. Errors: kNotFound, with the names that
  // exist; kDataLoss; kUnimplemented for other types and filters, virtual datasets, values and
  // links in other files; kInvalidArgument for a group, and for a single value.
  Result<std::shared_ptr<const ChunkedArray>> OpenDataset(std::string_view path) const;

 private:
  static Result<Hdf5File> Parse(FileBytes file);
  Hdf5File(std::shared_ptr<const internal::Hdf5Content> content, uint64_t root);

  std::shared_ptr<const internal::Hdf5Content> content_;
  std::shared_ptr<internal::Hdf5Groups> groups_;  // cached names, shared by copies
  uint64_t root_;                                 // where the root group's header is
};

}  // namespace stoker
