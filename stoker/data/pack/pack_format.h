// The formats of packing: one row of functions for each.
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

// One unfinished file (or directory). It has its name once Commit has returned; destroyed before,
// it leaves nothing. One thread at a time.
class PackSink {
 public:
  PackSink() = default;
  PackSink(const PackSink&) = delete;
  PackSink& operator=(const PackSink&) = delete;
  virtual ~PackSink() = default;

  // Writes the next element: one array for each field of the Spec. Errors: those of writing files,
  // and kInvalidArgument for an element that the format cannot hold.
  virtual Status Append(std::span<const Array> arrays) = 0;
  virtual Status Commit() = 0;
};

// One file to make.
struct PackedFile {
  std::string path;
  Spec spec;
  std::vector<std::string> classes;  // names of the labels; may be empty
  std::string origin;                // describes the source for people
  int64_t first = 0;                 // the number of its first element in all files

  RecordSchema schema() const;
};

// Called for each element of a file that is read back, in order.
using PackedElement = std::function<Status(std::span<const Array> arrays)>;

struct PackFormat {
  std::string_view name;       // in --format
  std::string_view extension;  // of its files, with the dot; may be empty
  bool directory = false;      // each of them is a directory
  // Returns whether the format writes a file of this name into its directories; null for formats
  // without directories.
  bool (*writes)(std::string_view name) = nullptr;
  bool holds_classes = false;  // PackedFile::classes is stored in it, not in a file beside it

  // Checks that elements of this Spec can be written. Errors: kInvalidArgument says which field
  // cannot, and what to add to the pipeline.
  Status (*check)(const Spec& spec);
  // Begins a file.
  Result<std::unique_ptr<PackSink>> (*create)(const PackedFile& file);
  // Reads all of a file that was written with this Spec, checksums included: the elements are those
  // that were appended, byte by byte. Errors: those of the format's reader.
  Status (*read)(const std::string& path, const Spec& spec, const PackedElement& each);
};

// Returns all formats.
std::span<const PackFormat> PackFormats();

// Returns the format of this name. Errors: kInvalidArgument with the nearest name.
Result<const PackFormat*> FindPackFormat(std::string_view name);

// Returns the format of `destination`: the one called `name`, or if that is empty the one of its
// extension; .stoker without an extension. Errors: kInvalidArgument for a destination that cannot
// be a new file or directory (on a server, a pipe, a device, "."), and for an unknown extension
// without a `name`.
Result<const PackFormat*> PackFormatFor(const std::string& destination, std::string_view name);

}  // namespace stoker
