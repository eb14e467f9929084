// What the program and its plug-in libstoker_arrow.so share; stoker/base/plugin.h says how their
// tags are compared. The plug-in has copies of its own of what it uses of stoker/base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "stoker/formats/arrow/table_file.h"

namespace stoker {

// The bytes of a file, which the program reads. Thread-safe.
class TableInput {
 public:
  virtual ~TableInput() = default;
  virtual const std::string& name() const = 0;
  virtual uint64_t size() const = 0;
  // All of them, where they are in memory for as long as this lives; else null.
  virtual const std::byte* present() const = 0;
  // Copies bytes that are in the file. Errors: those of reading.
  virtual Status ReadAt(uint64_t offset, std::span<std::byte> out) const = 0;
};

inline constexpr const char* kArrowPluginFile = "libstoker_arrow.so";
inline constexpr const char* kArrowPluginTagName = "StokerArrowTag";
inline constexpr const char* kOpenTableName = "StokerOpenTable";
using OpenTableFunction = void(TableFormat format, std::shared_ptr<const TableInput> input,
                               Result<std::shared_ptr<const TableFile>>* out);

}  // namespace stoker
