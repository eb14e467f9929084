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
  bool in_file = false;  // its values are used in place, without memory of their own

  // Returns where the values begin in the file. REQUIRES: in_file.
  uint64_t offset() const { return entry->offset + header.data; }
  // Returns bytes of memory that the array takes while it is held; 0 if it is in_file.
  int64_t bytes() const;
  // Returns the bytes that reading it takes in addition: a deflated array is inflated into memory
  // together with its header, and copied if its values are converted.
  int64_t bytes_while_reading() const;
};

// A file and its entries, read from the headers alone. A cheap value; const calls are safe from
// several threads.
class NpzFile {
 public:
  // Returns the file is read as ZipFile says. `names`: only these arrays, in this order; else all,
  // in the order of the archive. Errors: kNotFound for a name that is not there; those of ZipFile
  // and ParseNpyHeader, and kDataLoss if a header announces other values than there are.
  static Result<NpzFile> Open(const std::string& path, const std::vector<std::string>& names = {});

  const std::vector<NpzEntry>& entries() const { return *entries_; }
  const FileBytes& file() const { return zip_->file(); }
  // Verifies the checksum of an entry. REQUIRES: in_file. Errors: those of ZipFile.
  Status Verify(const NpzEntry& entry) const { return zip_->Verify(*entry.entry); }
  // Reads one of entries() and verifies its checksum. Charges memory other than the file's to
  // `account` (may be null). Errors: those of ZipFile and ParseNpy.
  Result<Array> Read(const NpzEntry& entry,
                     const std::shared_ptr<MemoryAccount>& account = nullptr) const;

 private:
  std::shared_ptr<const ZipFile> zip_;
  std::shared_ptr<const std::vector<NpzEntry>> entries_;
};

// Reads the arrays of a file, in the order of the archive; `names`: only these, in this order.
// Stored arrays are mapped if aligned (do not change the file while they live). Deflated ones are
// inflated into memory, all at once; the only limit is deflate's ratio of 1032, against which zip
// checks entries, so give `names` for untrusted files. Verifies checksums, so it reads all wanted
// bytes. Errors: kNotFound for a missing name; those of ZipFile and ParseNpy.
Result<NamedArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names = {});

// Writes the arrays atomically, stored. Errors: those of ZipWriter and NpyHeaderOf.
Status WriteNpz(const std::string& path, const NamedArrays& arrays);

}  // namespace stoker
