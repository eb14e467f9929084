// Which file lies where in memory. A page of a mapped file that can no longer be read, since the
// file was cut shorter meanwhile or its disk fails, raises SIGBUS; by this a handler of the signal
// can tell of which file, at which byte.
#pragma once

#include <cstddef>
#include <string>

namespace stoker {

struct MappedSlot;

// Told of a mapping while it lives: from behind mmap to before munmap. Threads may make and destroy
// any number of them at once. Takes a mutex and, for every 256 that live at once, some memory.
class MappedRange {
 public:
  MappedRange(const void* start, size_t size, const std::string& path);
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;
  ~MappedRange();

 private:
  MappedSlot* slot_;
};

// The byte of a mapped file that lies at `address`.
struct MappedByte {
  const char* path = nullptr;  // null: no mapped file lies there
  size_t offset = 0;
  size_t file_size = 0;  // when it was mapped
};

// May be called in a signal handler: it takes no lock and no memory. `path` is good for as long as
// the mapping, which whoever touches its memory keeps.
MappedByte FindMappedByte(const void* address);

}  // namespace stoker
