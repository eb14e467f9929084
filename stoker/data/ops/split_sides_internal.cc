#include "stoker/data/ops/split_sides_internal.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
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

  // Returns the side of the next sample, or key, of the class with this hash, which is that of
  // element `position`.
  Result<bool> Next(uint64_t hash, int64_t position) {
    const auto [found, added] = counts_.try_emplace(hash);
    Count& count = found->second;
    if (added) count.first = position;
    if (counts_.size() > kMostClasses) {
      return InvalidArgument(
          "it has more than {} different values; stratify is for a field of classes", kMostClasses);
    }
    const bool eval = rule_.IsEvalNumber(hash, count.all++);
    count.evals += eval ? 1 : 0;
    return eval;
  }

  // Returns an error for classes that training does not get, and warns of those that evaluation
  // does not get. `input` has the elements, and their classes in this field.
  Status Check(const Dataset& input, size_t field) const {
    const std::vector<Count> untrained =
        Find([](const Count& count) { return count.evals == count.all; });
    if (!untrained.empty()) {
      STOKER_ASSIGN_OR_RETURN(const std::string names, NamesOf(untrained, input, field));
      return InvalidArgument(
          "split: of {} all samples are for evaluation in this fold, so nothing is learned of "
          "them: {}; leave them out by `filter`, or take fewer folds",
          Some(untrained.size(), input, field), names);
    }
    const std::vector<Count> unmeasured = Find([](const Count& count) { return count.evals == 0; });
    if (!unmeasured.empty()) {
      STOKER_ASSIGN_OR_RETURN(const std::string names, NamesOf(unmeasured, input, field));
      LogWarning("split: evaluation gets no sample of {}: {}; a class needs about {} samples",
                 Some(unmeasured.size(), input, field), names, std::ceil(1 / rule_.share()));
    }
    return OkStatus();
  }

 private:
  struct Count {
    int64_t all = 0, evals = 0;
    int64_t first = 0;  // position of its first element
  };

  // In the order of the data.
  template <typename Which>
  std::vector<Count> Find(const Which& which) const {
    std::vector<Count> found;
    for (const auto& [hash, count] : counts_) {
      if (which(count)) found.push_back(count);
    }
    std::ranges::sort(found, {}, &Count::first);
    return found;
  }

  // "2 of 5 classes of 'cut'"
  std::string Some(size_t some, const Dataset& input, size_t field) const {
    return fmt::format("{} of {} classes of '{}'", some, counts_.size(),
                       input.spec().fields[field].name);
  }

  static Result<std::string> NamesOf(const std::vector<Count>& classes, const Dataset& input,
                                     size_t field) {
    std::string names;
    for (size_t i = 0; i < std::min(classes.size(), kNamedClasses); ++i) {
      STOKER_ASSIGN_OR_RETURN(const Element element, ElementAt(input, classes[i].first));
      names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", NameOfClass(element.arrays[field]),
                           classes[i].all);
    }
    return names + (classes.size() > kNamedClasses ? ", ..." : "");
  }

  const SplitRule rule_;
  std::unordered_map<uint64_t, Count> counts_;
};

// Says of each element in order which side it is on. Its hashes are those of its key, if there is
// one, and of its class, if there is one.
class SideFinder {
 public:
  SideFinder(const SplitFields& fields, const SplitRule& rule)
      : has_key_(!fields.key.empty()),
        has_class_(fields.class_of.has_value()),
        rule_(rule),
        classes_(rule) {}

  Result<bool> Next(std::span<const int64_t> hashes, int64_t position) {
    const auto key = static_cast<uint64_t>(hashes.front());
    if (!has_class_) return rule_.IsEvalKey(key);
    const auto class_of = static_cast<uint64_t>(hashes.back());
    if (!has_key_) return classes_.Next(class_of, position);
    // A key is counted in the class of its first sample.
    if (const auto known = sides_.find(key); known != sides_.end()) return known->second;
    STOKER_ASSIGN_OR_RETURN(const bool eval, classes_.Next(class_of, position));
    sides_.emplace(key, eval);
    return eval;
  }

  const Classes& classes() const { return classes_; }

 private:
  const bool has_key_, has_class_;
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
  const bool has_key = !fields.key.empty();
  const auto hash = [&](const Element& element, std::span<int64_t> hashes) {
    if (has_key) hashes.front() = static_cast<int64_t>(HashOfKey(element, fields));
    if (fields.class_of)
      hashes.back() = static_cast<int64_t>(HashValues(element.arrays[*fields.class_of], 0));
  };
  SideFinder finder(fields, rule);
  const auto choose = [&](std::span<const int64_t> hashes, int64_t position) -> Result<bool> {
    Result<bool> eval = finder.Next(hashes, position);
    if (eval.ok()) return eval;
    return WithPrefix(fmt::format("split: stratify is '{}': ", options.stratify), eval.status());
  };
  const int64_t count = has_key && fields.class_of ? 2 : 1;
  STOKER_RETURN_IF_ERROR(
      ReadAndChoose(std::string(Split::kName), input, count, hash, choose, evals));
  return fields.class_of ? finder.classes().Check(input, *fields.class_of) : OkStatus();
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
