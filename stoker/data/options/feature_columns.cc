#include "stoker/data/options/feature_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "stoker/base/options.h"
#include "stoker/base/problems.h"

namespace stoker {
namespace {

constexpr double kMostBuckets = 1 << 24;  // kMostCategories
constexpr double kMostQuantiles = 1 << 20;
constexpr double kWidest = 1 << 16;
constexpr std::string_view kAuto = "auto";
constexpr std::string_view kDrop = "drop";

OneOf Parts() { return {{"both", "wide", "deep"}}; }

// A number as it is, around zero.
struct NumericFeature {
  static constexpr std::string_view kName = "numeric";
  std::string of;
  std::string normalize{kAuto};
  std::optional<int64_t> quantiles;
  std::string missing = "mean";
  bool indicator = false;
  std::optional<double> clip;
  std::string part = "both";

  static void Describe(OptionTable<NumericFeature>& table) {
    using F = NumericFeature;
    table
        .Field("normalize", &F::normalize,
               "auto: with the mean and deviation of the training data; off: as it is",
               OneOf{{std::string(kAuto), "off"}})
        .Field("of", &F::of, "the column; empty: the one of the same name")
        .Field("quantiles", &F::quantiles,
               "takes the place of a number among the others, of so many, in its stead",
               Between(2, kMostQuantiles))
        .Field("missing", &F::missing, "what becomes of a missing number (NaN)",
               OneOf{{"mean", "error"}})
        .Field("indicator", &F::indicator, "whether another number says if it is missing")
        .Field("clip", &F::clip, "the greatest size after normalizing; auto: any", MoreThan(0))
        .Field("part", &F::part, "which part of wide_and_deep gets it", Parts());
  }
};

// A number as one of several ranges.
struct BucketizedFeature {
  static constexpr std::string_view kName = "bucketized";
  std::string of;
  std::vector<double> bounds;
  int64_t quantiles = 10;
  std::optional<int64_t> embedding;
  std::string part = "both";

  static void Describe(OptionTable<BucketizedFeature>& table) {
    using F = BucketizedFeature;
    table
        .Field("bounds", &F::bounds,
               "where ranges begin, rising; auto: the quantiles of the training data")
        .Field("of", &F::of, "the column; empty: the one of the same name")
        .Field("quantiles", &F::quantiles, "how many ranges of equal counts are learned",
               Between(2, kMostQuantiles))
        .Field("embedding", &F::embedding, "values of the vector of a range; auto: one of its own",
               Between(1, kWidest))
        .Field("part", &F::part, "which part of wide_and_deep gets it", Parts());
  }
};

// A word or a whole number as one of several categories.
struct CategoricalFeature {
  static constexpr std::string_view kName = "categorical";
  std::string of;
  std::vector<std::string> vocabulary;
  std::string file;
  std::optional<int64_t> hash, integers, limit;
  int64_t min_count = 1;
  std::optional<int64_t> embedding;
  std::string shared;
  std::string combine = "mean";
  std::string part = "both";

  static void Describe(OptionTable<CategoricalFeature>& table) {
    using F = CategoricalFeature;
    table
        .Field("vocabulary", &F::vocabulary,
               "its words; auto: those of the training data, the most frequent first")
        .Field("of", &F::of, "the column; empty: the one of the same name")
        .Field("file", &F::file, "instead, a file of one word a line")
        .Field("hash", &F::hash, "instead, how many categories words are hashed to",
               Between(1, kMostBuckets))
        .Field("integers", &F::integers, "instead, the column holds numbers from 0 to below this",
               Between(1, kMostBuckets))
        .Field("limit", &F::limit, "the most words that are learned; auto: all", AtLeast(1))
        .Field("min_count", &F::min_count, "how often a word must be there to be learned",
               AtLeast(1))
        .Field("embedding", &F::embedding,
               "values of the vector of a category; auto: one of its own", Between(1, kWidest))
        .Field("shared", &F::shared, "features of one such name have the same vectors")
        .Field("combine", &F::combine, "what becomes of the vectors of a list",
               OneOf{{"mean", "sum"}})
        .Field("part", &F::part, "which part of wide_and_deep gets it", Parts());
  }
};

// The combination of several columns or features as one category.
struct CrossedFeature {
  static constexpr std::string_view kName = "crossed";
  std::vector<std::string> of;
  int64_t buckets = 1000;
  std::optional<int64_t> embedding;
  std::string part = "auto";

  static void Describe(OptionTable<CrossedFeature>& table) {
    using F = CrossedFeature;
    table.Field("of", &F::of, "two columns or more, or features that are categories")
        .Required()
        .Field("buckets", &F::buckets, "how many categories combinations are hashed to",
               Between(1, kMostBuckets))
        .Field("embedding", &F::embedding,
               "values of the vector of a combination; auto: one of its own", Between(1, kWidest))
        .Field("part", &F::part,
               "which part of wide_and_deep gets it; auto: wide, or with an embedding both",
               OneOf{{"auto", "both", "wide", "deep"}});
  }
};

struct DroppedColumn {};

using AnyFeature = std::variant<NumericFeature, BucketizedFeature, CategoricalFeature,
                                CrossedFeature, DroppedColumn>;

// One entry of the section.
struct Feature {
  std::string name;
  ConfigLocation at;
  AnyFeature what;

  // The column that it is made of; empty for a crossed one, which has several.
  std::string Column() const {
    return std::visit(
        [&](const auto& feature) -> std::string {
          if constexpr (requires { std::string(feature.of); }) {
            return feature.of.empty() ? name : feature.of;
          }
          return "";
        },
        what);
  }
};

// `auto` stands for a list that is learned.
ConfigNode WithoutAuto(ConfigNode options, std::string_view key) {
  const auto is_auto = [](const ConfigNode& value) {
    return value.kind == ConfigNode::Kind::kScalar && value.scalar == kAuto;
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
          std::string(kDrop)};
}

template <typename F>
Status ReadKind(const ConfigNode& options, const std::string& name, AnyFeature& what) {
  F feature;
  STOKER_RETURN_IF_ERROR(
      ParseOptions(OptionsOf<F>(), fmt::format("data.features.{}", name), options, &feature));
  what = std::move(feature);
  return OkStatus();
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
  const bool learns = ways == 0;
  if (!learns && (feature.limit || feature.min_count != CategoricalFeature().min_count)) {
    return InvalidArgument(
        "{}: data.features.{}: limit and min_count are for words that are learned, with "
        "`vocabulary: auto`",
        entry.at.ToString(), entry.name);
  }
  return OkStatus();
}

Status CheckNumeric(const NumericFeature& feature, const Feature& entry) {
  if (!feature.quantiles || !feature.indicator) return OkStatus();
  return InvalidArgument(
      "{}: data.features.{}: with quantiles a missing number has a place like others, so an "
      "indicator does not see it; leave one of the two out",
      entry.at.ToString(), entry.name);
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
  const std::string& kind = named ? value.scalar : value.entries.front().key;
  ConfigNode options = named ? ConfigNode() : value.entries.front().value;
  if (options.location.line == 0) options.location = value.location;
  const std::string& name = feature.name;
  if (kind == NumericFeature::kName)
    STOKER_RETURN_IF_ERROR(ReadKind<NumericFeature>(options, name, feature.what));
  else if (kind == BucketizedFeature::kName)
    STOKER_RETURN_IF_ERROR(
        ReadKind<BucketizedFeature>(WithoutAuto(options, "bounds"), name, feature.what));
  else if (kind == CategoricalFeature::kName)
    STOKER_RETURN_IF_ERROR(
        ReadKind<CategoricalFeature>(WithoutAuto(options, "vocabulary"), name, feature.what));
  else if (kind == CrossedFeature::kName)
    STOKER_RETURN_IF_ERROR(ReadKind<CrossedFeature>(options, name, feature.what));
  else if (kind != kDrop || !named)
    return InvalidArgument("{}: data.features.{}: there is no kind '{}'; {}",
                           value.location.ToString(), name, kind, NameAdvice(kind, KindNames()));
  if (const auto* const categorical = std::get_if<CategoricalFeature>(&feature.what))
    STOKER_RETURN_IF_ERROR(CheckCategorical(*categorical, feature));
  if (const auto* const numeric = std::get_if<NumericFeature>(&feature.what))
    STOKER_RETURN_IF_ERROR(CheckNumeric(*numeric, feature));
  return feature;
}

Result<std::vector<Feature>> ReadFeatures(const ConfigNode& data) {
  const ConfigNode& section = *data.Find(kFeaturesKey);
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
    if (entry.value.kind == ConfigNode::Kind::kNull) continue;  // --set data.features.size=null
    Result<Feature> feature = ReadFeature(entry);
    problems.Add(feature.status());
    if (feature.ok()) features.push_back(*std::move(feature));
  }
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  return features;
}

// Makes the stages of all features.
class StagesOfFeatures {
 public:
  explicit StagesOfFeatures(const std::vector<Feature>& features, ConfigLocation at)
      : features_(features), at_(std::move(at)) {}

  Result<std::vector<ConfigNode>> Make() {
    // Copies first, while columns are as they were read; crossings last, so that they may be of
    // buckets and of words by number. Places among others are normalized after all else that is
    // learned from the columns themselves, so that two passes over the data learn everything.
    for (const Feature& feature : features_) Copy(feature);
    for (const Feature& feature : features_)
      std::visit([&](const auto& what) { NumberCategories(feature, what); }, feature.what);
    for (const bool places : {false, true}) {
      for (const Feature& feature : features_) {
        const auto* const numeric = std::get_if<NumericFeature>(&feature.what);
        if (numeric != nullptr && numeric->quantiles.has_value() == places)
          Normalize(feature, *numeric);
      }
    }
    for (const Feature& feature : features_) {
      if (const auto* const crossed = std::get_if<CrossedFeature>(&feature.what))
        STOKER_RETURN_IF_ERROR(Cross(feature, *crossed));
      std::visit([&](const auto& what) { PutIntoRow(feature, what); }, feature.what);
    }
    ConfigNode features = ConfigNode::Map(std::move(row_));
    features.location = at_;
    std::vector<ConfigNode> drop;
    for (const std::string& name : drop_) drop.push_back(ConfigNode::Scalar(name));
    Add(at_, "feature_row",
        {{"features", at_, std::move(features)},
         {"to", at_, ConfigNode::Scalar(std::string(kFeaturesField))},
         {"drop", at_, ConfigNode::List(std::move(drop))}});
    return std::move(stages_);
  }

 private:
  using Entries = std::vector<ConfigNode::Entry>;

  static ConfigNode::Entry Entry(std::string_view key, ConfigNode value) {
    return {std::string(key), {}, std::move(value)};
  }
  static ConfigNode::Entry Entry(std::string_view key, const std::string& text) {
    return Entry(key, ConfigNode::Scalar(text));
  }

  // Errors of a stage, and of each of its options, name the feature's place.
  void Add(const ConfigLocation& at, std::string_view operator_name, Entries options) {
    for (ConfigNode::Entry& option : options) {
      option.key_location = at;
      option.value.location = at;
    }
    ConfigNode of_stage = ConfigNode::Map(std::move(options));
    of_stage.location = at;
    ConfigNode stage = ConfigNode::Map({{std::string(operator_name), at, std::move(of_stage)}});
    stage.location = at;
    stages_.push_back(std::move(stage));
  }

  bool IsFeature(const std::string& name) const {
    const auto found = std::ranges::find(features_, name, &Feature::name);
    return found != features_.end() && !std::holds_alternative<DroppedColumn>(found->what);
  }

  // A feature works on a field of its own name. A column that is none itself is taken out.
  void Copy(const Feature& feature) {
    if (std::holds_alternative<DroppedColumn>(feature.what)) {
      drop_.insert(feature.name);
      return;
    }
    const std::string column = feature.Column();
    if (column.empty() || column == feature.name) return;
    Add(feature.at, "join",
        {Entry("fields", ConfigNode::List({ConfigNode::Scalar(column)})), Entry("to", feature.name),
         Entry("keep", WriteOption(true))});
    if (!IsFeature(column)) drop_.insert(column);
  }

  void Row(const Feature& feature, Entries options) {
    for (ConfigNode::Entry& option : options) {
      option.key_location = feature.at;
      option.value.location = feature.at;
    }
    ConfigNode of_feature = ConfigNode::Map(std::move(options));
    of_feature.location = feature.at;
    row_.push_back({feature.name, feature.at, std::move(of_feature)});
  }

  void NumberCategories(const Feature& feature, const NumericFeature& numeric) {
    if (!numeric.quantiles) return;
    Entries options = {Entry("bounds", std::string(kAuto)),
                       Entry("quantiles", WriteOption(*numeric.quantiles)),
                       Entry("field", feature.name)};
    // A missing number gets the place in the middle.
    if (numeric.missing == "mean")
      options.push_back(Entry("nan", WriteOption(*numeric.quantiles / 2)));
    Add(feature.at, "bucketize", std::move(options));
  }

  void NumberCategories(const Feature& feature, const BucketizedFeature& bucketized) {
    // A missing number is in no range.
    Entries options = {Entry("field", feature.name), Entry("nan", WriteOption(int64_t{-1}))};
    if (bucketized.bounds.empty()) {
      options.push_back(Entry("bounds", std::string(kAuto)));
      options.push_back(Entry("quantiles", WriteOption(bucketized.quantiles)));
    } else {
      options.push_back(Entry("bounds", WriteOption(bucketized.bounds)));
    }
    Add(feature.at, "bucketize", std::move(options));
  }

  void NumberCategories(const Feature& feature, const CategoricalFeature& categorical) {
    if (categorical.integers) return;
    if (categorical.hash) {
      Add(feature.at, "hash",
          {Entry("fields", ConfigNode::List({ConfigNode::Scalar(feature.name)})),
           Entry("buckets", WriteOption(*categorical.hash))});
      return;
    }
    // Words that are not there are one category, the first.
    Entries options = {Entry("field", feature.name), Entry("reserve", WriteOption(int64_t{1})),
                       Entry("unknown", WriteOption(int64_t{0}))};
    if (!categorical.file.empty()) {
      options.push_back(Entry("vocabulary", categorical.file));
    } else if (categorical.vocabulary.empty()) {
      options.push_back(Entry("values", std::string(kAuto)));
      if (categorical.limit) options.push_back(Entry("limit", WriteOption(*categorical.limit)));
      options.push_back(Entry("min_count", WriteOption(categorical.min_count)));
    } else {
      options.push_back(Entry("values", WriteOption(categorical.vocabulary)));
    }
    Add(feature.at, "lookup", std::move(options));
  }

  void NumberCategories(const Feature& /*feature*/, const CrossedFeature& /*crossed*/) {}
  void NumberCategories(const Feature& /*feature*/, const DroppedColumn& /*dropped*/) {}

  void Normalize(const Feature& feature, const NumericFeature& numeric) {
    if (numeric.normalize != kAuto) return;
    Add(feature.at, "cast", {Entry("dtype", std::string("float32")), Entry("field", feature.name)});
    Add(feature.at, "normalize", {Entry("mean", std::string(kAuto)), Entry("field", feature.name)});
  }

  static Entries Category(const std::optional<int64_t>& embedding, const std::string& part) {
    Entries options = {Entry("is", std::string("category")), Entry("part", part)};
    if (embedding) options.push_back(Entry("embedding", WriteOption(*embedding)));
    return options;
  }

  void PutIntoRow(const Feature& feature, const NumericFeature& numeric) {
    Entries options = {Entry("is", std::string("number")), Entry("missing", numeric.missing),
                       Entry("part", numeric.part)};
    if (numeric.indicator) options.push_back(Entry("indicator", WriteOption(true)));
    if (numeric.clip) options.push_back(Entry("clip", WriteOption(*numeric.clip)));
    Row(feature, std::move(options));
  }

  void PutIntoRow(const Feature& feature, const BucketizedFeature& bucketized) {
    Row(feature, Category(bucketized.embedding, bucketized.part));
  }

  void PutIntoRow(const Feature& feature, const CategoricalFeature& categorical) {
    Entries options = Category(categorical.embedding, categorical.part);
    if (!categorical.shared.empty()) options.push_back(Entry("shared", categorical.shared));
    options.push_back(Entry("combine", categorical.combine));
    if (categorical.integers)
      options.push_back(Entry("categories", WriteOption(*categorical.integers)));
    Row(feature, std::move(options));
  }

  void PutIntoRow(const Feature& feature, const CrossedFeature& crossed) {
    const std::string by_itself = crossed.embedding ? "both" : "wide";
    Row(feature, Category(crossed.embedding, crossed.part == kAuto ? by_itself : crossed.part));
  }

  void PutIntoRow(const Feature& /*feature*/, const DroppedColumn& /*dropped*/) {}

  Status Cross(const Feature& feature, const CrossedFeature& crossed) {
    if (crossed.of.size() < 2) {
      return InvalidArgument(
          "{}: data.features.{}: `of` names {}; a crossed feature is of two columns or more, such "
          "as [clarity, color]",
          feature.at.ToString(), feature.name,
          crossed.of.empty() ? "none" : fmt::format("'{}' alone", crossed.of.front()));
    }
    for (const std::string& name : crossed.of) {
      const auto of = std::ranges::find(features_, name, &Feature::name);
      if (of == features_.end()) drop_.insert(name);
      if (of == features_.end() || std::holds_alternative<BucketizedFeature>(of->what) ||
          std::holds_alternative<CategoricalFeature>(of->what) ||
          std::holds_alternative<DroppedColumn>(of->what)) {
        continue;
      }
      return InvalidArgument(
          "{}: data.features.{}: '{}' is {}; columns, and features that are bucketized or "
          "categorical, are crossed: add one, such as {}_range: {{bucketized: {{of: {}}}}}",
          feature.at.ToString(), feature.name, name,
          std::holds_alternative<NumericFeature>(of->what) ? "numeric" : "crossed itself", name,
          name);
    }
    std::vector<ConfigNode> fields;
    for (const std::string& name : crossed.of) fields.push_back(ConfigNode::Scalar(name));
    Add(feature.at, "hash",
        {Entry("fields", ConfigNode::List(std::move(fields))), Entry("to", feature.name),
         Entry("buckets", WriteOption(crossed.buckets))});
    return OkStatus();
  }

  const std::vector<Feature>& features_;
  const ConfigLocation at_;
  std::vector<ConfigNode> stages_;
  Entries row_;
  std::set<std::string> drop_;
};

}  // namespace

bool HasFeatures(const ConfigNode& data) {
  const ConfigNode* const section = data.Find(kFeaturesKey);
  return section != nullptr && section->kind != ConfigNode::Kind::kNull;
}

Result<std::vector<ConfigNode>> FeatureStages(const ConfigNode& data) {
  if (!HasFeatures(data)) return std::vector<ConfigNode>();
  STOKER_ASSIGN_OR_RETURN(const std::vector<Feature> features, ReadFeatures(data));
  return StagesOfFeatures(features, data.Find(kFeaturesKey)->location).Make();
}

std::vector<std::string> ColumnsOfFeatures(const ConfigNode& data) {
  std::vector<std::string> columns;
  if (!HasFeatures(data)) return columns;
  const Result<std::vector<Feature>> features = ReadFeatures(data);
  if (!features.ok()) return columns;
  for (const Feature& feature : *features) {
    if (const auto* const crossed = std::get_if<CrossedFeature>(&feature.what))
      columns.insert(columns.end(), crossed->of.begin(), crossed->of.end());
    else
      columns.push_back(feature.Column().empty() ? feature.name : feature.Column());
  }
  return columns;
}

}  // namespace stoker
