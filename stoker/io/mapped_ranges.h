// The addresses of mapped files. A page of a mapped file that can no longer be read, because the
// file was truncated or its disk fails, raises SIGBUS; with this table a handler of the signal can
// say which file and byte.
#pragma once

#include <cstddef>
#include <string>

namespace stoker {

struct MappedSlot;

// Registers a mapping while it lives: from after mmap to before munmap. Threads may make and
// destroy any number of them at once. Takes a mutex and, for every 256 that live at once, some
// memory.
class MappedRange {
 public:
  MappedRange(const void* start, size_t size, const std::string& path);
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;
  ~MappedRange();

 private:
  MappedSlot* slot_;
};

// The byte of a mapped file at an address.
struct MappedByte {
  const char* path = nullptr;  // null: no mapped file is there
  size_t offset = 0;
  size_t file_size = 0;  // when it was mapped
};

// Returns the byte at `address`. Safe in a signal handler: takes no lock and allocates nothing.
// `path` is valid as long as the mapping, which the code that accessed it keeps.
MappedByte FindMappedByte(const void* address);

}  // namespace stoker
