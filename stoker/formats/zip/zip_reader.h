// zip archives, read at any place: the container of PyTorch's .pt and NumPy's .npz. README.md has
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
  bool deflated = false;          // else stored as it is
  uint32_t crc32 = 0;             // of the content
  uint64_t compressed_bytes = 0;  // in the file
  uint64_t bytes = 0;             // of the content
  uint64_t header = 0;            // of its local header in the file
  uint64_t offset = 0;            // of the first byte of its data in the file
};

// The content of an entry: a view of the file, or what it was inflated to.
struct ZipContent {
  Buffer owner;
  const std::byte* data = nullptr;
  uint64_t bytes = 0;

  std::string_view text() const { return {reinterpret_cast<const char*>(data), bytes}; }
};

// An archive opened for reading: its central directory, each entry of which is checked against the
// size of the file, the local header that it points to, and all other entries: no two have one name
// or share bytes, so all contents together are at most 1032 times the file, which is the most that
// deflate makes of a byte. No content is read. A cheap value; const calls are safe from several
// threads. Errors: kDataLoss with file and byte; kUnimplemented for encryption, other methods than
// stored and deflated, and archives in several files.
class ZipFile {
 public:
  // Reads the file as io/file_bytes.h says.
  static Result<ZipFile> Open(const std::string& path);
  // The same over bytes in memory, shared, not copied. `name`: what errors call them.
  static Result<ZipFile> Parse(Buffer bytes, std::string name);

  const std::string& name() const { return file_.name(); }
  // In the order of the directory.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // The entry of this name, or null. Takes time proportional to the number of entries' logarithm.
  const ZipEntry* Find(std::string_view name) const;

  // The file, in which what it holds of an entry lies from entry.offset on.
  const FileBytes& file() const { return file_; }

  // The content of one of entries(). Stored content is not copied where it is in memory. Its CRC-32
  // is verified: where the archive says 0, which is what PyTorch writes when told to save the time,
  // only if `strict`. A copy, and what is inflated, is charged to `account` (may be null). Errors:
  // kDataLoss where it is damaged.
  Result<ZipContent> Read(const ZipEntry& entry, bool strict = false,
                          const std::shared_ptr<MemoryAccount>& account = nullptr) const;

  // Checks the content's size and CRC-32 as Read does, and holds 256 KiB of it at a time.
  Status Verify(const ZipEntry& entry) const;

  // The first bytes of the content, at most `most`; nothing of it is verified. Errors: kDataLoss
  // where it does not inflate.
  Result<std::string> ReadStart(const ZipEntry& entry, size_t most) const;

  // Whether an entry can have the size it announces, judged by what the file holds of it: asked
  // before memory for it is. Errors: kDataLoss; kUnimplemented for deflated content of over 4 GiB.
  Status CheckSize(const ZipEntry& entry) const;

  // The content as a copy in memory of the caller's: `out` has entry.bytes bytes, which are
  // unspecified after an error.
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
