#include "stoker/data/transforms/words.h"

#include "stoker/base/short_text.h"
#include "stoker/data/text/vocabulary.h"
#include "stoker/data/text/word_splitter.h"
#include "stoker/data/transforms/token_field_internal.h"

namespace stoker {
namespace {

// The tokens with a special meaning; nothing for those that are not named.
struct Marks {
  std::optional<int32_t> unknown, begin, end;
};

class WordsEncoder final : public internal::TokenEncoder {
 public:
  WordsEncoder(WordSplitter splitter, Vocabulary vocabulary, const Marks& marks)
      : splitter_(std::move(splitter)), vocabulary_(std::move(vocabulary)), marks_(marks) {}

  Status Encode(std::string_view text, std::vector<int32_t>& out) const override {
    thread_local std::vector<std::string_view> words;
    thread_local std::string lowered;
    words.clear();
    splitter_.Split(text, lowered, words);
    if (marks_.begin) out.push_back(*marks_.begin);
    for (const std::string_view word : words) {
      const std::optional<int32_t> number = vocabulary_.Find(word);
      if (!number && !marks_.unknown) {
        return InvalidArgument("the vocabulary has no '{}'; add it, or name `unknown`",
                               ShortText(word));
      }
      out.push_back(number ? *number : *marks_.unknown);
    }
    if (marks_.end) out.push_back(*marks_.end);
    return OkStatus();
  }

 private:
  const WordSplitter splitter_;
  const Vocabulary vocabulary_;
  const Marks marks_;
};

Status FindMark(const Vocabulary& vocabulary, const std::filesystem::path& path,
                std::string_view option, const std::string& token, std::optional<int32_t>& into) {
  if (token.empty()) return OkStatus();
  into = vocabulary.Find(token);
  if (into) return OkStatus();
  return InvalidArgument("words: {}: there is no token '{}', which `{}` names; add it to the file",
                         path.string(), token, option);
}

}  // namespace

void Words::Describe(OptionTable<Words>& table) {
  table.Field("vocabulary", &Words::vocabulary, "a file of one token a line").Required();
  table.Field("field", &Words::field, "the field that holds the text")
      .Field("output", &Words::output, "what the field with the numbers is called")
      .Field("pattern", &Words::pattern,
             "regular expression (RE2) of what words are; else they stand between white space")
      .Field("separator", &Words::separator, "regular expression of what stands between words")
      .Field("lower", &Words::lower, "lower case first")
      .Field("unknown", &Words::unknown,
             "the token for words that the vocabulary lacks; empty: they are errors")
      .Field("begin", &Words::begin, "a token that precedes the words")
      .Field("end", &Words::end, "a token to append to the words");
}

Result<Dataset> Words::Build(Dataset input) const {
  Result<WordSplitter> splitter =
      WordSplitter::Create({.pattern = pattern, .separator = separator, .lower = lower});
  if (!splitter.ok()) return InvalidArgument("words: {}", splitter.status().message());
  STOKER_ASSIGN_OR_RETURN(Vocabulary tokens, Vocabulary::Load(vocabulary.string()));
  Marks marks;
  STOKER_RETURN_IF_ERROR(FindMark(tokens, vocabulary, "unknown", unknown, marks.unknown));
  STOKER_RETURN_IF_ERROR(FindMark(tokens, vocabulary, "begin", begin, marks.begin));
  STOKER_RETURN_IF_ERROR(FindMark(tokens, vocabulary, "end", end, marks.end));
  std::string details = fmt::format("{}, {} tokens with checksum {:08x}", vocabulary.string(),
                                    tokens.size(), tokens.checksum());
  return internal::EncodeField(
      std::move(input), kName, field, output, std::move(details),
      std::make_shared<WordsEncoder>(*std::move(splitter), std::move(tokens), marks));
}

}  // namespace stoker
