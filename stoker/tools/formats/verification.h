// The result of `stoker verify` for one file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

struct Verification {
  struct Damage {
    uint64_t begin = 0, bytes = 0;
    std::string what;
    // The lost records, if known; `first`: how many precede them.
    int64_t first = 0;
    std::optional<int64_t> records;
  };

  std::string file;
  std::string format;            // "stoker", "tfrecord", ...; empty if unknown
  std::optional<int64_t> count;  // its number of records, including damaged ones
  std::optional<int64_t>
      pictures;                    // how many in an archive were decoded, the damaged ones included
  int64_t pictures_too_large = 0;  // how many in an archive were too large to decode
  std::vector<Damage> damages;
  std::string error;      // the first error, if damages cannot be listed one by one
  std::string unchecked;  // why it is unknown whether it is whole; empty if known
  std::string checks;     // what was checked of it, where its format has no checksums for all of it
  std::string failure;    // why it could not be read, which proves no damage

  bool damaged() const { return !damages.empty() || !error.empty(); }
  bool whole() const { return !damaged() && unchecked.empty() && failure.empty(); }
  std::string ToText() const;  // whole lines
  Json ToJson() const;
};

}  // namespace stoker
