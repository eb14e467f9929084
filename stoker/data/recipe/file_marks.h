// Cheap fingerprints of a pipeline's files, so that a resumed run notices replaced files.
//
// For each source: the number of its files, a checksum of their names, and marks of at most 1,024
// of them (16 on servers), evenly spaced. The mark of a local file is its size and a checksum: of
// its whole content if the marked files have at most 64 MiB together or this one has at most 64
// KiB; else of 16 to 1,024 evenly spaced places of 4 KiB, 4,096 places a source. So a rewritten
// file is detected independently of its modification time, and a file that was only touched is the
// same; a change of a few bytes in a large file, or of one file of many thousands, may be missed.
// The modification time is kept to report this. The mark of a file on a server is its version
// there. Standard input, a pipe, and a directory in place of a file (N5) have a name and no mark;
// of a missing or damaged file, which a pass may skip, the mark says so.
//
// A stage that was made from files, such as a vocabulary, has such an entry too (Transform::files).
//
// A full check misses nothing in local files: it adds checksums of the whole content of all of them
// (the versions of all files on servers), one for each file, or, for more than 4,096 files, one for
// each of 4,096 groups of consecutive files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

enum class DataCheck { kPlaces, kFull };

// Parses "places" or "full". Errors: kInvalidArgument.
Result<DataCheck> ParseDataCheck(std::string_view text);

// How far a full check has come with the local files of one pipeline.
struct CheckProgress {
  uint64_t bytes = 0;  // read so far
  uint64_t total = 0;  // in all; files that change meanwhile may have more
};

// Called about once a MiB, on the thread that reads; may be empty.
using CheckObserver = std::function<void(const CheckProgress&)>;

// The marks of all sources and stages of `dataset` (DatasetNode::files), those of inputs first.
// Reads, for each source, at most 64 MiB in sequence, or at most 64 MiB in 16,384 places; with
// kFull all its files once; for files on servers it makes a request for each whose version this
// process does not know yet. Errors: trouble that says nothing about a file (not
// IsAboutOneElement), after retries, since without marks a resumed run would not notice what was
// replaced.
//   root  names of files below it are relative to it, so that files may be moved together; may be
//         empty or on a server
Result<Json> MarkFiles(const Dataset& dataset, const std::filesystem::path& root,
                       DataCheck check = DataCheck::kPlaces, const CheckObserver& observer = {});

// The same of stages alone, without the sources.
Result<Json> MarkStageFiles(const Dataset& dataset, const std::filesystem::path& root);

}  // namespace stoker
