// Which members the objects of some lines have, and of what type: for whoever was not told.
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
  // Of more members, or of more characters of their paths, none are kept: a field each would take
  // many times the memory that the line does.
  static constexpr size_t kMostMembers = 1 << 18;
  static constexpr size_t kMostPathBytes = 32 << 20;

  // Looks into one more line. Takes time and memory for what the line has, whatever it is. Errors:
  // kDataLoss, with the byte within the line, for what is no JSON object, which then tells nothing;
  // kUnimplemented for more members than are kept, of all lines together.
  Status Add(std::string_view line);

  // A member for each of the objects, in the order in which they came first: those of the first
  // line as they stand there, behind them what later lines have beside. Members of objects in them
  // are named by their path. They are int64 where all values are whole numbers that it holds,
  // float32 where they are numbers (with nan as default where some are missing), bool, text, lists
  // of numbers with the shape that all have or [-1, ...], and json for all else. Names that are
  // empty or have a dot, which no path can name, are left out.
  std::vector<JsonMember> Members() const;

 private:
  // What is known of a member from the lines that have it.
  struct Seen {
    size_t rank = 0;    // how many came before it
    int64_t lines = 0;  // in which it is, and not null
    int64_t last = -1;  // of them
    bool whole = true, numbers = true, bools = true, texts = true, lists = true;
    std::optional<Shape> shape;  // of lists, as far as all agree
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
