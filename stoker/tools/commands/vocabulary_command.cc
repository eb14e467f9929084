#include "stoker/tools/commands/vocabulary_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "stoker/base/json_text.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/data/text/vocabulary.h"
#include "stoker/data/text/word_splitter.h"
#include "stoker/data/transforms/sentencepiece.h"
#include "stoker/data/transforms/wordpiece.h"
#include "stoker/data/transforms/words.h"
#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/output_file.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr const char* kVocabularyAbout =
    "Writes the most frequent words of a recipe's texts into a file.\n"
    "It has one word a line, as the operator `words` reads it. Reads data.train once, up to the "
    "first stage that makes numbers of texts (words, wordpiece, "
    "sentencepiece), so the recipe may name the file that is to be written. Words are split as "
    "`words` splits them with the same options.";
constexpr const char* kVocabularyFooter =
    "Example: stoker vocabulary text.yaml --to words.txt --size 20000\n"
    "Exit: 0 written, 1 failed, 2 wrong usage or recipe";

// What was seen of an epoch's texts.
struct Counted {
  WordCounts words;
  int64_t texts = 0;
};

Result<Counted> CountWords(const Dataset& texts, size_t field, const WordSplitter& splitter) {
  STOKER_ASSIGN_OR_RETURN(const auto iterator,
                          texts.Open(Runtime::Threaded(), {.losses = LossLogging::kNone}));
  Counted counted;
  std::string lowered;
  std::vector<std::string_view> words;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, iterator->Next());
    if (!element) return counted;
    const Array& text = element->arrays[field];
    words.clear();
    splitter.Split({reinterpret_cast<const char*>(text.data()), text.num_bytes()}, lowered, words);
    for (const std::string_view word : words) counted.words.Add(word);
    ++counted.texts;
  }
}

bool NeedsVocabulary(const ConfigNode& stage) {
  constexpr std::string_view kReaders[] = {Words::kName, Wordpiece::kName, Sentencepiece::kName};
  return std::ranges::any_of(kReaders, [&](std::string_view name) {
    return stage.kind == ConfigNode::Kind::kScalar ? stage.scalar == name
                                                   : stage.Find(name) != nullptr;
  });
}

// Leaves of a list of stages those before the first that needs a vocabulary; false without one.
bool CutAtVocabulary(ConfigNode* list) {
  if (list == nullptr || list->kind != ConfigNode::Kind::kList) return false;
  const auto first = std::ranges::find_if(list->items, NeedsVocabulary);
  if (first == list->items.end()) return false;
  list->items.erase(first, list->items.end());
  return true;
}

// Leaves of the training side what comes before the vocabulary is needed, which may not be there
// yet, and drops what is not read.
void KeepTexts(ConfigNode& recipe) {
  ConfigNode* const data = recipe.Find("data");
  if (data == nullptr) return;
  ConfigNode* const train = data->Find("train");
  const bool in_source = CutAtVocabulary(data->Find("source"));
  if (in_source && train != nullptr) *train = ConfigNode::List({});
  if (!in_source && !CutAtVocabulary(train)) return;
  data->Erase("eval");
}

Result<Dataset> TextsOf(const VocabularyArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ReadRecipeAndPlugins(arguments.recipe, arguments.set));
  KeepTexts(recipe);
  STOKER_ASSIGN_OR_RETURN(
      const DataRecipe data,
      ParseDataSection(recipe, std::filesystem::path(arguments.recipe).parent_path()));
  if (data.train.cardinality().infinite()) {
    return InvalidArgument("data.train has no end; take `repeat` out, or limit it with `take`");
  }
  STOKER_RETURN_IF_ERROR(CheckIsNotRead("--to", arguments.to, data));
  return data.train;
}

}  // namespace

void AddVocabularyCommand(Program& program, std::function<Status(const VocabularyArguments&)> run) {
  auto [app, arguments] = program.Add<VocabularyArguments>("vocabulary", kVocabularyAbout,
                                                           kVocabularyFooter, std::move(run));
  AddRecipeArgument(app, arguments.recipe).required();
  app.add_option("--to", arguments.to, "the file to write")->type_name("FILE")->required();
  app.add_option("--field", arguments.field, "the field that holds the text")
      ->type_name("NAME")
      ->default_str("text");
  app.add_option("--size", arguments.size, "the most words, those of --first included")
      ->type_name("N")
      ->check(AtLeastCheck(1))
      ->default_str("30000");
  app.add_option("--min-count", arguments.min_count, "how often a word must be there")
      ->type_name("N")
      ->check(AtLeastCheck(1))
      ->default_str("1");
  // One word each time: of several CLI11 would take [PAD] for a list of one.
  app.add_option("--first", arguments.first, "a word that comes first in the file; may be repeated")
      ->type_name("WORD")
      ->allow_extra_args(false);
  app.add_option("--pattern", arguments.pattern, "regular expression of what words are")
      ->type_name("REGEX");
  app.add_option("--separator", arguments.separator,
                 "regular expression of what stands between words")
      ->type_name("REGEX");
  app.add_flag("--lower", arguments.lower, "lower case first");
  AddSetOption(app, arguments.set);
  AddAllowCodeOption(app);
  AddJsonOption(app, arguments.json);
}

Status RunVocabulary(const VocabularyArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const WordSplitter splitter,
                          WordSplitter::Create({.pattern = arguments.pattern,
                                                .separator = arguments.separator,
                                                .lower = arguments.lower}));
  STOKER_ASSIGN_OR_RETURN(const Dataset texts, TextsOf(arguments));
  STOKER_ASSIGN_OR_RETURN(const size_t field, texts.spec().IndexOf("vocabulary", arguments.field));
  const Field& found = texts.spec().fields[field];
  if (found.dtype != DType::kUInt8) {
    return InvalidArgument("field '{}' is {}{}; text is uint8[?], as `lines` gives it", found.name,
                           DTypeName(found.dtype), ShapeToString(found.shape));
  }
  STOKER_ASSIGN_OR_RETURN(const Counted counted, CountWords(texts, field, splitter));
  if (counted.words.words() == 0 && arguments.first.empty()) {
    return FailedPrecondition("there is no word in the {} of field '{}'",
                              CountText(counted.texts, "text"), found.name);
  }
  STOKER_ASSIGN_OR_RETURN(
      const Vocabulary vocabulary,
      counted.words.MostFrequent(arguments.size, arguments.min_count, arguments.first));
  STOKER_RETURN_IF_ERROR(vocabulary.Save(arguments.to));
  if (arguments.json) {
    return PrintResult(DumpJson({{"file", arguments.to},
                                 {"tokens", vocabulary.size()},
                                 {"texts", counted.texts},
                                 {"words", counted.words.words()},
                                 {"different_words", counted.words.different()}}) +
                       "\n");
  }
  return PrintResult(fmt::format(
      "{}: {}, of {} in {}\n", arguments.to, CountText(vocabulary.size(), "token"),
      CountText(counted.words.different(), "different word"), CountText(counted.texts, "text")));
}

}  // namespace stoker
