// NumPy's .npz files: several arrays by name, in a zip archive. README.md has the layout.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/ledger.h"
#include "stoker/base/status.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/formats/zip/zip_reader.h"

namespace stoker {

using NamedArrays = std::vector<std::pair<std::string, Array>>;

// One array of a file that has been opened.
struct NpzEntry {
  std::string name;
  std::string where;  // what messages call it
  NpyHeader header;
  const ZipEntry* entry = nullptr;
  bool in_file = false;  // its values are used as they lie in the file, without memory of their own

  // Where the values begin in the file, if they are in_file.
  uint64_t offset() const { return entry->offset + header.data; }
  // Bytes of memory that the array takes while it is held; 0 where it is in_file.
  int64_t bytes() const;
  // Bytes that reading it takes in addition, until it has been read: a deflated array is inflated
  // into memory with its header in front of its values, and copied where those are converted.
  int64_t bytes_while_reading() const;
};

// A file and what it holds, by its headers alone. A cheap value; const calls are safe from several
// threads.
class NpzFile {
 public:
  // The file is read as ZipFile says. `names`: only these arrays, in this order; else all, in
  // the order of the archive. Errors: kNotFound for a name that is not there; those of ZipFile and
  // ParseNpyHeader, and kDataLoss where a header announces other values than there are.
  static Result<NpzFile> Open(const std::string& path, const std::vector<std::string>& names = {});

  const std::vector<NpzEntry>& entries() const { return *entries_; }
  const FileBytes& file() const { return zip_->file(); }
  // Checks the checksum of one that is in_file. Errors: those of ZipFile.
  Status Verify(const NpzEntry& entry) const { return zip_->Verify(*entry.entry); }
  // One of entries(), its checksum verified. What has memory of its own is charged to `account`
  // (may be null). Errors: those of ZipFile and ParseNpy.
  Result<Array> Read(const NpzEntry& entry,
                     const std::shared_ptr<MemoryAccount>& account = nullptr) const;

 private:
  std::shared_ptr<const ZipFile> zip_;
  std::shared_ptr<const std::vector<NpzEntry>> entries_;
};

// The arrays of a file, in the order of the archive; `names`: only these, in this order. Stored
// ones are mapped where they are aligned (the file must not be changed while they live), deflated
// ones are inflated into memory of the process, all at once and without a limit but that a file
// cannot announce more than 1032 times its bytes, which is the most that deflate makes of one (zip
// holds entries against it): who reads a file of others says which `names`. Checksums are verified,
// so all that is wanted is read. Errors: kNotFound for a name that is not there; those of ZipFile
// and ParseNpy.
Result<NamedArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names = {});

// Writes them atomically, stored. Errors: those of ZipWriter and NpyHeaderOf.
Status WriteNpz(const std::string& path, const NamedArrays& arrays);

}  // namespace stoker
