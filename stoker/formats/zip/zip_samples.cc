#include "stoker/formats/zip/zip_samples.h"

#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "stoker/formats/sample_name.h"

namespace stoker {

ZipSamples ZipSamples::Of(const ZipFile& zip) {
  std::unordered_map<std::string_view, size_t> samples;
  std::vector<std::pair<size_t, uint32_t>> members;  // sample, entry
  std::vector<size_t> sizes;
  for (uint32_t entry = 0; entry < zip.entries().size(); ++entry) {
    const std::optional<SampleName> name = SplitSampleName(zip.entries()[entry].name);
    if (!name) continue;
    const size_t sample = samples.try_emplace(name->key, sizes.size()).first->second;
    if (sample == sizes.size()) sizes.push_back(0);
    ++sizes[sample];
    members.emplace_back(sample, entry);
  }
  ZipSamples out;
  out.starts_.resize(sizes.size() + 1);
  std::inclusive_scan(sizes.begin(), sizes.end(), out.starts_.begin() + 1);
  out.entries_.resize(members.size());
  std::vector<size_t> next = out.starts_;
  for (const auto& [sample, entry] : members) out.entries_[next[sample]++] = entry;
  return out;
}

}  // namespace stoker
