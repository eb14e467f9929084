#include "stoker/data/transforms/lookup.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "stoker/base/short_text.h"
#include "stoker/data/core/class_names.h"
#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/field_option.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/text/vocabulary.h"
#include "stoker/data/text/word_splitter.h"
#include "stoker/data/transforms/picture_names_internal.h"
#include "stoker/data/transforms/token_field_internal.h"

namespace stoker {
namespace {

// How much of a text is quoted in messages, and compared with all words.
constexpr size_t kShown = 40;

struct LookupPlan {
  size_t field = 0;
  std::string name;
  Vocabulary words;
  std::optional<int64_t> unknown;
  int64_t reserve = 0;
  bool equally_long = false;
  std::vector<std::string> files = {};  // the vocabulary's
};

class LookupTransform final : public Transform, public WordNumbers, public NumbersCategories {
 public:
  LookupTransform(LookupPlan plan, PictureNames names)
      : plan_(std::move(plan)), names_(std::move(names)) {}

  bool random() const override { return false; }
  bool works_on_columns() const override { return plan_.equally_long; }
  std::vector<std::string> files() const override { return plan_.files; }

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    Array number = scratch.NewArray(DType::kInt64, {});
    const std::string_view text = internal::TextOf(element.arrays[plan_.field]);
    const std::optional<int64_t> found = NumberOf(text);
    if (!found) return Unknown(text, element);
    number.values<int64_t>()[0] = *found;
    element.arrays[plan_.field] = std::move(number);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    if (!plan_.equally_long) return Transform::ApplyRows(rows, rngs, scratch);
    Array& texts = rows.columns[plan_.field];
    const std::string_view all = internal::TextOf(texts);
    const auto length = static_cast<size_t>(texts.shape().back());
    Array numbers = scratch.NewArray(DType::kInt64, {rows.size()});
    for (int64_t i = 0; i < rows.size(); ++i) {
      const std::string_view text = all.substr(static_cast<size_t>(i) * length, length);
      const std::optional<int64_t> found = NumberOf(text);
      if (!found) return Unknown(text, rows.RowElement(i));
      numbers.values<int64_t>()[static_cast<size_t>(i)] = *found;
    }
    texts = std::move(numbers);
    return OkStatus();
  }

  const std::string& numbered_field() const override { return plan_.name; }
  const std::vector<std::string>& words() const override { return plan_.words.tokens(); }
  int64_t first_number() const override { return plan_.reserve; }
  int64_t num_categories() const override {
    const int64_t of_words = plan_.reserve + plan_.words.size();
    return std::max(of_words, plan_.unknown.value_or(0) + 1);
  }

 private:
  std::optional<int64_t> NumberOf(std::string_view text) const {
    std::optional<int32_t> found = plan_.words.Find(text);
    if (!found) found = plan_.words.Find(WordIn(text));
    return found ? *found + plan_.reserve : plan_.unknown;
  }

  Status Unknown(std::string_view text, const Element& element) const {
    const std::string_view word = WordIn(text);
    return DataLoss(
        "{}: lookup: '{}' of field '{}' is none of the {} words; {}; add it, or say with `unknown` "
        "which number such words get",
        names_.NameOf(element), ShortText(word, kShown), plan_.name, plan_.words.size(),
        NameAdvice(word.substr(0, kShown), plan_.words.tokens()));
  }

  const LookupPlan plan_;
  const PictureNames names_;
};

Result<Vocabulary> WordsOf(const Lookup& lookup) {
  if (lookup.values.empty() == lookup.vocabulary.empty()) {
    return InvalidArgument(
        "lookup: {}; say which words there are with `values: [cat, dog]`, or with `vocabulary`, a "
        "file of one a line",
        lookup.values.empty() ? "no words are given" : "`values` and `vocabulary` are both given");
  }
  if (lookup.values.empty()) return Vocabulary::Load(lookup.vocabulary.string());
  Result<Vocabulary> words = Vocabulary::Of(lookup.values);
  if (!words.ok()) return InvalidArgument("lookup: values: {}", words.status().message());
  return words;
}

Status CheckIsText(const Field& field) {
  if (field.dtype == DType::kUInt8 && field.shape.size() == 1) return OkStatus();
  const bool batched = field.dtype == DType::kUInt8 && field.shape.size() == 2;
  return InvalidArgument("lookup: field '{}' is {}{}; words are uint8[?], text as it was stored{}",
                         field.name, DTypeName(field.dtype), ShapeToString(field.shape),
                         batched ? ": put lookup before the batch"
                         : IsFloating(field.dtype)
                             ? ": `bucketize` makes categories of numbers"
                             : ": `hash` makes categories of whole numbers (in "
                               "data.features categorical: {hash: N}, or "
                               "{integers: N} if they count from 0)");
}

}  // namespace

void Lookup::Describe(OptionTable<Lookup>& table) {
  table
      .Field(
          "values", &Lookup::values,
          "the words, in the order of their numbers: [cat, dog]; auto: they are learned from the "
          "training data")
      .Field("vocabulary", &Lookup::vocabulary, "instead of `values`, a file of one word a line")
      .Field("field", &Lookup::field, "the field that holds the words")
      .Field("unknown", &Lookup::unknown,
             "the number of words that are not there; auto: they are errors")
      .Field("reserve", &Lookup::reserve, "the number of the first word; those below are free",
             AtLeast(0))
      .Field("limit", &Lookup::limit, "the most words that are learned; auto: all", AtLeast(1))
      .Field("min_count", &Lookup::min_count,
             "how often a word must be in the training data to be learned", AtLeast(1));
}

Result<Dataset> Lookup::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const size_t index, IndexOfOption(input.spec(), kName, "field", field));
  Spec output = input.spec();
  Field& found = output.fields[index];
  STOKER_RETURN_IF_ERROR(CheckIsText(found));
  STOKER_ASSIGN_OR_RETURN(Vocabulary known, WordsOf(*this));
  std::string details =
      fmt::format("{}, {} words with checksum {:08x}", field, known.size(), known.checksum());
  if (reserve > 0) details += fmt::format(", from {}", reserve);
  if (unknown) details += fmt::format(", others {}", *unknown);
  LookupPlan plan{.field = index,
                  .name = field,
                  .words = std::move(known),
                  .unknown = unknown,
                  .reserve = reserve,
                  .equally_long = IsFullyKnown(found.shape)};
  if (!vocabulary.empty()) plan.files = {vocabulary.string()};
  found.dtype = DType::kInt64;
  found.shape = {};
  auto transform = std::make_shared<LookupTransform>(std::move(plan), PictureNames(input, index));
  return MapDataset(std::move(input), std::string(kName), std::move(details), std::move(output),
                    std::move(transform));
}

}  // namespace stoker
