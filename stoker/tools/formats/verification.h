// What `stoker verify` finds out about one file.
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
    // Records that are lost, where that is known; `first` alone: how many come before.
    int64_t first = 0;
    std::optional<int64_t> records;
  };

  std::string file;
  std::string format;            // "stoker", "tfrecord", ...; empty where it cannot be told
  std::optional<int64_t> count;  // how many records it has, the damaged ones included
  std::optional<int64_t>
      pictures;                    // how many in an archive were decoded, the damaged ones included
  int64_t pictures_too_large = 0;  // how many in an archive were therefore not decoded
  std::vector<Damage> damages;
  std::string error;      // the first thing wrong, where damages cannot be listed one by one
  std::string unchecked;  // why it cannot be told whether it is whole; empty where it can
  std::string failure;    // why it could not be read, which says nothing about what it holds

  bool damaged() const { return !damages.empty() || !error.empty(); }
  bool whole() const { return !damaged() && unchecked.empty() && failure.empty(); }
  std::string ToText() const;  // whole lines
  Json ToJson() const;
};

}  // namespace stoker
