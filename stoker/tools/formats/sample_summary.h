// Describes the samples of an archive, tar or zip.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/tools/formats/inspection.h"

namespace stoker {

// A summary of the added members. Add them in the order of their samples.
class SampleSummary {
 public:
  // `size`: bytes of its content. Counts members that belong to no sample too. Keeps about 40 bytes
  // for each, to detect repeated names.
  void Add(std::string_view name, uint64_t size);

  // Adds format, members, samples and fields, and the sizes of the first samples, to `out`, whose
  // damage is already set.
  void Describe(const std::string& path, std::string_view format, Inspection& out) const;

 private:
  struct Field {
    int64_t samples = 0;
    uint64_t smallest = 0, largest = 0;
  };
  void CountName(std::string_view name);

  int64_t members_ = 0, samples_ = 0;
  std::string key_;                    // of the last member's sample
  std::vector<uint64_t> first_bytes_;  // of the first samples
  std::map<std::string, Field> fields_;
  // By a hash of 64 bits of their names, which two of ten million share with a probability of one
  // in 300,000: whether one was repeated.
  std::unordered_map<uint64_t, bool> names_;
  int64_t repeated_names_ = 0;
  std::string first_repeated_;
};

}  // namespace stoker
