#include "stoker/train/plan/initial_vectors.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/short_text.h"
#include "stoker/data/core/class_names.h"
#include "stoker/data/text/word_vectors.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/plan/initial_weights.h"

namespace stoker {
namespace {

// A table of a model.
struct Table {
  std::string name;   // that of the feature or of the input, or its field
  std::string field;  // whose words its rows are of
  at::Tensor vectors;
};

std::vector<Table> TablesOf(const Model& model, const std::vector<InputField>& inputs) {
  std::vector<Table> tables;
  for (const auto& [name, vectors] : model.VectorTables()) {
    const auto input = std::ranges::find(inputs, name, &InputField::name);
    const std::string field = input == inputs.end() ? name : input->field;
    tables.push_back({name.empty() ? field : name, field, vectors});
  }
  return tables;
}

// What the model has vectors of, for messages.
std::string TablesText(const std::vector<Table>& tables) {
  std::vector<std::string> names;
  for (const Table& table : tables) names.push_back(fmt::format("'{}'", table.name));
  if (names.empty()) {
    return "it has none at all: models of tokens have them, and features of categories with an "
           "`embedding`";
  }
  return fmt::format("it has those of {}", fmt::join(names, ", "));
}

Result<Table> TableOf(const Model& model, const std::string& name,
                      const std::vector<InputField>& inputs) {
  const std::vector<Table> tables = TablesOf(model, inputs);
  for (const auto part : {&Table::name, &Table::field}) {
    const auto found = std::ranges::find(tables, name, part);
    if (found != tables.end()) return *found;
  }
  return InvalidArgument("the model has no vectors of '{}'; {}", name, TablesText(tables));
}

Result<const WordNumbers*> WordsOf(const Dataset& batches, const std::string& field,
                                   const at::Tensor& table) {
  const WordNumbers* const words = FindWordNumbers(batches, field);
  if (words == nullptr) {
    return InvalidArgument(
        "no stage of data.train has a list of the words of '{}', as `words` and `lookup` have one, "
        "and categorical features with a vocabulary",
        field);
  }
  const int64_t end = words->first_number() + std::ssize(words->words());
  if (end <= table.size(0)) return words;
  return InvalidArgument(
      "the words of '{}' have numbers to {}, and the model's table has {} vectors; give the model "
      "`tokens: {}`",
      field, end - 1, table.size(0), end);
}

void CopyVectors(WordVectors& vectors, int64_t first_number, at::Tensor table) {
  const int64_t width = table.size(1);
  std::vector<int64_t> found;
  for (size_t i = 0; i < vectors.found.size(); ++i) {
    if (vectors.found[i]) found.push_back(static_cast<int64_t>(i));
  }
  const at::Tensor rows = at::tensor(found, at::kLong);
  const at::Tensor values =
      at::from_blob(vectors.values.data(), {std::ssize(vectors.found), width}, at::kFloat)
          .index_select(0, rows)
          .to(table.options());
  table.index_copy_(0, (rows + first_number).to(table.device()), values);
}

Result<std::string> InitializeTable(Model& model, const VectorsOptions& options,
                                    const Dataset& batches, const std::vector<InputField>& inputs) {
  STOKER_ASSIGN_OR_RETURN(const Table found, TableOf(model, options.name, inputs));
  const at::Tensor& table = found.vectors;
  STOKER_ASSIGN_OR_RETURN(const WordNumbers* const words, WordsOf(batches, found.field, table));
  Result<WordVectors> vectors = ReadWordVectors(options.file, words->words(), table.size(1));
  if (vectors.status().code() == StatusCode::kInvalidArgument) {
    return InvalidArgument(
        "{}, those of the model's table of '{}'; give the model that `width`, or the feature that "
        "`embedding`, or take another file",
        vectors.status().message(), options.name);
  }
  STOKER_RETURN_IF_ERROR(vectors.status());
  if (vectors->num_found == 0) {
    return FailedPrecondition(
        "{}: it has none of the {} words of '{}', such as '{}'; is this the right file, or are its "
        "words in lower case (words: {{lower: true}})?",
        options.file, words->words().size(), options.name, ShortText(words->words().back()));
  }
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&]() -> Status {
    const at::NoGradGuard no_grad;
    CopyVectors(*vectors, words->first_number(), table);
    return OkStatus();
  }));
  return fmt::format("the vectors of {} of the {} words of '{}' are taken from {}",
                     vectors->num_found, words->words().size(), options.name, options.file);
}

}  // namespace

Result<std::string> InitializeVectors(Model& model, const InitFromOptions& options,
                                      const Dataset& batches,
                                      const std::vector<InputField>& inputs) {
  std::vector<std::string> done;
  for (const VectorsOptions& each : options.vectors.fields()) {
    Result<std::string> text = InitializeTable(model, each, batches, inputs);
    if (!text.ok()) return WithPrefix("train.init_from.vectors: ", text.status());
    done.push_back(*std::move(text));
  }
  return fmt::format("{}", fmt::join(done, "; "));
}

Result<std::string> InitializeModel(Model& model, const TrainRecipe& train,
                                    const Dataset& batches) {
  const InitFromOptions& options = train.init_from;
  STOKER_ASSIGN_OR_RETURN(const InitReport weights, InitializeWeights(model, options));
  STOKER_ASSIGN_OR_RETURN(const std::string vectors,
                          InitializeVectors(model, options, batches, train.options.AllInputs()));
  if (options.weights.empty()) return vectors;
  return vectors.empty() ? weights.ToText() : weights.ToText() + "; " + vectors;
}

}  // namespace stoker
