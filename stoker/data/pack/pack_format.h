// What a file format needs to be packed into: one row of functions for each format.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/formats/record_fields.h"

namespace stoker {

// One file (or directory) under way. It has its name once Commit has returned; destroyed before, it
// leaves nothing. One thread at a time.
class PackSink {
 public:
  PackSink() = default;
  PackSink(const PackSink&) = delete;
  PackSink& operator=(const PackSink&) = delete;
  virtual ~PackSink() = default;

  // The next element: one array for each field, as the Spec says. Errors: those of writing files,
  // and kInvalidArgument for an element that the format cannot hold.
  virtual Status Append(std::span<const Array> arrays) = 0;
  virtual Status Commit() = 0;
};

// One file that is to be made.
struct PackedFile {
  std::string path;
  Spec spec;
  std::vector<std::string> classes;  // what labels stand for; may be empty
  std::string origin;                // says for people what it is made from
  int64_t first = 0;                 // the number of its first element in all files

  RecordSchema schema() const;
};

// What is called for each element of a file that is read back, in order.
using PackedElement = std::function<Status(std::span<const Array> arrays)>;

struct PackFormat {
  std::string_view name;       // in --format
  std::string_view extension;  // of its files, with the dot; may be empty
  bool directory = false;      // each of them is one
  // Whether a file of this name is one that the format writes into its directories; null for
  // formats that write none.
  bool (*writes)(std::string_view name) = nullptr;
  bool holds_classes = false;  // PackedFile::classes goes into it, not into a file beside it

  // Whether elements of this Spec can be written. Errors: kInvalidArgument says which field cannot,
  // and what to put into the pipeline.
  Status (*check)(const Spec& spec);
  // Begins a file.
  Result<std::unique_ptr<PackSink>> (*create)(const PackedFile& file);
  // Reads all of a file that was written with this Spec, checksums included: the elements are those
  // that were appended, byte by byte. Errors: those of the format's reader.
  Status (*read)(const std::string& path, const Spec& spec, const PackedElement& each);
};

// All there are.
std::span<const PackFormat> PackFormats();

// The format of this name. Errors: kInvalidArgument with the nearest name.
Result<const PackFormat*> FindPackFormat(std::string_view name);

// The format that `destination` is to have: the one called `name`, or where that is empty the one
// whose extension it ends in; .stoker where it has none. Errors: kInvalidArgument for a destination
// that no file or directory can have (on a server, a pipe, a device, "."), and for an extension
// that is no format's where none is named.
Result<const PackFormat*> PackFormatFor(const std::string& destination, std::string_view name);

}  // namespace stoker
