#include "stoker/data/ops/unique.h"

#include <fmt/ranges.h>

#include <span>
#include <unordered_set>
#include <utility>

#include "stoker/data/core/field_option.h"
#include "stoker/data/core/value_hash.h"
#include "stoker/data/ops/chosen_positions_internal.h"

namespace stoker {
namespace {

// Two hashes of the values of an element.
struct Fingerprint128 {
  int64_t first = 0, second = 0;
  bool operator==(const Fingerprint128&) const = default;
};

struct TakeFirst {
  size_t operator()(const Fingerprint128& fingerprint) const {
    return static_cast<size_t>(fingerprint.first);
  }
};

void HashFields(const Element& element, const std::vector<size_t>& fields,
                std::span<int64_t> hashes) {
  for (size_t i = 0; i < hashes.size(); ++i) {
    uint64_t hash = i;
    for (const size_t field : fields) hash = HashValues(element.arrays[field], hash);
    hashes[i] = static_cast<int64_t>(hash);
  }
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
  const auto hash = [&](const Element& element, std::span<int64_t> hashes) {
    HashFields(element, fields, hashes);
  };
  const auto is_first = [&](std::span<const int64_t> hashes, int64_t) -> Result<bool> {
    return seen.insert({hashes[0], hashes[1]}).second;
  };
  const std::string options = ToYamlLine(FormatOptions(OptionsOf<Unique>(), this));
  STOKER_ASSIGN_OR_RETURN(
      auto firsts, FindPositions(input, "unique: " + options, [&](PositionSet& set) {
        return ReadAndChoose(std::string(kName), input, /*count=*/2, hash, is_first, set);
      }));
  const std::string details = by.empty() ? "all fields" : fmt::format("by {}", fmt::join(by, ", "));
  return AtPositions(std::move(input), std::string(kName), details, std::move(firsts),
                     /*member=*/true);
}

}  // namespace stoker
