#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/formats/csv/row_writer.h"
#include "stoker/io/decompression.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/trainer/prediction_output.h"
#include "stoker/tools/trainer/prediction_text.h"

namespace stoker {
namespace {

// The columns of a row and what it has there.
struct TableRow {
  std::vector<std::string> columns;
  std::vector<Json> values;

  void Add(std::string column, Json value) {
    columns.push_back(std::move(column));
    values.push_back(std::move(value));
  }
};

bool HasEnding(std::string_view name, std::string_view ending) {
  if (name.size() < ending.size()) return false;
  return std::ranges::equal(name.substr(name.size() - ending.size()), ending, {},
                            [](unsigned char c) { return std::tolower(c); });
}

// A column for a number, a text or a list of one; NAME_0, NAME_1, ... for longer lists.
void AddNumbered(const std::string& name, const Json& value, TableRow& row) {
  if (!value.is_array()) return row.Add(name, value);
  if (value.size() == 1) return AddNumbered(name, value.front(), row);
  for (size_t i = 0; i < value.size(); ++i)
    AddNumbered(fmt::format("{}_{}", name, i), value[i], row);
}

void WriteCell(const Json& value, CsvRowWriter& file) {
  if (value.is_string()) return file.AddText(value.get_ref<const std::string&>());
  if (value.is_boolean()) return file.AddText(value.get<bool>() ? "true" : "false");
  if (value.is_number_integer()) return file.AddNumber(value.get<int64_t>());
  const bool finite = value.is_number() && std::isfinite(value.get<double>());
  if (!finite) return file.AddText("");
  file.AddNumber(value.get<double>());
}

class PredictionTable final : public PredictionOutput {
 public:
  PredictionTable(const PredictArguments& arguments, const Predictor& predictor)
      : arguments_(arguments), predictor_(predictor) {}

  Status Write(const PredictedBatch& batch) override {
    if (!file_) {
      named_ =
          std::ranges::any_of(batch.files, [](const std::string& file) { return !file.empty(); });
    }
    for (size_t i = 0; i < batch.predictions.size(); ++i) {
      const TableRow row = RowOf(batch, i);
      if (!file_) STOKER_RETURN_IF_ERROR(Begin(row));
      if (row.columns != columns_) return OtherColumns(row);
      for (const Json& value : row.values) WriteCell(value, *file_);
      STOKER_RETURN_IF_ERROR(file_->EndRow());
    }
    return OkStatus();
  }

  Status Commit() override { return file_ ? file_->Commit() : OkStatus(); }

 private:
  Status Begin(const TableRow& first) {
    NoteInterrupt();
    ::signal(SIGPIPE, SIG_IGN);  // nothing is left of a file half-written
    const std::string_view name = WithoutCompressedEnding(arguments_.to);
    CsvDialect dialect;
    if (HasEnding(name, ".tsv")) dialect.delimiter = '\t';
    const bool compressed = name.size() < arguments_.to.size();
    STOKER_ASSIGN_OR_RETURN(
        file_, CsvRowWriter::Create(arguments_.to, dialect,
                                    compressed ? Compression::kGzip : Compression::kNone));
    columns_ = first.columns;
    for (const std::string& column : columns_) file_->AddText(column);
    return file_->EndRow();
  }

  void AddAnswer(const Prediction& prediction, const std::string& prefix, TableRow& row) const {
    for (const Prediction& part : prediction.parts) AddAnswer(part, part.target + ".", row);
    if (!prediction.parts.empty()) return;
    if (prediction.probabilities.empty())
      return AddNumbered(prefix + "number", ScoresJson(prediction), row);
    const std::vector<std::string>& names = ClassNamesFor(predictor_, prediction);
    if (prediction.labels) {
      for (size_t c = 0; c < prediction.probabilities.size(); ++c)
        row.Add(prefix + "probability_" + ClassName(names, c),
                AsShown(prediction.probabilities[c]));
    } else {
      const auto best = static_cast<size_t>(prediction.best);
      AddClass(prediction, best, prefix, "", row);
      const std::vector<size_t> likeliest = Likeliest(prediction, arguments_.top.value_or(1));
      for (size_t k = 1; k < likeliest.size(); ++k)
        AddClass(prediction, likeliest[k], prefix, fmt::format("_{}", k + 1), row);
    }
    if (!arguments_.scores) return;
    for (size_t c = 0; c < prediction.scores.size(); ++c)
      row.Add(prefix + "score_" + ClassName(names, c), AsShown(prediction.scores[c]));
  }

  void AddClass(const Prediction& prediction, size_t number, const std::string& prefix,
                const std::string& place, TableRow& row) const {
    row.Add(prefix + "class" + place, ClassName(ClassNamesFor(predictor_, prediction), number));
    row.Add(prefix + "label" + place, number);
    row.Add(prefix + "probability" + place, AsShown(prediction.probabilities[number]));
  }

  TableRow RowOf(const PredictedBatch& batch, size_t i) const {
    TableRow answer;
    AddAnswer(batch.predictions[i], "", answer);
    const auto number = static_cast<int64_t>(i);
    TableRow row;
    row.Add("sample", batch.first + number);
    if (!batch.numbers.empty()) row.Add("index", batch.numbers[i]);
    if (named_) row.Add("file", batch.files.empty() ? "" : batch.files[i]);
    for (size_t f = 0; f < batch.fields.size(); ++f) {
      const std::string& name = arguments_.fields[f];
      const bool taken =
          std::ranges::count(answer.columns, name) + std::ranges::count(row.columns, name) > 0;
      AddNumbered(taken ? "fields." + name : name, RowValue(batch.fields[f], number), row);
    }
    for (size_t c = 0; c < answer.columns.size(); ++c)
      row.Add(std::move(answer.columns[c]), std::move(answer.values[c]));
    return row;
  }

  Status OtherColumns(const TableRow& row) const {
    const auto number = row.values.front().get<int64_t>();
    return InvalidArgument(
        "--to {}: sample {} has {} values and those before it {}: a table has as many in each row. "
        "Leave the field of --fields that has another length out, or write lines of JSON, to a "
        "file that ends in .jsonl",
        arguments_.to, number, row.values.size(), columns_.size());
  }

  const PredictArguments& arguments_;
  const Predictor& predictor_;
  bool named_ = false;                // whether samples of the first batch have files of their own
  std::vector<std::string> columns_;  // of the file
  std::optional<CsvRowWriter> file_;
};

// The endings of tables.
bool IsTable(std::string_view file) {
  const std::string_view name = WithoutCompressedEnding(file);
  const bool read = name.size() == file.size() || file.ends_with(".gz");
  return read && (HasEnding(name, ".csv") || HasEnding(name, ".tsv"));
}

}  // namespace

std::unique_ptr<PredictionOutput> MakePredictionTable(const PredictArguments& arguments,
                                                      const Predictor& predictor) {
  return std::make_unique<PredictionTable>(arguments, predictor);
}

std::unique_ptr<PredictionOutput> MakePredictionOutput(const PredictArguments& arguments,
                                                       const Predictor& predictor) {
  return IsTable(arguments.to) ? MakePredictionTable(arguments, predictor)
                               : MakePredictionLines(arguments, predictor);
}

}  // namespace stoker
