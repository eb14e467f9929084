// PyTorch's .pt and .pth files: tensors in dicts and lists, read without PyTorch and without
// running code from the file. README.md has the layout.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/formats/safetensors/safetensors.h"
#include "stoker/formats/zip/zip_reader.h"

namespace stoker {

namespace internal {

// A storage: the values that tensors are views of.
struct PtStorage {
  std::string key;  // the record's name in the archive, or the storage's in an old file
  DType dtype = DType::kFloat32;
  uint64_t values = 0;
  uint64_t offset = 0;                 // in an old file
  std::optional<ZipEntry> entry = {};  // in an archive
};

struct PtTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<int64_t> strides;  // in values
  uint64_t offset = 0;           // of its first value in the storage
  size_t storage = 0;
};

// The content of a pickle.
struct PtContents {
  std::vector<PtTensor> tensors;
  std::vector<PtStorage> storages;
  std::map<std::string, std::string> values;
};

}  // namespace internal

// Returns whether a zip archive is PyTorch's: it has a FOLDER/data.pkl.
bool IsPtArchive(const ZipFile& archive);

struct PtEntry {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
};

// A file opened for reading, as torch.save writes it since PyTorch 1.6 (a zip archive) or wrote it
// before (consecutive pickles). Tensors in nested dicts, lists and tuples are named by the path of
// keys, joined by dots: "state_dict.conv1.weight", "optimizer.state.0.exp_avg". Open checks
// everything but the values. A cheap value; const calls are safe from several threads. Errors:
// kDataLoss with file and byte, or tensor; kUnimplemented for objects of Python other than tensors,
// containers, numbers and text, by name; for types that Stoker lacks, and for TorchScript modules.
class PtFile {
 public:
  // Reads the whole file, or maps it (io/file_bytes.h).
  static Result<PtFile> Open(const std::string& path);
  // Opens bytes in memory, shared, not copied. `name`: what errors call them.
  static Result<PtFile> Parse(Buffer bytes, std::string name);

  // Returns whether it is the archive of PyTorch 1.6 and newer, which has checksums of the values.
  bool is_archive() const { return archive_.has_value(); }

  // Returns the entries in the order of the file.
  const std::vector<PtEntry>& entries() const { return entries_; }
  // Returns the other values, such as numbers and texts, by name, as text: "epoch" is "3".
  const std::map<std::string, std::string>& values() const { return contents_.values; }

  // Returns the tensor of this name: it shares the mapping if it is contiguous and aligned to its
  // type, else it is a copy. Verifies its storage's checksum. Errors: kNotFound, with the nearest
  // names; kDataLoss if the values are damaged.
  Result<Array> Read(std::string_view name) const;

  // Returns all tensors, in the order of entries(); verifies each storage once. Errors: those of
  // Read; kUnimplemented if the copies of strided or unaligned views would take more than 4 times
  // the bytes of the file and 64 MiB.
  Result<std::vector<NamedArray>> ReadAll() const;

 private:
  PtFile() = default;
  static Result<PtFile> ParseArchive(Buffer bytes, std::string name);
  static Result<PtFile> ParseOld(Buffer bytes, std::string name);
  void MakeEntries();
  Result<ZipContent> ReadStorage(size_t storage) const;
  Result<Array> View(const internal::PtTensor& tensor, const ZipContent& storage) const;

  std::string name_;
  Buffer bytes_;
  std::optional<ZipFile> archive_;
  internal::PtContents contents_;
  std::vector<PtEntry> entries_;
};

}  // namespace stoker
