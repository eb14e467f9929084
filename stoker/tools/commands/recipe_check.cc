#include "stoker/tools/commands/recipe_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "stoker/base/named_kind.h"
#include "stoker/base/options.h"
#include "stoker/base/printable.h"
#include "stoker/base/problems.h"
#include "stoker/base/unloaded_kinds.h"
#include "stoker/data/advice/data_doubts.h"
#include "stoker/data/advice/fixed_order.h"
#include "stoker/data/advice/no_batch.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/recipe/recipe_place.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// A value on the command line is named by this (SetByPath).
constexpr std::string_view kSet = "--set ";

// Takes a number and the character that follows it off the front; nothing if they are not there.
std::optional<int> TakeNumber(std::string_view& text, char end) {
  int number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || at == text.data() + text.size() || *at != end) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(at - text.data()) + 1);
  return number;
}

// The first "PATH:LINE:COLUMN" in the message, which "(" may precede and ")" follow.
std::optional<RecipeFinding> FindPlace(const std::string& path, const std::string& message) {
  const std::string name = path + ":";
  for (size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
    std::string_view rest = std::string_view(message).substr(at + name.size());
    const std::optional<int> line = TakeNumber(rest, ':');
    if (!line) continue;
    const bool leads = at == 0;
    const std::optional<int> column = TakeNumber(rest, leads ? ':' : ')');
    if (!column) continue;
    // A place at the front is reported apart; one within stays, because the sentence needs it.
    std::string text = leads ? std::string(rest.substr(rest.starts_with(' ') ? 1 : 0)) : message;
    return RecipeFinding{path, *line, *column, std::move(text)};
  }
  return std::nullopt;
}

// Reads the first batch: what is wrong with files shows only then.
Status ReadFirstElement(const Dataset& dataset, std::string_view name, uint64_t seed) {
  STOKER_ASSIGN_OR_RETURN(
      const std::unique_ptr<Iterator> pass,
      dataset.Open(Runtime::Threaded(), {.seed = seed, .losses = LossLogging::kNone}));
  STOKER_ASSIGN_OR_RETURN(const std::optional<Element> first, pass->Next());
  if (first) return OkStatus();
  return NoBatch(dataset, name);
}

// train.seed, by which the first batch of a training is drawn. A mistake in it is a finding of the
// section train.
uint64_t SeedOf(const ConfigNode& recipe) {
  int64_t seed = 1;
  const ConfigNode* const train = recipe.Find("train");
  const ConfigNode* const written = train == nullptr ? nullptr : train->Find("seed");
  if (written != nullptr) static_cast<void>(ReadOption(*written, seed));
  return static_cast<uint64_t>(seed);
}

// The place of the stage that the message names, or else of the source, which named the sample.
ConfigLocation PlaceOfStage(const ConfigNode& pipeline, std::string_view message) {
  for (const ConfigNode& stage : pipeline.items) {
    const std::string named = fmt::format(" {}: ", NamedKind(stage));
    if (message.starts_with(named.substr(1)) || message.find(named) != std::string_view::npos)
      return stage.location;
  }
  return pipeline.items.empty() ? pipeline.location : pipeline.items.front().location;
}

// The section could not be made. What is wrong with a sample was found by reading the training side
// to learn from it.
void AddProblemsOfData(const ConfigNode& recipe, const Status& status, RecipeCheck& check) {
  const ConfigNode* const data = recipe.Find("data");
  const std::optional<ConfigNode> pipeline =
      data == nullptr ? std::nullopt : WholePipeline(*data, "train");
  for (const std::string& message : ProblemsIn(status)) {
    const Status one(status.code(), message);
    if (pipeline && status.code() == StatusCode::kDataLoss) {
      check.AddAt(one, PlaceOfStage(*pipeline, message));
    } else {
      check.Add(one, "data");
    }
  }
}

// What becomes of one pipeline: its first batch is read, where it could be made.
void CheckPipeline(const ConfigNode& recipe, std::string_view name,
                   const std::optional<Dataset>& made, uint64_t seed, RecipeCheck& check) {
  const ConfigNode* const data = recipe.Find("data");
  if (data == nullptr) return;
  const std::optional<ConfigNode> pipeline = WholePipeline(*data, name);
  if (!pipeline) return;
  const std::string path = fmt::format("data.{}", name);
  if (!made) {
    check.NotChecked(
        fmt::format("how the stages of {} go together, and its samples, since findings stand in "
                    "the way",
                    path));
    return;
  }
  const Status read = ReadFirstElement(*made, path, seed);
  for (const std::string& message : ProblemsIn(read)) {
    const Status one(read.code(), message);
    if (IsAboutOneElement(read) && !message.starts_with(path)) {
      check.AddAt(one, PlaceOfStage(*pipeline, message));
    } else {
      check.Add(one, path);
    }
  }
}

}  // namespace

std::string RecipeFinding::ToText() const {
  return line == 0 ? fmt::format("{}: {}", file, message)
                   : fmt::format("{}:{}:{}: {}", file, line, column, message);
}

Json RecipeFinding::ToJson() const {
  return {{"file", file},
          {"line", line == 0 ? Json() : Json(line)},
          {"column", line == 0 ? Json() : Json(column)},
          {"message", message}};
}

RecipeCheck::RecipeCheck(std::string path, const ConfigNode& recipe)
    : path_(std::move(path)), recipe_(recipe) {}

std::optional<RecipeFinding> RecipeCheck::FindNamedPlace(const std::string& message) const {
  if (message.starts_with(kSet)) {
    const size_t end = message.find(": ");
    if (end != std::string::npos)
      return RecipeFinding{message.substr(0, end), 0, 0, message.substr(end + 2)};
  }
  return FindPlace(path_, message);
}

RecipeFinding RecipeCheck::FindingAt(const ConfigLocation& place,
                                     const std::string& message) const {
  // Errors of the file as a whole, or of a missing key, are placed at its start.
  if (place.line == 0 && place.file != nullptr && place.file->starts_with(kSet))
    return {*place.file, 0, 0, message};
  return {path_, std::max(place.line, 1), std::max(place.column, 1), message};
}

RecipeFinding RecipeCheck::Located(const std::string& message, std::string_view section) const {
  if (std::optional<RecipeFinding> found = FindNamedPlace(message)) return *std::move(found);
  return FindingAt(PlaceOfKey(recipe_, message).value_or(PlaceOfPath(recipe_, section)), message);
}

void RecipeCheck::AddFinding(RecipeFinding finding) {
  auto& findings = IsAboutUnloadedKind(finding.message) ? not_judged_ : findings_;
  const bool known = std::ranges::find(findings, finding) != findings.end();
  if (!known) findings.push_back(std::move(finding));
}

void RecipeCheck::Add(const Status& status, std::string_view section) {
  for (const std::string& message : ProblemsIn(status)) AddFinding(Located(message, section));
}

void RecipeCheck::AddAt(const Status& status, const ConfigLocation& place) {
  for (const std::string& message : ProblemsIn(status)) {
    std::optional<RecipeFinding> found = FindNamedPlace(message);
    AddFinding(found ? *std::move(found) : FindingAt(place, message));
  }
}

void RecipeCheck::Warn(const std::string& message) { warnings_.push_back(Located(message, "")); }

Inspection RecipeCheck::Report() const {
  std::vector<RecipeFinding> ordered = findings_;
  std::ranges::stable_sort(ordered, {}, [](const RecipeFinding& finding) {
    return std::tuple(finding.line, finding.column);
  });
  Inspection out;
  out.json = {{"recipe", path_}, {"findings", Json::array()}, {"not_checked", not_checked_}};
  for (const RecipeFinding& finding : not_judged_) {
    out.json["not_checked"].push_back(finding.ToText());
  }
  for (const RecipeFinding& finding : ordered) {
    out.json["findings"].push_back(finding.ToJson());
    out.text += Printable(finding.ToText()) + "\n";
  }
  out.json["warnings"] = Json::array();
  for (RecipeFinding warning : warnings_) {
    out.json["warnings"].push_back(warning.ToJson());
    warning.message = "warning: " + warning.message;
    out.text += Printable(warning.ToText()) + "\n";
  }
  for (RecipeFinding note : not_judged_) {
    note.message = "not checked: " + note.message;
    out.text += Printable(note.ToText()) + "\n";
  }
  for (const std::string& what : not_checked_) {
    out.text += fmt::format("{}: not checked: {}\n", Printable(path_), Printable(what));
  }
  if (ordered.empty()) {
    out.text += fmt::format("{}: nothing is wrong with {}{}\n", Printable(path_),
                            not_checked_.empty() && not_judged_.empty() ? "it" : "the rest",
                            warnings_.empty() ? "" : ", but see the warnings");
    return out;
  }
  out.damage = FailedPrecondition("{}: {}", path_, CountText(std::ssize(ordered), "finding"));
  return out;
}

CheckedData CheckData(const ConfigNode& recipe, const std::filesystem::path& folder,
                      RecipeCheck& check, std::span<const TrainingRequest> requests) {
  CheckedData data = CheckDataSection(recipe, folder, requests);
  AddProblemsOfData(recipe, data.status, check);
  if (const auto hint = data.train ? HintOfOrder(*data.train) : std::nullopt)
    check.Warn(fmt::format("data.train: {}; {}", hint->problem, hint->advice));
  if (const ConfigNode* const section = recipe.Find("data"); section != nullptr) {
    for (const DataDoubt& doubt : DoubtsAbout(*section)) {
      check.Warn(fmt::format("{}: {}; {}", doubt.place.ToString(), doubt.problem, doubt.advice));
    }
  }
  CheckPipeline(recipe, "train", data.train, SeedOf(recipe), check);
  CheckPipeline(recipe, "eval", data.eval, /*seed=*/0, check);
  return data;
}

}  // namespace stoker
