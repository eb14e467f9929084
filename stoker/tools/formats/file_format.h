// The file formats that Stoker knows, one row each: how to recognise a file, and what `inspect`,
// `verify` and `pack` do with it. A new format is one more row (docs/adding-a-format.md).
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
  // Returns whether the file has this format. Called row by row, in the order of FileFormats().
  Result<bool> (*holds)(const ProbedFile& file);
  // What makes a file whole, where the format has no checksums for all of its bytes: "that every
  // line is JSON". Empty where it has. `verify` says it.
  std::string_view checks = "";
  // Whether the content shows the format. False for the rows that accept what no other has: there
  // the name of a file may say more.
  bool known_by_content = true;
  // Describes one file. Reads and checks everything that has a checksum or announces its size.
  Result<Inspection> (*inspect)(const ProbedFile& file);

  // The others may be null.

  // Returns the stage of a recipe that reads the file, with dots for options to fill in: "stoker:
  // a.stoker".
  std::string (*recipe)(const ProbedFile& file) = nullptr;
  // Opens the file's samples without writing an index or other files. `inspected` is the JSON of
  // `inspect`.
  Result<Dataset> (*open)(const std::string& path, const Json& inspected) = nullptr;
  // Whether a sample is read by decoding a group of many. `inspect` then reads the first samples
  // within the default memory budget, within which it has read all groups before, and else within
  // kSampleBudget.
  bool reads_groups = false;
  // Opens the files of a path, pattern or set of shards for `stoker pack` without a recipe.
  Result<PackSource> (*pack)(const std::string& files) = nullptr;
  // Fills in `out` with the additional checks of `stoker verify`. If null, the inspection is the
  // whole check.
  Status (*verify)(const ProbedFile& file, const Inspection& inspected,
                   Verification& out) = nullptr;
};

// Returns all formats, in the order in which they are tried. The last accepts every file.
std::span<const FileFormat* const> FileFormats();

// The format of a file. Errors: those of reading it.
Result<const FileFormat*> FormatOf(const ProbedFile& file);

}  // namespace stoker
