// Writes zip archives of stored entries with aligned data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/atomic_file.h"

namespace stoker {

// Entries in the order of Add, without times, so that equal content gives equal bytes. Sizes and
// offsets that need 64 bits get them. One thread at a time. Errors: those of AtomicFileWriter.
class ZipWriter {
 public:
  static Result<ZipWriter> Create(const std::string& path);

  // Appends an entry, uncompressed.
  //   name       UTF-8, at most 65,535 bytes, unlike all before it
  //   alignment  of its data in the file, a power of 2 of at most 4096; reached by padding in the
  //              header's extra field, as PyTorch does it
  Status Add(std::string_view name, std::span<const std::byte> content, uint64_t alignment = 1);

  // Writes the directory and gives the file its name. Call once, last.
  Status Finish();

 private:
  struct Entry {
    std::string name;
    uint32_t crc32 = 0;
    uint64_t bytes = 0;
    uint64_t offset = 0;  // of its header
  };
  explicit ZipWriter(AtomicFileWriter writer) : writer_(std::move(writer)) {}
  static std::string LocalHeader(const Entry& entry, uint64_t alignment);
  static std::string DirectoryEntry(const Entry& entry);
  std::string End(uint64_t directory) const;

  AtomicFileWriter writer_;
  std::vector<Entry> entries_;
};

}  // namespace stoker
