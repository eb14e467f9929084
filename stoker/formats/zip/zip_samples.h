// The samples of a zip archive, by the rules of WebDataset (formats/sample_name.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/formats/zip/zip_reader.h"

namespace stoker {

// Entries whose names differ only in their extension make a sample, in any place of the archive;
// samples come in the order in which the directory first names them. Immutable and thread-safe.
// Costs 4 bytes an entry and 8 a sample.
class ZipSamples {
 public:
  static ZipSamples Of(const ZipFile& zip);

  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  // Returns the indices in zip.entries() of a sample, at least one, in the order of the directory.
  // 0 <= sample < size().
  std::span<const uint32_t> entries(int64_t sample) const {
    const auto at = static_cast<size_t>(sample);
    return std::span(entries_).subspan(starts_[at], starts_[at + 1] - starts_[at]);
  }

 private:
  std::vector<uint32_t> entries_;  // sample by sample
  std::vector<size_t> starts_ = {
      0};  // where each sample's entries begin, and finally where they end
};

}  // namespace stoker
