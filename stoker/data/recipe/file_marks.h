// What the files of a pipeline are like, told cheaply, so that a run that goes on notices where one
// was replaced.
//
// Of each source: how many files it reads, a checksum of their names, and marks of at most 1,024 of
// them (of 16, where they lie on servers), evenly spaced. A mark of a local file is its size and a
// checksum: of all of it, where the marked files have at most 64 MiB together or this one has at
// most 64 KiB; of 16 to 1,024 evenly spaced places of 4 KiB of a larger one, 4,096 places of a
// source. So what is written anew is found whatever its time of change says, and a file that was
// only touched is the same; a change of a few bytes in a large file, or of one file of many
// thousands, may stay unseen. The time of change is kept to say so. A mark of a file on a server is
// its version there. What is piped in, and a directory in a file's place (N5), has a name and no
// mark.
//
// A full check misses nothing in local files: it adds checksums of the whole content of all of them
// (of files on servers the versions of all), one for each file, or where there are more than 4,096,
// for each of so many groups of files that follow each other.
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

// "places" or "full". Errors: kInvalidArgument.
Result<DataCheck> ParseDataCheck(std::string_view text);

// How far a full check has come with the local files of one pipeline.
struct CheckProgress {
  uint64_t bytes = 0;  // read so far
  uint64_t total = 0;  // that there are; files that change meanwhile may have more
};

// Called about once a MiB, on the thread that reads; may be empty.
using CheckObserver = std::function<void(const CheckProgress&)>;

// The marks of all sources of `dataset` (DatasetNode::files), those of inputs first. Costs, for
// each source, reading at most 64 MiB in sequence, or at most 64 MiB in 16,384 places; with kFull
// reading all its files once; of files on servers a request for each whose version this process
// does not know yet. What cannot be read has no mark: its reader reports why.
//   root  what names are relative to where they lie below it, so that files may be moved together;
//         may be empty or on a server
Json MarkFiles(const Dataset& dataset, const std::filesystem::path& root,
               DataCheck check = DataCheck::kPlaces, const CheckObserver& observer = {});

// Whether marks of one pipeline hold what a full check compares with.
bool HaveFullCheck(const Json& marks);

// Gives `now` the checksums of the whole content that `before` has, for files found unchanged.
void KeepFullCheck(const Json& before, Json& now);

struct FileChanges {
  std::vector<std::string> changed;  // "train-labels has other content, in 108 bytes as before"
  std::vector<std::string>
      touched;  // large files written since in whose places nothing has changed
};

// What differs between two such marks of one pipeline; nothing if it has other sources now, or
// `before` is none of MarkFiles'. Whole contents are compared where both have them. At most five of
// each are named, the others counted.
FileChanges CompareFiles(const Json& before, const Json& now);

}  // namespace stoker
