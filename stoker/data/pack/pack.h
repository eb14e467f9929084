// Packing: one epoch of a pipeline, element by element, into files that are fast to read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/pack/pack_format.h"

namespace stoker {

struct PackProgress {
  int64_t elements = 0;  // written so far, those of an earlier, interrupted packing included
  int64_t kept = 0;      // of these the earlier packing's
  int64_t total = -1;    // -1: not known
  int64_t file = 0;      // which one is under way, from 0: so many are whole
  bool verifying = false;
};

struct PackOptions {
  const PackFormat* format = nullptr;
  // So many files, of elements of equal number (or one more), consecutive ones; more than one only
  // where the pipeline says how many elements it has.
  int64_t files = 1;
  // Reads each file back when it is written, and compares every element with the pipeline's, before
  // it has its name; those of an interrupted packing too, with the checksum that it took of them.
  bool verify = false;
  // Replaces what is there, each file when the new one is whole, but never what the pipeline reads,
  // nor a directory with anything in it that no packing writes. Otherwise that is an error, but for
  // what an interrupted packing of the same made, which is gone on with. What that one was to
  // replace counts as what is there.
  bool overwrite = false;
  // What labels stand for, kept with the elements; may be empty.
  std::vector<std::string> classes;
  // What else the elements depend on, beside what the pipeline tells of itself: its options.
  std::string settings;
  // What of all this the user gave, by the names of the options: what is told of an interrupted
  // packing that differs. Changes nothing else.
  std::map<std::string, std::string> given;
  // Files that say what is packed, such as a recipe: never replaced, as those that the pipeline
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

// The names of the files: `destination` with the format's extension, or its shards
// ("DEST-00003-of-00128.EXT").
std::vector<std::string> PackedNames(const std::string& destination, const PackFormat& format,
                                     int64_t files);

// Where the names of the classes are kept of formats that have no place for them; empty for others.
std::string PackedClassNames(const std::string& destination, const PackFormat& format);

// Writes the first epoch of `dataset` to `destination`, with its random draws. Each file has its
// name only when it is whole. What was interrupted, be it by SIGKILL, is gone on with by the same
// call (pack_manifest.h): the same bytes as in one go, whatever the number of threads; a pass by
// position goes on at once, a stream as docs/how-data-flows.md says.
//
// Errors: kInvalidArgument for a pipeline without an end, for what the format cannot hold, and for
// several files where the number of elements is not known; kNotFound where the directory that
// `destination` is to be in is not there; kFailedPrecondition where files stand in the way, or are
// those that the pipeline reads; kDataLoss where `verify` finds another element
// than was written; kCancelled through Runtime::stop; those of the pass and of writing. Files that
// are whole then stay, for the next call.
Result<PackReport> Pack(const Dataset& dataset, const std::string& destination,
                        const PackOptions& options, const Runtime& runtime = Runtime::Threaded());

}  // namespace stoker
