// The formats of files that Stoker knows, one row each: what tells a file of it from others, and
// what `inspect`, `verify` and `pack` do with one. A new format is one more row
// (docs/adding-a-format.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/pack/pack_source.h"
#include "stoker/tools/formats/inspection.h"
#include "stoker/tools/formats/probed_file.h"
#include "stoker/tools/formats/verification.h"

namespace stoker {

struct FileFormat {
  std::string_view name;  // as Inspection::json calls it under "format"
  // Whether the file is of this format. Asked row by row, in the order of FileFormats().
  Result<bool> (*holds)(const ProbedFile& file);
  // All about one file. What has a checksum or announces its size is read and checked.
  Result<Inspection> (*inspect)(const ProbedFile& file);

  // The rest may be null, where a format has no such thing.

  // The stage of a recipe that reads the file, with dots where options have to be filled in:
  // "stoker: a.stoker".
  std::string (*recipe)(const ProbedFile& file) = nullptr;
  // The file's samples, without an index or anything else being written. `inspected` is what
  // `inspect` told of it.
  Result<Dataset> (*open)(const std::string& path, const Json& inspected) = nullptr;
  // The files of a path, pattern or set of shards as `stoker pack` takes them, unless a recipe says
  // otherwise.
  Result<PackSource> (*pack)(const std::string& files) = nullptr;
  // What `stoker verify` adds to an inspection: fills in `out`. Where it is null, what the
  // inspection has found wrong is all.
  Status (*verify)(const ProbedFile& file, const Inspection& inspected,
                   Verification& out) = nullptr;
};

// All there are, in the order in which a file is asked whether it is one. The last takes every
// file.
std::span<const FileFormat* const> FileFormats();

// The format of a file. Errors: those of reading it.
Result<const FileFormat*> FormatOf(const ProbedFile& file);

}  // namespace stoker
