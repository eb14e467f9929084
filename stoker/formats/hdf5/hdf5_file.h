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
  // The same over bytes in memory, shared, not copied. `name`: what errors call them.
  static Result<Hdf5File> Parse(Buffer bytes, std::string name);

  const std::string& name() const;

  // The paths of all datasets that lead there without links by name: "/train/images". In the order
  // of the file's groups, each before what is below it. Errors: kDataLoss.
  Result<std::vector<std::string>> ListDatasets() const;

  // The dataset of this path, "train/images" or "/train/images"; links by name within the file are
  // followed. Its description is read and checked, and where its chunks lie; no values are. Costs
  // 32 bytes a chunk; the names in the last groups on the way are kept with the file. What it is of
  // the following becomes rows:
  //   integers, floats, enumerations   of either byte order; h5py's bool is bool, unsigned numbers
  //                                    of 16 and 32 bits become int32 and int64, of 64 bits int64
  //   arrays as values, opaque values  further dimensions
  //   texts of fixed length            uint8[-1] without the padding, one a row
  //   texts and lists of any length    uint8[-1], or numbers [-1], one a row; texts are not copied
  // Chunks: compact, contiguous and chunked; gzip, lzf, zstd, shuffle, fletcher32 (verified). What
  // was never written is the fill value. Errors: kNotFound, with what there is; kDataLoss;
  // kUnimplemented for other types and filters, virtual datasets, values and links in other files;
  // kInvalidArgument for a group, and for a single value.
  Result<std::shared_ptr<const ChunkedArray>> OpenDataset(std::string_view path) const;

 private:
  static Result<Hdf5File> Parse(FileBytes file);
  Hdf5File(std::shared_ptr<const internal::Hdf5Content> content, uint64_t root);

  std::shared_ptr<const internal::Hdf5Content> content_;
  std::shared_ptr<internal::Hdf5Groups> groups_;  // names that were read, shared by copies
  uint64_t root_;                                 // where the root group's header is
};

}  // namespace stoker
