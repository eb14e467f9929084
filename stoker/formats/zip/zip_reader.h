// zip archives with random access: the container of PyTorch's .pt and NumPy's .npz. README.md has
// the layout.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/status.h"
#include "stoker/io/file_bytes.h"

namespace stoker {

struct ZipEntry {
  std::string name;
  bool deflated = false;          // else stored
  uint32_t crc32 = 0;             // of the content
  uint64_t compressed_bytes = 0;  // in the file
  uint64_t bytes = 0;             // of the content
  uint64_t header = 0;            // of its local header in the file
  uint64_t offset = 0;            // of the first byte of its data in the file
};

// The content of an entry: a view of the file, or inflated.
struct ZipContent {
  Buffer owner;
  const std::byte* data = nullptr;
  uint64_t bytes = 0;

  std::string_view text() const { return {reinterpret_cast<const char*>(data), bytes}; }
};

// An archive opened for reading: its central directory. Open checks each entry against the size of
// the file, its local header and all other entries: no two have the same name or share bytes, so
// all contents together are at most 1032 times the file, deflate's largest ratio. Reads no content.
// A cheap value; const calls are safe from several threads. Errors: kDataLoss with file and byte;
// kUnimplemented for encryption, other methods than stored and deflated, and archives in several
// files.
class ZipFile {
 public:
  // Reads the file as io/file_bytes.h says.
  static Result<ZipFile> Open(const std::string& path);
  // Opens bytes in memory, shared, not copied. `name`: what errors call them.
  static Result<ZipFile> Parse(Buffer bytes, std::string name);

  const std::string& name() const { return file_.name(); }
  // Returns the entries in the order of the directory.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // Returns the entry of this name, or null. Takes time logarithmic in the number of entries.
  const ZipEntry* Find(std::string_view name) const;

  // Returns the file; the stored bytes of an entry begin at entry.offset.
  const FileBytes& file() const { return file_; }

  // Returns the content of one of entries(). Stored content in memory is not copied. Verifies its
  // CRC-32; a CRC of 0, which PyTorch can write to save time, only if `strict`. A copy, and
  // inflated content, is charged to `account` (may be null). Errors: kDataLoss if it is damaged.
  Result<ZipContent> Read(const ZipEntry& entry, bool strict = false,
                          const std::shared_ptr<MemoryAccount>& account = nullptr) const;

  // Checks the content's size and CRC-32 like Read, but holds only 256 KiB at a time.
  Status Verify(const ZipEntry& entry) const;

  // Returns the first bytes of the content, at most `most`, unverified. Errors:
  // kDataLoss if it does not inflate.
  Result<std::string> ReadStart(const ZipEntry& entry, size_t most) const;

  // Checks that the stored bytes of an entry can inflate to the size it announces. Call it before
  // allocating memory. Errors: kDataLoss; kUnimplemented for deflated content of over 4 GiB.
  Status CheckSize(const ZipEntry& entry) const;

  // Copies the content to `out`, which has entry.bytes bytes; unspecified after an error.
  Status ReadInto(const ZipEntry& entry, std::span<std::byte> out, bool strict = false) const;

 private:
  explicit ZipFile(FileBytes file) : file_(std::move(file)) {}
  static Result<ZipFile> Parse(FileBytes file);
  Status CheckContent(const ZipEntry& entry, std::span<const std::byte> content, bool strict) const;

  FileBytes file_;
  std::vector<ZipEntry> entries_;
  std::vector<uint32_t> by_name_;  // numbers of entries, sorted by their names
};

}  // namespace stoker
