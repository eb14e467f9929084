#include "stoker/data/ops/split.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "stoker/data/core/field_option.h"
#include "stoker/data/ops/chosen_positions_internal.h"
#include "stoker/data/ops/filter_by_internal.h"
#include "stoker/data/ops/split_rule_internal.h"
#include "stoker/data/ops/split_sides_internal.h"

namespace stoker {
namespace {

constexpr std::string_view kEval = "eval";

// Reads "2/5".
Result<SplitRule> RuleOfFold(const Split& options) {
  int64_t fold = 0, folds = 0;
  const std::string& text = options.fold;
  const char* const end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, fold);
  bool read = error == std::errc() && slash != end && *slash == '/';
  if (read) {
    const auto [last, second] = std::from_chars(slash + 1, end, folds);
    read = second == std::errc() && last == end;
  }
  if (!read || folds < 2 || fold < 1 || fold > folds) {
    return InvalidArgument(
        "split: fold is '{}'; it is k/n, the k-th of n folds, such as 1/5, with k from 1 to n and "
        "n 2 or more",
        text);
  }
  return SplitRule::Fold(fold, folds, static_cast<uint64_t>(options.seed));
}

Result<SplitRule> RuleOf(const Split& options) {
  if (options.eval.has_value() == !options.fold.empty()) {
    return InvalidArgument(
        "split: {}; say what evaluation gets, a share as `eval: 0.2`, or one of several folds as "
        "`fold: 1/5`",
        options.eval ? "eval and fold are both given" : "neither eval nor fold is given");
  }
  if (!options.eval) return RuleOfFold(options);
  if (!(*options.eval > 0 && *options.eval < 1)) {
    return InvalidArgument(
        "split: eval is {}; it is the share of all samples that evaluation gets, more than 0 and "
        "less than 1{}",
        *options.eval, *options.eval > 1 ? "; for a number of samples use take and skip" : "");
  }
  return SplitRule::Share(*options.eval, static_cast<uint64_t>(options.seed));
}

Result<SplitFields> FindFields(const Split& options, const Spec& spec) {
  SplitFields fields;
  if (!options.by.empty() && !options.group.empty()) {
    return InvalidArgument(
        "split: by and group are both given; samples of a group stay together whatever else they "
        "hold, so leave `by` out");
  }
  for (const std::string& name : options.by) {
    STOKER_ASSIGN_OR_RETURN(const size_t field, IndexOfOption(spec, Split::kName, "by", name));
    fields.key.push_back(field);
  }
  if (!options.group.empty()) {
    STOKER_ASSIGN_OR_RETURN(const size_t field,
                            IndexOfOption(spec, Split::kName, "group", options.group));
    fields.key.push_back(field);
  }
  if (!options.stratify.empty()) {
    STOKER_ASSIGN_OR_RETURN(fields.class_of,
                            IndexOfOption(spec, Split::kName, "stratify", options.stratify));
    const Field& field = spec.fields[*fields.class_of];
    const bool is_text = field.dtype == DType::kUInt8 && field.shape.size() == 1;
    if (!is_text && (!IsFullyKnown(field.shape) || NumValues(field.shape) != 1)) {
      return InvalidArgument(
          "split: stratify is '{}', which has shape {}; a class is a number or a text: put split "
          "before batch and one_hot",
          options.stratify, ShapeToString(field.shape));
    }
  }
  return fields;
}

// Whether a key is the number of the same sample in every pass.
bool KeysNameSamples(const DatasetNode& node) {
  if (node.inputs().empty()) return true;
  if (node.key_origin() == KeyOrigin::kItself) return node.fixed_order();
  return std::ranges::all_of(node.inputs(),
                             [](const Dataset& input) { return KeysNameSamples(input.node()); });
}

// The last stage up to `node` that changes elements at random, in every pass otherwise; null if
// there is none.
const DatasetNode* FindRandomMap(const DatasetNode& node) {
  if (node.element_wise() != nullptr && node.random()) return &node;
  for (const Dataset& input : node.inputs()) {
    if (const DatasetNode* const found = FindRandomMap(input.node())) return found;
  }
  return nullptr;
}

// A sample whose key is drawn anew in every pass would change sides with it.
Status CheckKeysStay(const Dataset& input, const SplitFields& fields) {
  if (fields.key.empty() && !fields.class_of) return OkStatus();
  const DatasetNode* const random = FindRandomMap(input.node());
  if (random == nullptr) return OkStatus();
  return InvalidArgument(
      "split: the fields decide on which side a sample is, but '{}' before it changes samples at "
      "random, so that a sample may be trained on and evaluated; put split before '{}'",
      random->name(), random->name());
}

std::string DetailsOfSplit(const Split& options) {
  std::string text = options.side;
  text += options.eval ? fmt::format(", eval {}", *options.eval)
                       : fmt::format(", fold {}", options.fold);
  if (!options.by.empty()) text += fmt::format(", by {}", fmt::join(options.by, ", "));
  if (!options.group.empty()) text += ", group " + options.group;
  if (!options.stratify.empty()) text += ", stratify " + options.stratify;
  return text + fmt::format(", seed {}", options.seed);
}

// The sides as a condition on each element alone.
Result<Dataset> SplitInOrder(Dataset input, const Split& options, const SplitFields& fields,
                             const SplitRule& rule) {
  if (fields.class_of) {
    return InvalidArgument(
        "split: stratify counts classes once for all passes, but the elements of '{}' {}; put "
        "split directly after a source that is readable by position, or leave stratify out",
        input.node().name(),
        input.node().random_access() ? "do not stand in the same order in every pass"
                                     : "can only be read in order");
  }
  if (fields.key.empty() && !KeysNameSamples(input.node())) {
    return InvalidArgument(
        "split: the elements of '{}' have no number that is theirs in every pass; put split before "
        "it, or name the field that tells samples apart: `by: id`",
        input.node().name());
  }
  const bool wanted = options.side == kEval;
  return FilterBy(std::move(input), std::string(Split::kName), DetailsOfSplit(options),
                  [=](const Element& element) -> Result<bool> {
                    const bool eval = fields.key.empty()
                                          ? rule.IsEvalNumber(/*stratum=*/0, element.key.index)
                                          : rule.IsEvalKey(HashOfKey(element, fields));
                    return eval == wanted;
                  });
}

}  // namespace

void Split::Describe(OptionTable<Split>& table) {
  table
      .Field("eval", &Split::eval,
             "the share of the samples that evaluation gets, such as 0.2; or give fold")
      .Field("fold", &Split::fold, "k/n: evaluation gets the k-th of n parts, such as 1/5")
      .Field("by", &Split::by,
             "fields that tell samples apart, whose values decide; empty: its number decides")
      .Field("group", &Split::group,
             "field of the group of a sample, such as a customer: groups stay whole")
      .Field("stratify", &Split::stratify,
             "field of the class of a sample: each class is split in the same shares")
      .Field("seed", &Split::seed, "other seeds split otherwise; it is not the run's seed",
             Between(0, 0x1p53))
      .Field("side", &Split::side, "which side to keep", OneOf{{"train", "eval"}})
      .Required();
}

Result<Dataset> Split::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const SplitRule rule, RuleOf(*this));
  STOKER_ASSIGN_OR_RETURN(const SplitFields fields, FindFields(*this, input.spec()));
  STOKER_RETURN_IF_ERROR(CheckKeysStay(input, fields));
  if (!HasFixedPositions(input)) return SplitInOrder(std::move(input), *this, fields, rule);
  STOKER_ASSIGN_OR_RETURN(std::shared_ptr<const ChosenPositions> evals,
                          FindSides(input, *this, fields, rule));
  const bool eval_side = side == kEval;
  if (evals->set.Count(eval_side) == 0 && evals->set.size() > 0) {
    return InvalidArgument(
        "split: {} gets none of the {} samples; there are too few of them, or of their keys, for "
        "{}",
        eval_side ? "evaluation" : "training", evals->set.size(),
        eval ? fmt::format("a share of {}", *eval) : fmt::format("fold {}", fold));
  }
  return AtPositions(std::move(input), std::string(kName), DetailsOfSplit(*this), std::move(evals),
                     eval_side);
}

}  // namespace stoker
