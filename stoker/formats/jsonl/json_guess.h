// Infers the members of the objects on some lines, and their types.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/shape.h"
#include "stoker/base/status.h"
#include "stoker/formats/jsonl/json_row_parser.h"

namespace stoker {

class JsonCursor;

// One thread at a time.
class JsonGuess {
 public:
  // The most members, and the most characters of their paths, because a field each would take many
  // times the memory of the line.
  static constexpr size_t kMostMembers = 1 << 18;
  static constexpr size_t kMostPathBytes = 32 << 20;

  // Adds one line. Time and memory are proportional to the line. Errors: kDataLoss, with the byte
  // within the line, for anything but a JSON object, which then adds nothing; kUnimplemented for
  // more than kMostMembers in all lines together.
  Status Add(std::string_view line);

  // Returns the members of the objects in order of first appearance. Members of nested objects are
  // named by their path. Types: int64 if all values are whole numbers that it holds, float32 if
  // they are numbers (with nan as default if some are missing), bool, text, lists of numbers with
  // the shape that all have or [-1, ...], and json for all else. Leaves out names that are empty or
  // have a dot, because no path can name them.
  std::vector<JsonMember> Members() const;

 private:
  // What the lines that have a member say about it.
  struct Seen {
    size_t rank = 0;    // how many members appeared earlier
    int64_t lines = 0;  // that have it, not null
    int64_t last = -1;  // the last of them
    bool whole = true, numbers = true, bools = true, texts = true, lists = true;
    std::optional<Shape> shape;  // of lists, if all agree
  };

  Status LookInto(JsonCursor& cursor, const std::string& prefix);
  Status TooMany(const JsonCursor& cursor) const;
  Status LookAt(JsonCursor& cursor, Seen& seen) const;
  JsonMember MemberOf(const std::string& path, const Seen& seen) const;

  std::map<std::string, Seen> seen_;
  size_t path_bytes_ = 0;  // of those in seen_
  int64_t lines_ = 0;
};

}  // namespace stoker
