#include "stoker/data/learn/learned.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/json_text.h"
#include "stoker/io/kept_file.h"
#include "stoker/io/sha256.h"

namespace stoker {
namespace {

constexpr int64_t kSchema = 1;

Json JsonOf(const LearnedValue& value) {
  return {{"stage", value.stage},
          {"field", value.field},
          {"which", value.which},
          {"options", value.options},
          {"facts", value.facts}};
}

Json ValuesOf(const Learned& learned) {
  Json values = Json::array();
  for (const LearnedValue& value : learned.values) values.push_back(JsonOf(value));
  return values;
}

// Keys are sorted and numbers are the shortest that read the same, so equal values have equal text.
std::string SumOf(const Json& json) { return "sha256:" + HexOf(Sha256(DumpJson(json))); }

std::string SumOf(const Json& from, const Json& values) {
  return SumOf({{"from", from}, {"values", values}});
}

// Options are lists of numbers or of texts.
bool IsList(const Json& option) {
  const auto all = [&](auto is) { return std::ranges::all_of(option, is); };
  return option.is_array() && (all([](const Json& one) { return one.is_number(); }) ||
                               all([](const Json& one) { return one.is_string(); }));
}

bool IsValue(const Json& json) {
  return json.is_object() && json.value("stage", Json()).is_string() &&
         json.value("field", Json()).is_string() &&
         json.value("which", Json()).is_number_integer() &&
         json.value("options", Json()).is_object() && json.contains("facts") &&
         std::ranges::all_of(json["options"], IsList);
}

// The first difference of two lists; empty if there is none.
std::string DifferenceOfLists(const std::string& option, const Json& before, const Json& now) {
  if (before == now) return {};
  if (before.size() != now.size()) {
    return fmt::format("{} has {} values, it had {}", option, now.size(), before.size());
  }
  size_t i = 0;
  while (i + 1 < now.size() && before[i] == now[i]) ++i;
  return fmt::format("{}[{}] is {}, it was {}", option, i, DumpJson(now[i]), DumpJson(before[i]));
}

std::string DifferenceOf(const LearnedValue& before, const LearnedValue& now) {
  for (const auto& [option, value] : now.options.items()) {
    std::string difference =
        DifferenceOfLists(option, before.options.value(option, Json::array()), value);
    if (!difference.empty()) return difference;
  }
  return before.options == now.options ? std::string() : "it has other options";
}

}  // namespace

std::string LearnedValue::Name() const {
  const std::string name = fmt::format("{} of {}", stage, field);
  return which == 1 ? name : fmt::format("{} ({})", name, which);
}

const LearnedValue* Learned::Find(std::string_view stage, std::string_view field,
                                  int64_t which) const {
  const auto found = std::ranges::find_if(values, [&](const LearnedValue& value) {
    return value.stage == stage && value.field == field && value.which == which;
  });
  return found == values.end() ? nullptr : &*found;
}

std::string Learned::Checksum() const { return SumOf(from, ValuesOf(*this)); }

std::string Learned::ChecksumOfValues() const {
  Json computed = Json::array();
  for (const LearnedValue& value : values) {
    computed.push_back(JsonOf(value));
    computed.back().erase("facts");
  }
  return SumOf(computed);
}

Json Learned::ToJson() const {
  return {
      {"schema", kSchema}, {"checksum", Checksum()}, {"from", from}, {"values", ValuesOf(*this)}};
}

Result<Learned> Learned::FromJson(const Json& json) {
  if (!json.is_object() || !json.value("schema", Json()).is_number_integer())
    return DataLoss("this is not what stages have learned: there is no `schema`");
  if (const auto schema = json["schema"].get<int64_t>(); schema != kSchema) {
    return Unimplemented("it has schema {}, and this version reads {}; use the newer one", schema,
                         kSchema);
  }
  const Json from = json.value("from", Json()), values = json.value("values", Json());
  if (!from.is_object() || !values.is_array() || !std::ranges::all_of(values, IsValue))
    return DataLoss("`from` or `values` is missing or damaged");
  const std::string sum = SumOf(from, values);
  if (const Json stored = json.value("checksum", Json()); stored != sum) {
    return DataLoss("its checksum is {}, but it says {}: it was changed after it was written", sum,
                    DumpJson(stored));
  }
  Learned learned{.from = from};
  for (const Json& value : values) {
    learned.values.push_back({.stage = value["stage"].get<std::string>(),
                              .field = value["field"].get<std::string>(),
                              .which = value["which"].get<int64_t>(),
                              .options = value["options"],
                              .facts = value["facts"]});
  }
  return learned;
}

Result<std::shared_ptr<const Learned>> ReadLearned(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadKeptTextFile(path));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return DataLoss("{}: is no valid JSON; put back the learned.json of a run", path);
  Result<Learned> learned = Learned::FromJson(json);
  if (!learned.ok())
    return Status(learned.status().code(), fmt::format("{}: {}", path, learned.status().message()));
  return std::make_shared<const Learned>(*std::move(learned));
}

std::vector<std::string> DifferencesOfLearned(const Learned& before, const Learned& now,
                                              size_t most) {
  std::vector<std::string> differences;
  for (const LearnedValue& value : now.values) {
    const LearnedValue* const was = before.Find(value.stage, value.field, value.which);
    const std::string difference =
        was == nullptr ? "it was not learned then" : DifferenceOf(*was, value);
    if (!difference.empty()) differences.push_back(fmt::format("{}: {}", value.Name(), difference));
  }
  for (const LearnedValue& value : before.values) {
    if (now.Find(value.stage, value.field, value.which) == nullptr)
      differences.push_back(fmt::format("{}: it is not learned now", value.Name()));
  }
  if (differences.size() > most) {
    const size_t more = differences.size() - most;
    differences.resize(most);
    differences.push_back(fmt::format("and {} more", more));
  }
  return differences;
}

}  // namespace stoker
