// A part of a packing: the files that one of several processes makes.
//
// `stoker pack SOURCE DEST --shards N --part K/M` makes the K-th of M runs of consecutive files,
// each whole. The processes need not know of each other: which files a part has, and which elements
// are in them, follows from the numbers alone, and the random draws of an element from its place in
// the pipeline. So they may run on any machine, in any order, and again. MergeParts (pack_merge.h)
// then makes one set of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

struct PackPart {
  int64_t number = 1;  // 1 to `of`
  int64_t of = 1;

  bool operator==(const PackPart&) const = default;
  std::string ToString() const;  // "3/8"
};

// Parses "3/8". Errors: kInvalidArgument for anything else, and for numbers that are not 1 <= K <=
// M
// <= 99999.
Result<PackPart> ParsePackPart(std::string_view text);

// A run of files, or of elements: [first, last).
struct PackRange {
  int64_t first = 0;
  int64_t last = 0;

  int64_t size() const { return last - first; }
};

// Returns the files, from 0, of a part of `files`; their numbers differ by one at most between
// parts.
PackRange FilesOfPart(const PackPart& part, int64_t files);

// Returns the elements, from 0, of file number `file` of `files` that hold `elements` in all: each
// file has the same number or, the first ones, one more.
PackRange ElementsOfFile(int64_t file, int64_t files, int64_t elements);

// Returns the name (not the path) of the record of a part: ".NAME.part-00003-of-00008.stoker-pack"
// for the file name `name` of the destination.
std::string PartRecordName(std::string_view name, const PackPart& part);

// The inverse of PartRecordName; nothing for any other `record`.
std::optional<PackPart> PartOfRecordName(std::string_view record, std::string_view name);

}  // namespace stoker
