#include "stoker/data/ops/unique.h"

#include <fmt/ranges.h>

#include <unordered_set>
#include <utility>

#include "stoker/data/core/field_option.h"
#include "stoker/data/core/value_hash.h"
#include "stoker/data/ops/chosen_positions_internal.h"

namespace stoker {
namespace {

// Two hashes of the values of an element.
struct Fingerprint128 {
  uint64_t first = 0, second = 1;
  bool operator==(const Fingerprint128&) const = default;
};

struct TakeFirst {
  size_t operator()(const Fingerprint128& fingerprint) const { return fingerprint.first; }
};

Fingerprint128 FingerprintOf(const Element& element, const std::vector<size_t>& fields) {
  Fingerprint128 fingerprint;
  for (const size_t field : fields) {
    fingerprint.first = HashValues(element.arrays[field], fingerprint.first);
    fingerprint.second = HashValues(element.arrays[field], fingerprint.second);
  }
  return fingerprint;
}

Result<std::vector<size_t>> ComparedFields(const std::vector<std::string>& names,
                                           const Spec& spec) {
  std::vector<size_t> fields;
  for (const std::string& name : names) {
    STOKER_ASSIGN_OR_RETURN(const size_t field, IndexOfOption(spec, Unique::kName, "by", name));
    fields.push_back(field);
  }
  for (size_t i = 0; names.empty() && i < spec.fields.size(); ++i) fields.push_back(i);
  return fields;
}

}  // namespace

void Unique::Describe(OptionTable<Unique>& table) {
  table.Field("by", &Unique::by, "fields that are compared; empty: all");
}

Result<Dataset> Unique::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const std::vector<size_t> fields, ComparedFields(by, input.spec()));
  if (!HasFixedPositions(input)) {
    return InvalidArgument(
        "unique: the elements of '{}' {}, and which of them are the first of their kind is found "
        "once for all passes; put unique directly after a source that is readable by position",
        input.node().name(),
        !input.node().random_access()    ? "can only be read in order"
        : input.cardinality().infinite() ? "have no end"
                                         : "do not stand in the same order in every pass");
  }
  std::unordered_set<Fingerprint128, TakeFirst> seen;
  const auto is_first = [&](const Element& element) -> Result<bool> {
    return seen.insert(FingerprintOf(element, fields)).second;
  };
  const std::string options = ToYamlLine(FormatOptions(OptionsOf<Unique>(), this));
  STOKER_ASSIGN_OR_RETURN(auto firsts,
                          FindPositions(input, "unique: " + options, [&](PositionSet& set) {
                            return ReadAndChoose(kName, input, is_first, set);
                          }));
  const std::string details = by.empty() ? "all fields" : fmt::format("by {}", fmt::join(by, ", "));
  return AtPositions(std::move(input), std::string(kName), details, std::move(firsts),
                     /*member=*/true);
}

}  // namespace stoker
