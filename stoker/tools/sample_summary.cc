#include "stoker/tools/sample_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "stoker/formats/sample_name.h"
#include "stoker/tools/text.h"

namespace stoker {

void SampleSummary::Add(std::string_view name, uint64_t size) {
  ++members_;
  const std::optional<SampleName> sample = SplitSampleName(name);
  if (!sample) return;
  samples_ += samples_ == 0 || sample->key != key_ ? 1 : 0;
  key_ = sample->key;
  Field& field = fields_[LowerCaseExtension(sample->extension)];
  field.smallest = field.samples == 0 ? size : std::min(field.smallest, size);
  field.largest = std::max(field.largest, size);
  ++field.samples;
}

void SampleSummary::Describe(const std::string& path, std::string_view format,
                             Inspection& out) const {
  Json fields = Json::object();
  std::vector<std::vector<std::string>> table = {{"field", "samples", "bytes"}};
  for (const auto& [name, field] : fields_) {
    fields[name] = {
        {"samples", field.samples}, {"smallest", field.smallest}, {"largest", field.largest}};
    table.push_back(
        {name, WithThousands(static_cast<double>(field.samples)),
         RangeText(static_cast<int64_t>(field.smallest), static_cast<int64_t>(field.largest))});
  }
  out.json = {{"file", path},
              {"format", format},
              {"members", members_},
              {"count", samples_},
              {"fields", std::move(fields)}};
  out.text =
      fmt::format("{}: {}, {}, {}{}\n", path, format, CountText(members_, "member"),
                  CountText(samples_, "sample"), out.damage.ok() ? "; whole" : " up to an error");
  out.text += TableText(table, 2);
}

}  // namespace stoker
