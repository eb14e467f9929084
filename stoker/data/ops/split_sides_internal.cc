#include "stoker/data/ops/split_sides_internal.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "stoker/base/log.h"
#include "stoker/base/problems.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/core/value_hash.h"
#include "stoker/data/ops/split.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

constexpr size_t kMostClasses = 65536;
constexpr size_t kNamedClasses = 3;  // in messages

// What a class is called in messages.
std::string NameOfClass(const Array& value) {
  constexpr size_t kLongest = 40;
  if (value.dtype() == DType::kUInt8 && value.shape().size() == 1) {
    const std::string text(reinterpret_cast<const char*>(value.data()), value.num_bytes());
    return fmt::format("'{}'", text.size() > kLongest ? text.substr(0, kLongest) + "..." : text);
  }
  double number = 0;
  if (value.num_values() > 0)
    CastValues(value.dtype(), value.data(), 1, DType::kFloat64,
               reinterpret_cast<std::byte*>(&number));
  return fmt::format("{}", number);
}

// Counts the samples of each class, or the keys if samples have some.
class Classes {
 public:
  explicit Classes(const SplitRule& rule) : rule_(rule) {}

  // Returns the side of the next sample, or key, of the class `value`.
  Result<bool> Next(const Array& value) {
    const uint64_t hash = HashValues(value, 0);
    const auto [found, added] = counts_.try_emplace(hash);
    Count& count = found->second;
    if (added) count.name = NameOfClass(value);
    if (counts_.size() > kMostClasses) {
      return InvalidArgument(
          "it has more than {} different values; stratify is for a field of classes", kMostClasses);
    }
    const bool eval = rule_.IsEvalNumber(hash, count.all++);
    count.evals += eval ? 1 : 0;
    return eval;
  }

  // Returns an error for classes that training does not get, and warns of those that evaluation
  // does not get.
  Status Check(std::string_view field) const {
    const std::vector<const Count*> untrained =
        Find([](const Count& count) { return count.evals == count.all; });
    if (!untrained.empty()) {
      return InvalidArgument(
          "split: of {} all samples are for evaluation in this fold, so nothing is learned of "
          "them: "
          "{}; leave them out by `filter`, or take fewer folds",
          Some(untrained.size(), field), NamesOf(untrained));
    }
    const std::vector<const Count*> unmeasured =
        Find([](const Count& count) { return count.evals == 0; });
    if (!unmeasured.empty()) {
      LogWarning("split: evaluation gets no sample of {}: {}; a class needs about {} samples",
                 Some(unmeasured.size(), field), NamesOf(unmeasured), std::ceil(1 / rule_.share()));
    }
    return OkStatus();
  }

 private:
  struct Count {
    int64_t all = 0, evals = 0;
    std::string name;
  };

  template <typename Which>
  std::vector<const Count*> Find(const Which& which) const {
    std::vector<const Count*> found;
    for (const auto& [hash, count] : counts_) {
      if (which(count)) found.push_back(&count);
    }
    std::ranges::sort(found, {}, &Count::name);  // the order of the map is not that of the data
    return found;
  }

  // "2 of 5 classes of 'cut'"
  std::string Some(size_t some, std::string_view field) const {
    return fmt::format("{} of {} classes of '{}'", some, counts_.size(), field);
  }

  static std::string NamesOf(const std::vector<const Count*>& classes) {
    std::string names;
    for (size_t i = 0; i < std::min(classes.size(), kNamedClasses); ++i)
      names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", classes[i]->name, classes[i]->all);
    return names + (classes.size() > kNamedClasses ? ", ..." : "");
  }

  const SplitRule rule_;
  std::unordered_map<uint64_t, Count> counts_;
};

// Says of each element in order which side it is on.
class SideFinder {
 public:
  SideFinder(const SplitFields& fields, const SplitRule& rule)
      : fields_(fields), rule_(rule), classes_(rule) {}

  Result<bool> Next(const Element& element) {
    if (!fields_.class_of) return rule_.IsEvalKey(HashOfKey(element, fields_));
    const Array& value = element.arrays[*fields_.class_of];
    if (fields_.key.empty()) return classes_.Next(value);
    // A key is counted in the class of its first sample.
    const uint64_t key = HashOfKey(element, fields_);
    if (const auto known = sides_.find(key); known != sides_.end()) return known->second;
    STOKER_ASSIGN_OR_RETURN(const bool eval, classes_.Next(value));
    sides_.emplace(key, eval);
    return eval;
  }

  const Classes& classes() const { return classes_; }

 private:
  const SplitFields fields_;
  const SplitRule rule_;
  Classes classes_;
  std::unordered_map<uint64_t, bool> sides_;  // by key, where there are classes
};

Status FillByNumber(int64_t size, const SplitRule& rule, PositionSet& evals) {
  for (int64_t i = 0; i < size; ++i) {
    if (i % 4096 == 0 && StopScope::AskedNowAndThen())
      return Cancelled("split: was asked to stop while it was made");
    evals.Add(rule.IsEvalNumber(/*stratum=*/0, i));
  }
  return OkStatus();
}

Status FillByFields(const Dataset& input, const Split& options, const SplitFields& fields,
                    const SplitRule& rule, PositionSet& evals) {
  SideFinder finder(fields, rule);
  const auto choose = [&](const Element& element) -> Result<bool> {
    Result<bool> eval = finder.Next(element);
    if (eval.ok()) return eval;
    return WithPrefix(fmt::format("split: stratify is '{}': ", options.stratify), eval.status());
  };
  STOKER_RETURN_IF_ERROR(ReadAndChoose(Split::kName, input, choose, evals));
  return finder.classes().Check(options.stratify);
}

// All options but the side, which is no matter of where the samples are.
std::string TextOfOptions(Split options) {
  options.side.clear();
  return ToYamlLine(FormatOptions(OptionsOf<Split>(), &options));
}

}  // namespace

uint64_t HashOfKey(const Element& element, const SplitFields& fields) {
  uint64_t hash = 0;
  for (const size_t field : fields.key) hash = HashValues(element.arrays[field], hash);
  return hash;
}

Result<std::shared_ptr<const ChosenPositions>> FindSides(const Dataset& input, const Split& options,
                                                         const SplitFields& fields,
                                                         const SplitRule& rule) {
  return FindPositions(input, TextOfOptions(options), [&](PositionSet& evals) {
    if (fields.key.empty() && !fields.class_of)
      return FillByNumber(input.cardinality().value(), rule, evals);
    return FillByFields(input, options, fields, rule, evals);
  });
}

}  // namespace stoker
