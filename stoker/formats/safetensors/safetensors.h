// safetensors: named arrays in one file, a common format of weights. README.md has the layout byte
// by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/buffer.h"
#include "stoker/base/dtype.h"
#include "stoker/base/shape.h"
#include "stoker/base/status.h"

namespace stoker {

struct NamedArray {
  std::string name;
  Array array;
};

using SafetensorsMetadata = std::map<std::string, std::string>;

// Writes a file atomically (io/atomic_file.h), straight from the arrays' memory.
//   arrays    in any order; stored like the format's own library does, wide types first and then by
//             name, so the same arrays give the same bytes, and each is aligned to its type. Names:
//             UTF-8, distinct, not "__metadata__".
//   metadata  free text; stored in the header
// Errors: kInvalidArgument (names; a header over 100 MB); those of AtomicFileWriter.
Status WriteSafetensors(const std::string& path, std::span<const NamedArray> arrays,
                        const SafetensorsMetadata& metadata = {});

struct SafetensorsEntry {
  std::string name;
  std::optional<DType> dtype;  // nothing for types that Stoker lacks, such as U32 and F8_E4M3
  Shape shape;
  uint64_t offset = 0;  // of its first byte, counted from the start of the data
  uint64_t bytes = 0;
  std::string type = {};  // its name in the header it was read from
};

// A file opened for reading. Open checks the whole header: every entry's type and size, no
// duplicate name, no gap and no overlap between entries, nothing after the last. Values are read on
// first access; the format has no checksum. A cheap value; const calls are safe from several
// threads. Errors: kDataLoss with file and byte or entry; kUnimplemented for a dtype that the
// format lacks, by name.
class SafetensorsFile {
 public:
  // Reads the whole file, or maps it (io/file_bytes.h).
  static Result<SafetensorsFile> Open(const std::string& path);

  // Opens bytes in memory, shared, not copied. `name`: what errors call them.
  static Result<SafetensorsFile> Parse(Buffer bytes, std::string name);

  // Returns the entries in the order of their data.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  const SafetensorsMetadata& metadata() const { return metadata_; }

  // Returns the entry of this name, or null.
  const SafetensorsEntry* Find(std::string_view name) const;

  // Returns the array of this name: it shares the mapping if its data is aligned to its type, else
  // it is a copy. Writing to it never changes the file. Errors: kNotFound, with the nearest names;
  // kUnimplemented for a type that Stoker lacks.
  Result<Array> Read(std::string_view name) const;

  // Returns all arrays, in the order of entries().
  Result<std::vector<NamedArray>> ReadAll() const;

 private:
  SafetensorsFile() = default;

  std::string name_;
  Buffer bytes_;
  size_t data_start_ = 0;
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string, size_t, std::less<>> index_;
  SafetensorsMetadata metadata_;
};

}  // namespace stoker
