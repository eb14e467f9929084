// What an archive of samples holds, told alike for tar and zip.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "stoker/tools/formats/inspection.h"

namespace stoker {

// Of the members that were added, in the order of their samples.
class SampleSummary {
 public:
  // `size`: bytes of its content. Members that belong to no sample are counted as members. Keeps
  // about 40 bytes of each, to tell names that come again.
  void Add(std::string_view name, uint64_t size);

  // Puts format, members, samples and fields into `out`, whose damage is known already.
  void Describe(const std::string& path, std::string_view format, Inspection& out) const;

 private:
  struct Field {
    int64_t samples = 0;
    uint64_t smallest = 0, largest = 0;
  };
  void CountName(std::string_view name);

  int64_t members_ = 0, samples_ = 0;
  std::string key_;  // of the last member's sample
  std::map<std::string, Field> fields_;
  // By a hash of 64 bits of their names, which two of ten million share by a chance of one in
  // 300,000: whether one has come again.
  std::unordered_map<uint64_t, bool> names_;
  int64_t repeated_names_ = 0;
  std::string first_repeated_;
};

}  // namespace stoker
