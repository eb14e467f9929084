#include "stoker/data/transforms/wordpiece.h"

#include <algorithm>

#include "stoker/data/core/add_field.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/text/wordpiece.h"
#include "stoker/data/transforms/token_field_internal.h"

namespace stoker {
namespace {

struct WordPiecePlan {
  size_t field = 0;
  std::optional<size_t> pair;
  std::optional<size_t> max_length;
  std::optional<int32_t> begin, separator;  // where the text is marked
};

class WordpieceTransform final : public Transform {
 public:
  WordpieceTransform(WordPiecePlan plan, WordPiece model, std::string file)
      : plan_(plan), model_(std::move(model)), file_(std::move(file)) {}

  bool random() const override { return false; }
  std::vector<std::string> files() const override { return {file_}; }

  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    thread_local Memory memory;
    auto& [words, text, pair, all] = memory;
    text.clear();
    pair.clear();
    all.clear();
    model_.Encode(internal::TextOf(element.arrays[plan_.field]), words, text);
    if (plan_.pair) model_.Encode(internal::TextOf(element.arrays[*plan_.pair]), words, pair);
    CutToLength(text, pair);
    if (plan_.begin) all.push_back(*plan_.begin);
    AppendMarked(text, all);
    const size_t first = all.size();
    if (plan_.pair) AppendMarked(pair, all);
    element.arrays[plan_.field] = internal::NewTokens(all, scratch);
    if (!plan_.pair) return OkStatus();
    Array types = scratch.NewArray(DType::kInt32, {std::ssize(all)});
    std::ranges::fill(types.values<int32_t>().first(first), 0);
    std::ranges::fill(types.values<int32_t>().subspan(first), 1);
    element.arrays.erase(element.arrays.begin() + static_cast<std::ptrdiff_t>(*plan_.pair));
    element.arrays.push_back(std::move(types));
    return OkStatus();
  }

 private:
  struct Memory {
    WordPiece::Scratch words;
    std::vector<int32_t> text, pair, all;
  };

  // The shorter text stays whole unless half of the room is not enough for it.
  void CutToLength(std::vector<int32_t>& text, std::vector<int32_t>& pair) const {
    if (!plan_.max_length) return;
    const size_t marks = plan_.begin ? (plan_.pair ? 3 : 2) : 0;
    const size_t room = *plan_.max_length - marks;
    if (text.size() + pair.size() <= room) return;
    std::vector<int32_t>& longer = text.size() > pair.size() ? text : pair;
    std::vector<int32_t>& shorter = text.size() > pair.size() ? pair : text;
    if (shorter.size() > room / 2) shorter.resize(room / 2);
    longer.resize(room - shorter.size());
  }

  void AppendMarked(const std::vector<int32_t>& tokens, std::vector<int32_t>& all) const {
    all.insert(all.end(), tokens.begin(), tokens.end());
    if (plan_.separator) all.push_back(*plan_.separator);
  }

  const WordPiecePlan plan_;
  const WordPiece model_;
  const std::string file_;  // of the vocabulary
};

Status FindMark(const Wordpiece& options, const Vocabulary& vocabulary, const std::string& token,
                std::optional<int32_t>& into) {
  into = vocabulary.Find(token);
  if (into) return OkStatus();
  return InvalidArgument(
      "wordpiece: {}: there is no token '{}'; name the one that this vocabulary has, or set `mark: "
      "false`",
      options.vocabulary.string(), token);
}

Result<Spec> OutputOf(const Wordpiece& options, const Spec& input, const WordPiecePlan& plan) {
  if (plan.pair == plan.field)
    return InvalidArgument("wordpiece: `field` and `pair` are both '{}'", options.field);
  Spec others = input;  // what the new field's name must differ from
  std::erase_if(others.fields, [&](const Field& field) {
    return field.name == options.field || field.name == options.pair;
  });
  const Field tokens{options.output, DType::kInt32, {kUnknownDim}};
  STOKER_RETURN_IF_ERROR(AddField(Wordpiece::kName, tokens, others));
  Spec output = input;
  output.fields[plan.field] = tokens;
  if (!plan.pair) return output;
  output.fields.erase(output.fields.begin() + static_cast<std::ptrdiff_t>(*plan.pair));
  STOKER_RETURN_IF_ERROR(
      AddField(Wordpiece::kName, {"token_types", DType::kInt32, {kUnknownDim}}, output));
  return output;
}

}  // namespace

void Wordpiece::Describe(OptionTable<Wordpiece>& table) {
  table.Field("vocabulary", &Wordpiece::vocabulary, "the vocab.txt: one token a line").Required();
  table.Field("field", &Wordpiece::field, "the field that holds the text")
      .Field("pair", &Wordpiece::pair, "the field that holds a second text; empty: there is none")
      .Field("output", &Wordpiece::output, "what the field with the numbers is called")
      .Field("lower", &Wordpiece::lower, "lower case, for uncased models")
      .Field("accents", &Wordpiece::accents, "strip or keep them; auto: strip where `lower`",
             OneOf{{"auto", "strip", "keep"}})
      .Field("mark", &Wordpiece::mark, "put [CLS] before the text and [SEP] after it")
      .Field("max_length", &Wordpiece::max_length, "the most numbers, marks included", AtLeast(4))
      .Field("unknown", &Wordpiece::unknown, "the token for words that cannot be put together")
      .Field("begin", &Wordpiece::begin, "the token in front")
      .Field("separator", &Wordpiece::separator, "the token after each text");
}

Result<Dataset> Wordpiece::Build(Dataset input) const {
  WordPiecePlan plan;
  STOKER_ASSIGN_OR_RETURN(plan.field, internal::FindTextField(kName, input.spec(), field));
  if (!pair.empty()) {
    STOKER_ASSIGN_OR_RETURN(plan.pair, internal::FindTextField(kName, input.spec(), pair));
  }
  if (max_length) plan.max_length = static_cast<size_t>(*max_length);
  STOKER_ASSIGN_OR_RETURN(Vocabulary tokens, Vocabulary::Load(vocabulary.string()));
  if (mark) {
    STOKER_RETURN_IF_ERROR(FindMark(*this, tokens, begin, plan.begin));
    STOKER_RETURN_IF_ERROR(FindMark(*this, tokens, separator, plan.separator));
  }
  STOKER_ASSIGN_OR_RETURN(Spec output_spec, OutputOf(*this, input.spec(), plan));
  std::string details = fmt::format("{}, {} tokens with checksum {:08x}", vocabulary.string(),
                                    tokens.size(), tokens.checksum());
  const BertWordsOptions words{.lower = lower,
                               .strip_accents = accents == "auto" ? lower : accents == "strip"};
  Result<WordPiece> model =
      WordPiece::Create(std::move(tokens), {.words = words, .unknown = unknown});
  if (!model.ok()) {
    return InvalidArgument("wordpiece: {}: {}", vocabulary.string(), model.status().message());
  }
  return MapDataset(
      std::move(input), std::string(kName), std::move(details), std::move(output_spec),
      std::make_shared<WordpieceTransform>(plan, *std::move(model), vocabulary.string()));
}

}  // namespace stoker
