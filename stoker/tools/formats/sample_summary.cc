#include "stoker/tools/formats/sample_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/formats/sample_name.h"
#include "stoker/tools/program/text.h"

namespace stoker {

// Of which the sizes are kept: more than anybody has shown.
constexpr size_t kMostFirst = 10'000;

void SampleSummary::CountName(std::string_view name) {
  const auto [known, is_new] = names_.try_emplace(std::hash<std::string_view>()(name), false);
  if (is_new || known->second) return;
  known->second = true;
  if (++repeated_names_ == 1) first_repeated_ = name;
}

void SampleSummary::Add(std::string_view name, uint64_t size) {
  ++members_;
  CountName(name);
  const std::optional<SampleName> sample = SplitSampleName(name);
  if (!sample) return;
  if (samples_ == 0 || sample->key != key_) {
    ++samples_;
    if (first_bytes_.size() < kMostFirst) first_bytes_.push_back(0);
  }
  key_ = sample->key;
  if (samples_ == std::ssize(first_bytes_)) first_bytes_.back() += size;
  Field& field = fields_[LowerCaseExtension(sample->extension)];
  field.smallest = field.samples == 0 ? size : std::min(field.smallest, size);
  field.largest = std::max(field.largest, size);
  ++field.samples;
}

void SampleSummary::Describe(const std::string& path, std::string_view format,
                             Inspection& out) const {
  out.first_sample_bytes = first_bytes_;
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
              {"repeated_names", repeated_names_},
              {"fields", std::move(fields)}};
  if (repeated_names_ > 0) out.json["first_repeated_name"] = first_repeated_;
  out.text =
      fmt::format("{}: {}, {}, {}{}\n", Printable(path), format, CountText(members_, "member"),
                  CountText(samples_, "sample"), out.damage.ok() ? "; whole" : " up to an error");
  out.text += TableText(table, 2);
  if (repeated_names_ > 0) {
    out.text +=
        fmt::format("  {} more than once, {}'{}'; each time it is read as a member of its own\n",
                    CountText(repeated_names_, "name comes", "names come"),
                    repeated_names_ > 1 ? "the first is " : "", Printable(first_repeated_));
  }
}

}  // namespace stoker
