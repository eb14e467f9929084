#include "stoker/data/options/feature_kinds_internal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "stoker/base/foreign_names.h"
#include "stoker/base/problems.h"
#include "stoker/data/core/feature_layout.h"

namespace stoker::internal {
namespace {

constexpr const char* kOfHelp = "the column; empty: the one called as the feature";
constexpr const char* kEmbeddingHelp =
    "how many values the vector of a category has; auto: none, an input for each category";
constexpr const char* kPartHelp = "which part of wide_and_deep gets it";

OneOf Parts() { return {{"both", "wide", "deep"}}; }

// `auto` stands for a list that is learned.
ConfigNode WithoutAuto(ConfigNode options, std::string_view key) {
  const auto is_auto = [](const ConfigNode& value) {
    return value.kind == ConfigNode::Kind::kScalar && !value.quoted && value.scalar == kAuto;
  };
  if (is_auto(options)) return {};
  std::erase_if(options.entries, [&](const ConfigNode::Entry& entry) {
    return entry.key == key && is_auto(entry.value);
  });
  return options;
}

std::vector<std::string> KindNames() {
  return {std::string(NumericFeature::kName), std::string(BucketizedFeature::kName),
          std::string(CategoricalFeature::kName), std::string(CrossedFeature::kName),
          std::string(DroppedColumn::kName)};
}

template <typename F>
Status ReadKind(const ConfigNode& options, const std::string& name, AnyFeature& what) {
  F feature;
  STOKER_RETURN_IF_ERROR(
      ParseOptions(OptionsOf<F>(), fmt::format("data.features.{}", name), options, &feature));
  what = std::move(feature);
  return OkStatus();
}

// A list that is written but empty would be taken for one that is learned.
Status CheckNotEmpty(const ConfigNode& options, const char* key, const Feature& entry) {
  const ConfigNode* const list = options.Find(key);
  if (list == nullptr || list->kind != ConfigNode::Kind::kList || !list->items.empty())
    return OkStatus();
  return InvalidArgument(
      "{}: data.features.{}: {} is an empty list; fill it, or leave it out: then it is learned",
      list->location.ToString(), entry.name, key);
}

// An empty separator would be taken for none.
Status CheckSeparator(const ConfigNode& options, const Feature& entry) {
  const ConfigNode* const separator = options.Find("separator");
  if (separator == nullptr || separator->kind != ConfigNode::Kind::kScalar ||
      !separator->scalar.empty()) {
    return OkStatus();
  }
  return InvalidArgument(
      "{}: data.features.{}: separator is empty; say what stands between the words of a text, such "
      "as \"|\", or leave it out",
      separator->location.ToString(), entry.name);
}

// How many quantiles there are says nothing where bounds are given.
Status CheckLearnsQuantiles(const ConfigNode& options, const Feature& entry) {
  const ConfigNode* const bounds = options.Find("bounds");
  const ConfigNode* const quantiles = options.Find("quantiles");
  if (quantiles == nullptr || bounds == nullptr || bounds->scalar == kAuto) return OkStatus();
  return InvalidArgument(
      "{}: data.features.{}: quantiles are learned where bounds are not given; leave one of the "
      "two out",
      quantiles->location.ToString(), entry.name);
}

Status CheckCategorical(const CategoricalFeature& feature, const Feature& entry) {
  const int ways = (feature.vocabulary.empty() ? 0 : 1) + (feature.file.empty() ? 0 : 1) +
                   (feature.hash ? 1 : 0) + (feature.integers ? 1 : 0);
  if (ways > 1) {
    return InvalidArgument(
        "{}: data.features.{}: vocabulary, file, hash and integers are four ways to number its "
        "values; give one",
        entry.at.ToString(), entry.name);
  }
  if (!feature.learns() && (feature.limit || feature.min_count != CategoricalFeature().min_count)) {
    return InvalidArgument(
        "{}: data.features.{}: limit and min_count are for words that are learned, with "
        "`vocabulary: auto`",
        entry.at.ToString(), entry.name);
  }
  if (!feature.separator.empty() && feature.integers) {
    return InvalidArgument(
        "{}: data.features.{}: a separator stands in texts, and `integers` takes numbers as they "
        "are; number the words by a vocabulary or by `hash`",
        entry.at.ToString(), entry.name);
  }
  if (!feature.most && (!feature.separator.empty() || feature.longer != kError)) {
    return InvalidArgument(
        "{}: data.features.{}: `most` is missing: it says how many values a list may have, such as "
        "{{categorical: {{separator: \"|\", most: 8}}}}",
        entry.at.ToString(), entry.name);
  }
  if (!feature.shared.empty() && feature.learns()) {
    return InvalidArgument(
        "{}: data.features.{}: its words are learned, so they have other numbers than those of the "
        "features that share '{}'; give all of them the same vocabulary, file, hash or integers",
        entry.at.ToString(), entry.name, feature.shared);
  }
  return OkStatus();
}

Status CheckNumeric(const NumericFeature& feature, const Feature& entry) {
  if (feature.quantiles && feature.indicator) {
    return InvalidArgument(
        "{}: data.features.{}: with quantiles a missing number has a place like others, so an "
        "indicator does not see it; leave one of the two out",
        entry.at.ToString(), entry.name);
  }
  if (feature.missing == kMean && !feature.normalizes()) {
    return InvalidArgument(
        "{}: data.features.{}: without normalizing the mean is not known; leave `missing` out and "
        "give missing numbers a value in the source, such as csv: {{fields: {{{}: {{default: "
        "0}}}}}}",
        entry.at.ToString(), entry.name, entry.name);
  }
  return OkStatus();
}

// Features with the same vectors number their values alike.
Status CheckShared(const std::vector<Feature>& features) {
  for (const Feature& feature : features) {
    const auto* const mine = feature.As<CategoricalFeature>();
    if (mine == nullptr || mine->shared.empty()) continue;
    for (const Feature& other : features) {
      const auto* const theirs = other.As<CategoricalFeature>();
      if (theirs == nullptr || theirs->shared != mine->shared || mine->NumbersAs(*theirs)) continue;
      return InvalidArgument(
          "{}: data.features.{}: it shares '{}' with '{}', which numbers its values otherwise; "
          "give both the same vocabulary, file, hash or integers",
          feature.at.ToString(), feature.name, mine->shared, other.name);
    }
  }
  return OkStatus();
}

// Fills in `what`, by the name of its kind.
Status ReadKindNamed(const std::string& kind, const ConfigNode& options, Feature& feature) {
  const std::string& name = feature.name;
  if (kind == NumericFeature::kName) return ReadKind<NumericFeature>(options, name, feature.what);
  if (kind == BucketizedFeature::kName) {
    STOKER_RETURN_IF_ERROR(CheckNotEmpty(options, "bounds", feature));
    STOKER_RETURN_IF_ERROR(CheckLearnsQuantiles(options, feature));
    return ReadKind<BucketizedFeature>(WithoutAuto(options, "bounds"), name, feature.what);
  }
  if (kind == CategoricalFeature::kName) {
    STOKER_RETURN_IF_ERROR(CheckNotEmpty(options, "vocabulary", feature));
    STOKER_RETURN_IF_ERROR(CheckSeparator(options, feature));
    return ReadKind<CategoricalFeature>(WithoutAuto(options, "vocabulary"), name, feature.what);
  }
  if (kind == CrossedFeature::kName) return ReadKind<CrossedFeature>(options, name, feature.what);
  if (kind == DroppedColumn::kName && options.kind == ConfigNode::Kind::kNull) return OkStatus();
  if (kind == DroppedColumn::kName) {
    return InvalidArgument("{}: data.features.{}: `drop` has no options; write `{}: drop`",
                           options.location.ToString(), name, name);
  }
  return InvalidArgument("{}: data.features.{}: there is no kind '{}'; {}",
                         options.location.ToString(), name, kind,
                         RecipeNameAdvice(kind, KindNames()));
}

Result<Feature> ReadFeature(const ConfigNode::Entry& entry) {
  Feature feature{.name = entry.key, .at = entry.key_location, .what = DroppedColumn{}};
  const ConfigNode& value = entry.value;
  const bool named = value.kind == ConfigNode::Kind::kScalar;
  const bool with_options = value.kind == ConfigNode::Kind::kMap && value.entries.size() == 1;
  if (!named && !with_options) {
    return InvalidArgument(
        "{}: data.features.{} is {}; it is a kind, {}, alone or with options, such as {{numeric: "
        "{{quantiles: 64}}}}",
        feature.at.ToString(), feature.name, value.KindName(), fmt::join(KindNames(), ", "));
  }
  ConfigNode options = named ? ConfigNode() : value.entries.front().value;
  if (options.location.line == 0) options.location = value.location;
  STOKER_RETURN_IF_ERROR(
      ReadKindNamed(named ? value.scalar : value.entries.front().key, options, feature));
  if (const auto* const categorical = feature.As<CategoricalFeature>())
    STOKER_RETURN_IF_ERROR(CheckCategorical(*categorical, feature));
  if (const auto* const numeric = feature.As<NumericFeature>())
    STOKER_RETURN_IF_ERROR(CheckNumeric(*numeric, feature));
  return feature;
}

}  // namespace

void NumericFeature::Describe(OptionTable<NumericFeature>& table) {
  using F = NumericFeature;
  table
      .Field("normalize", &F::normalize,
             "auto: by the mean and deviation of the training data; off: as it is",
             OneOf{{std::string(kAuto), "off"}})
      .Field("of", &F::of, kOfHelp)
      .Field("quantiles", &F::quantiles,
             "replaces the number by its quantile, of so many, before it is normalized", AtLeast(2))
      .Field("missing", &F::missing,
             "what becomes of a missing number (NaN); auto: the mean, or where numbers are not "
             "normalized an error",
             OneOf{{std::string(kAuto), std::string(kMean), std::string(kError)}})
      .Field("indicator", &F::indicator, "whether another number says if it is missing")
      .Field("clip", &F::clip, "the greatest size after normalizing; auto: any", MoreThan(0))
      .Field("part", &F::part, kPartHelp, Parts());
}

void BucketizedFeature::Describe(OptionTable<BucketizedFeature>& table) {
  using F = BucketizedFeature;
  table
      .Field("bounds", &F::bounds,
             "where ranges begin, rising; auto: the quantiles of the training data")
      .Field("of", &F::of, kOfHelp)
      .Field("quantiles", &F::quantiles, "how many ranges of equal counts are learned", AtLeast(2))
      .Field("embedding", &F::embedding, kEmbeddingHelp, AtLeast(1))
      .Field("part", &F::part, kPartHelp, Parts());
}

void CategoricalFeature::Describe(OptionTable<CategoricalFeature>& table) {
  using F = CategoricalFeature;
  table
      .Field("vocabulary", &F::vocabulary,
             "its words; auto: those of the training data, the most frequent first")
      .Field("of", &F::of, kOfHelp)
      .Field("file", &F::file, "in place of a vocabulary: a file of one word a line")
      .Field("hash", &F::hash, "in place of a vocabulary: how many categories words are hashed to",
             AtLeast(1))
      .Field("integers", &F::integers,
             "in place of a vocabulary: the column holds whole numbers from 0 to below this",
             AtLeast(1))
      .Field("limit", &F::limit, "the most words that are learned; auto: all", AtLeast(1))
      .Field("min_count", &F::min_count, "how often a word must be there to be learned", AtLeast(1))
      .Field("embedding", &F::embedding, kEmbeddingHelp, AtLeast(1))
      .Field("shared", &F::shared, "features of one such name have the same vectors")
      .Field("combine", &F::combine, "what becomes of the vectors of a list",
             OneOf{{std::string(kMean), "sum", "sqrtn"}})
      .Field("separator", &F::separator,
             "what stands between the words of a text that is a list, such as \"|\"")
      .Field("most", &F::most, "the most values of a list whose length differs",
             Between(1, static_cast<double>(kMostOfAList)))
      .Field("longer", &F::longer,
             "a list with more values than that: an error, or the rest is left out",
             OneOf{{std::string(kError), "cut"}})
      .Field("part", &F::part, kPartHelp, Parts());
}

void CrossedFeature::Describe(OptionTable<CrossedFeature>& table) {
  using F = CrossedFeature;
  OneOf parts = Parts();
  parts.choices.insert(parts.choices.begin(), std::string(kAuto));
  table.Field("of", &F::of, "two columns or more, or features that are categories")
      .Required()
      .Field("buckets", &F::buckets, "how many categories combinations are hashed to", AtLeast(1))
      .Field("embedding", &F::embedding, kEmbeddingHelp, AtLeast(1))
      .Field("part", &F::part,
             "which part of wide_and_deep gets it; auto: wide, or with an embedding both", parts);
}

std::string Feature::Column() const {
  return std::visit(
      [&](const auto& feature) -> std::string {
        if constexpr (requires { std::string(feature.of); }) {
          return feature.of.empty() ? name : feature.of;
        }
        return "";
      },
      what);
}

Result<std::vector<Feature>> ReadFeatures(const ConfigNode& section) {
  if (section.kind != ConfigNode::Kind::kMap || section.entries.empty()) {
    return InvalidArgument(
        "{}: data.features is {}; it says what each column is to the model, such as {{carat: "
        "numeric, cut: categorical}}",
        section.location.ToString(),
        section.kind == ConfigNode::Kind::kMap ? "empty" : section.KindName());
  }
  std::vector<Feature> features;
  Problems problems;
  for (const ConfigNode::Entry& entry : section.entries) {
    // --set data.features.size=null takes a feature out; in a file its kind was forgotten.
    if (entry.value.kind == ConfigNode::Kind::kNull && entry.value.location.line == 0) continue;
    Result<Feature> feature = ReadFeature(entry);
    problems.Add(feature.status());
    if (feature.ok()) features.push_back(*std::move(feature));
  }
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  STOKER_RETURN_IF_ERROR(CheckShared(features));
  return features;
}

}  // namespace stoker::internal
