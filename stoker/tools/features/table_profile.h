// What is in the columns of a table, and what each says of the target.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/tools/features/column_profile.h"

namespace stoker {

// A column beside the target.
struct TargetRelation {
  double explained = 0;    // ExplainedShare
  bool disguised = false;  // IsTargetInDisguise
};

struct TableProfile {
  std::string file;  // as named
  int64_t rows = 0;
  std::vector<ColumnProfile> columns;
  std::optional<size_t> target;           // its place in `columns`
  bool target_is_number = false;          // to be estimated; else a class
  std::vector<TargetRelation> relations;  // of each column, from `sampled` rows; none: no target
  int64_t sampled = 0;

  Json ToJson() const;
};

enum class TargetMeaning { kAuto, kNumber, kClass };

// Reads all rows of CSV files once: `file` is a path, a pattern or an address, as csv takes it.
//   target   a column; empty: none
//   meaning  of the target. kAuto: numbers are a class where they are whole and there are at most
//            20 of them
// Memory: about 300 MB for up to some thousand columns, and what the source takes. Errors: those of
// the source; kInvalidArgument for a target that is no column, with the nearest one, and one that
// is empty, constant, or not of numbers where kNumber says so.
Result<TableProfile> ProfileTable(const std::string& file, const std::string& target,
                                  TargetMeaning meaning);

}  // namespace stoker
