// Packing: one epoch of a pipeline, element by element, into files that are fast to read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/pack/pack_format.h"
#include "stoker/data/pack/pack_part.h"

namespace stoker {

struct PackProgress {
  int64_t elements = 0;  // written so far, those of an earlier, interrupted packing included
  int64_t kept = 0;      // of these the earlier packing's
  int64_t total = -1;    // -1: unknown
  int64_t file = 0;      // the current one, from 0; so many are whole
  bool verifying = false;
};

struct PackOptions {
  const PackFormat* format = nullptr;
  // The number of files, each of the same number (or one more) of consecutive elements; more than
  // one only if the pipeline knows its number of elements.
  int64_t files = 1;
  // Which part of the files to make, a run of whole ones; nothing: all. Their bytes do not
  // depend on who makes them. A part writes no file of class names and, whatever `overwrite` says,
  // replaces no file but its own (pack_manifest.h). MergeParts (pack_merge.h) finishes the packing.
  std::optional<PackPart> part;
  // Reads each file back when it is written, and compares every element with the pipeline's, before
  // it gets its name; compares files of an interrupted packing with the checksum that it stored.
  bool verify = false;
  // Replaces existing files, each when the new one is whole, but never files that the pipeline
  // reads, nor a directory that contains files other than those of a packing. If false, existing
  // files are an error, except those of an interrupted packing of the same, which is continued.
  // Files that it was to replace count as existing.
  bool overwrite = false;
  // The names of the labels, stored with the elements; may be empty.
  std::vector<std::string> classes;
  // Further settings that the elements depend on and that the pipeline does not describe: its
  // options.
  std::string settings;
  // The options that the user gave, by name, for messages about an interrupted packing that
  // differs. Has no other effect.
  std::map<std::string, std::string> given;
  // Files that describe the packing, such as a recipe: never replaced, like those that the pipeline
  // reads.
  std::vector<std::string> inputs;
  PassOptions pass;
  // Called at the beginning, after each element and after each file; may be empty.
  std::function<void(const PackProgress&)> observer;
};

struct PackReport {
  struct File {
    std::string path;
    int64_t elements = 0;
    uint64_t bytes = 0;
    bool kept = false;  // made by an earlier, interrupted packing
  };
  std::vector<File> files;
  int64_t elements() const;
  uint64_t bytes() const;
};

// Returns the names of the files: `destination` with the format's extension, or its shards
// ("DEST-00003-of-00128.EXT").
std::vector<std::string> PackedNames(const std::string& destination, const PackFormat& format,
                                     int64_t files);

// Returns the file of class names for formats that have no place for them; empty for others.
std::string PackedClassNames(const std::string& destination, const PackFormat& format);

// Writes the first epoch of `dataset` to `destination`, with its random draws. Each file has its
// name only when it is whole. The same call continues an interrupted one, also after SIGKILL
// (pack_manifest.h), with the same bytes as without interruption, on any number of threads; a pass
// by position continues at once, a stream as docs/how-data-flows.md says. So does a part: a pass by
// position begins at its first element, a stream makes those before it and drops them.
//
// Errors: kInvalidArgument for an endless pipeline, for elements that the format cannot hold, for
// several files if the number of elements is unknown, and for more parts than files; kNotFound if
// the directory of `destination` does not exist; kFailedPrecondition if files exist already, or are
// those that the pipeline reads; kDataLoss if `verify` finds a difference; kCancelled by
// Runtime::stop; those of the pass and of writing. Whole files stay for the next call.
Result<PackReport> Pack(const Dataset& dataset, const std::string& destination,
                        const PackOptions& options, const Runtime& runtime = Runtime::Threaded());

}  // namespace stoker
