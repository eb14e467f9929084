#include "stoker/data/options/feature_columns.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "stoker/data/options/feature_kinds_internal.h"

namespace stoker {
namespace {

using internal::BucketizedFeature;
using internal::CategoricalFeature;
using internal::CrossedFeature;
using internal::DroppedColumn;
using internal::Feature;
using internal::kAuto;
using internal::kError;
using internal::NumericFeature;

// Makes the stages of all features.
class StagesOfFeatures {
 public:
  explicit StagesOfFeatures(const std::vector<Feature>& features, ConfigLocation at)
      : features_(features), at_(std::move(at)) {}

  Result<std::vector<ConfigNode>> Make() {
    // Copies first, while columns are as they were read. Then words become numbers, so that what
    // follows computes on whole columns of many samples. All that learns from the columns
    // themselves takes one pass over the data, and what learns from quantiles another. Crossings
    // last, so that they may be of ranges and of words by number.
    for (const Feature& feature : features_) STOKER_RETURN_IF_ERROR(Copy(feature));
    // Hashes before words that are learned: one between two of these would part their pass.
    for (const bool hashed : {true, false}) {
      for (const Feature& feature : features_) {
        const auto* const categorical = feature.As<CategoricalFeature>();
        if (categorical != nullptr && categorical->hash.has_value() == hashed)
          NumberWords(feature, *categorical);
      }
    }
    for (const Feature& feature : features_)
      std::visit([&](const auto& what) { LearnFromColumn(feature, what); }, feature.what);
    for (const Feature& feature : features_) {
      const auto* const numeric = feature.As<NumericFeature>();
      if (numeric != nullptr && numeric->quantiles) Normalize(feature, *numeric);
    }
    for (const Feature& feature : features_) {
      if (const auto* const crossed = feature.As<CrossedFeature>())
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

  // Options all of which stand where the feature does, for messages.
  static ConfigNode PlacedAt(const ConfigLocation& at, Entries options) {
    for (ConfigNode::Entry& option : options) {
      option.key_location = at;
      option.value.location = at;
    }
    ConfigNode placed = ConfigNode::Map(std::move(options));
    placed.location = at;
    return placed;
  }

  void Add(const ConfigLocation& at, std::string_view operator_name, Entries options) {
    ConfigNode stage =
        ConfigNode::Map({{std::string(operator_name), at, PlacedAt(at, std::move(options))}});
    stage.location = at;
    stages_.push_back(std::move(stage));
  }

  const Feature* Find(const std::string& name) const {
    const auto found = std::ranges::find(features_, name, &Feature::name);
    const bool is_feature = found != features_.end() && found->As<DroppedColumn>() == nullptr;
    return is_feature ? &*found : nullptr;
  }

  // A feature works on a field of its own name. A column that is none itself is taken out.
  Status Copy(const Feature& feature) {
    if (feature.As<DroppedColumn>() != nullptr) {
      drop_.insert(feature.name);
      return OkStatus();
    }
    const std::string column = feature.Column();
    if (column.empty() || column == feature.name) return OkStatus();
    const Feature* const same = Find(column);
    if (same != nullptr && same->Column() != column) {
      return InvalidArgument(
          "{}: data.features.{}: `of` names a column, and '{}' is a feature of another column; "
          "name that column, or cross the feature",
          feature.at.ToString(), feature.name, column);
    }
    Add(feature.at, "join",
        {Entry("fields", ConfigNode::List({ConfigNode::Scalar(column)})), Entry("to", feature.name),
         Entry("keep", WriteOption(true))});
    if (same == nullptr) drop_.insert(column);
    return OkStatus();
  }

  void LearnFromColumn(const Feature& feature, const NumericFeature& numeric) {
    if (!numeric.quantiles) return Normalize(feature, numeric);
    Entries options = {Entry("bounds", std::string(kAuto)),
                       Entry("quantiles", WriteOption(*numeric.quantiles)),
                       Entry("field", feature.name)};
    if (numeric.fills()) options.push_back(Entry("nan_to_middle", WriteOption(true)));
    Add(feature.at, "bucketize", std::move(options));
  }

  void LearnFromColumn(const Feature& feature, const BucketizedFeature& bucketized) {
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

  void NumberWords(const Feature& feature, const CategoricalFeature& categorical) {
    if (categorical.hash) return Hash(feature, categorical);
    if (categorical.integers) return;
    const bool list = !categorical.separator.empty();
    Entries options = list ? WordsOf(feature, categorical) : Entries{Entry("field", feature.name)};
    // Words that are not there are one category, the first.
    options.push_back(Entry("reserve", WriteOption(int64_t{1})));
    options.push_back(Entry(list ? "unknown_number" : "unknown", WriteOption(int64_t{0})));
    if (!categorical.file.empty()) {
      options.push_back(Entry("vocabulary", categorical.file));
    } else if (categorical.vocabulary.empty()) {
      options.push_back(Entry("values", std::string(kAuto)));
      if (categorical.limit) options.push_back(Entry("limit", WriteOption(*categorical.limit)));
      options.push_back(Entry("min_count", WriteOption(categorical.min_count)));
    } else {
      options.push_back(Entry("values", WriteOption(categorical.vocabulary)));
    }
    Add(feature.at, list ? "words" : "lookup", std::move(options));
  }

  // What `words` needs to replace a text by the list of its words. Line breaks separate words too,
  // since a list of words has none with them.
  static Entries WordsOf(const Feature& feature, const CategoricalFeature& categorical) {
    return {
        Entry("field", feature.name), Entry("output", feature.name),
        Entry("separator", fmt::format("{}|[\\r\\n]", re2::RE2::QuoteMeta(categorical.separator))),
        Entry("trim", WriteOption(true))};
  }

  void LearnFromColumn(const Feature& /*feature*/, const CategoricalFeature& /*categorical*/) {}
  void LearnFromColumn(const Feature& /*feature*/, const CrossedFeature& /*crossed*/) {}
  void LearnFromColumn(const Feature& /*feature*/, const DroppedColumn& /*dropped*/) {}

  void Normalize(const Feature& feature, const NumericFeature& numeric) {
    if (!numeric.normalizes()) return;
    Add(feature.at, "cast", {Entry("dtype", std::string("float32")), Entry("field", feature.name)});
    Add(feature.at, "normalize", {Entry("mean", std::string(kAuto)), Entry("field", feature.name)});
  }

  void Hash(const Feature& feature, const CategoricalFeature& categorical) {
    const ConfigNode buckets = WriteOption(*categorical.hash);
    if (!categorical.separator.empty()) {
      Entries options = WordsOf(feature, categorical);
      options.push_back(Entry("hash", buckets));
      return Add(feature.at, "words", std::move(options));
    }
    Add(feature.at, "hash",
        {Entry("fields", ConfigNode::List({ConfigNode::Scalar(feature.name)})),
         Entry("buckets", buckets)});
  }

  void Row(const Feature& feature, Entries options) {
    row_.push_back({feature.name, feature.at, PlacedAt(feature.at, std::move(options))});
  }

  static Entries Category(const std::optional<int64_t>& embedding, const std::string& part) {
    Entries options = {Entry("is", std::string("category")), Entry("part", part)};
    if (embedding) options.push_back(Entry("embedding", WriteOption(*embedding)));
    return options;
  }

  void PutIntoRow(const Feature& feature, const NumericFeature& numeric) {
    Entries options = {Entry("is", std::string("number")),
                       Entry("missing", std::string(numeric.fills() ? "mean" : "error")),
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
    if (categorical.most) options.push_back(Entry("most", WriteOption(*categorical.most)));
    if (categorical.longer != kError) options.push_back(Entry("longer", categorical.longer));
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
    if (std::set(crossed.of.begin(), crossed.of.end()).size() < crossed.of.size()) {
      return InvalidArgument("{}: data.features.{}: `of` names a column twice; name each once",
                             feature.at.ToString(), feature.name);
    }
    for (const std::string& name : crossed.of) {
      const Feature* const of = Find(name);
      if (of == nullptr) drop_.insert(name);
      const auto* const list = of != nullptr ? of->As<CategoricalFeature>() : nullptr;
      if (list != nullptr && list->most) {
        return InvalidArgument(
            "{}: data.features.{}: '{}' is a list; features of one value each are crossed",
            feature.at.ToString(), feature.name, name);
      }
      const bool numeric = of != nullptr && of->As<NumericFeature>() != nullptr;
      if (!numeric && (of == nullptr || of->As<CrossedFeature>() == nullptr)) continue;
      return InvalidArgument(
          "{}: data.features.{}: '{}' is {}; columns, and features that are bucketized or "
          "categorical, are crossed: add one, such as {}_range: {{bucketized: {{of: {}}}}}",
          feature.at.ToString(), feature.name, name, numeric ? "numeric" : "crossed itself", name,
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
  const ConfigNode& section = *data.Find(kFeaturesKey);
  STOKER_ASSIGN_OR_RETURN(const std::vector<Feature> features, internal::ReadFeatures(section));
  return StagesOfFeatures(features, section.location).Make();
}

std::vector<std::string> ColumnsOfFeatures(const ConfigNode& data) {
  std::vector<std::string> columns;
  if (!HasFeatures(data)) return columns;
  const Result<std::vector<Feature>> features = internal::ReadFeatures(*data.Find(kFeaturesKey));
  if (!features.ok()) return columns;
  for (const Feature& feature : *features) {
    if (const auto* const crossed = feature.As<CrossedFeature>())
      columns.insert(columns.end(), crossed->of.begin(), crossed->of.end());
    else
      columns.push_back(feature.Column().empty() ? feature.name : feature.Column());
  }
  return columns;
}

}  // namespace stoker
