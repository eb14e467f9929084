#include "stoker/tools/features/recipe_draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "stoker/base/config_scalar.h"
#include "stoker/base/json_text.h"
#include "stoker/base/printable.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr int64_t kMostWords = 1000;     // of a column that serves as a category
constexpr int64_t kLookedUpWords = 100;  // which get a number of their own
constexpr double kSuspicious = 0.98;     // ExplainedShare
constexpr double kFarOut = 20;           // deviations from the mean
constexpr size_t kLineWidth = 110;
constexpr std::string_view kMarksInWords = "_./-";  // that YAML leaves to a word

// A text as a scalar within [] or {}.
std::string Scalar(const std::string& text) {
  const bool plain =
      !text.empty() && text.front() != '-' && std::ranges::all_of(text, [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               kMarksInWords.find(static_cast<char>(c)) != std::string_view::npos;
      });
  if (plain && !LooksLikeBool(text) && !LooksLikeNull(text) && !LooksLikeNumber(text)) return text;
  return DumpJson(Json(text));
}

// Items with commas between them, in lines that begin with `indent`, of about a hundred letters.
std::string Wrapped(const std::vector<std::string>& items, size_t indent, size_t column) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) {
      text += ',';
      ++column;
      if (column + items[i].size() + 1 > kLineWidth) {
        text += fmt::format("\n{:{}}", "", indent);
        column = indent;
      } else {
        text += ' ';
        ++column;
      }
    }
    text += items[i];
    column += items[i].size();
  }
  return text;
}

bool NamesRows(const std::string& name) {
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  return name == "id" || ends("_id") || ends("Id") || ends("ID");
}

ColumnChoice ChooseText(const ColumnProfile& column) {
  const int64_t there = column.rows - column.missing;
  if (column.AllDiffer()) return {ColumnUse::kLeftOut, "no value is there twice"};
  if (column.different > kMostWords || column.more)
    return {ColumnUse::kLeftOut, fmt::format("over {} different texts", WithThousands(kMostWords))};
  if (column.different * 2 > there) return {ColumnUse::kLeftOut, "most texts are there once"};
  if (column.odd) {
    return {ColumnUse::kCategory, fmt::format("numbers, but for '{}' in row {}", column.odd->cell,
                                              WithThousands(static_cast<double>(column.odd->row)))};
  }
  return {ColumnUse::kCategory,
          column.different > kLookedUpWords
              ? fmt::format("the {} most frequent texts count", kLookedUpWords)
              : ""};
}

ColumnChoice ChooseNumber(const ColumnProfile& column) {
  if (column.counts_up && column.AllDiffer()) return {ColumnUse::kLeftOut, "numbers the rows"};
  if (column.whole && column.AllDiffer() && NamesRows(column.name))
    return {ColumnUse::kLeftOut, "by its name it says which row it is"};
  ColumnChoice made{ColumnUse::kNumber, ""};
  const double farthest =
      std::max(column.greatest - column.mean, column.mean - column.least) / column.deviation;
  if (farthest > kFarOut) {
    made = {ColumnUse::kPlace,
            fmt::format("the farthest is {:.0f} deviations from the mean", farthest)};
  }
  if (column.missing > 0) {
    made.why += fmt::format("{}missing ones become the median, {}", made.why.empty() ? "" : "; ",
                            column.median);
  }
  return made;
}

ColumnChoice Choose(const TableProfile& table, size_t i) {
  const ColumnProfile& column = table.columns[i];
  if (table.target == i) {
    return {
        ColumnUse::kTarget,
        column.missing == 0 ? "" : fmt::format("missing in {}", CountText(column.missing, "row"))};
  }
  if (column.kind == ColumnKind::kEmpty) return {ColumnUse::kLeftOut, "every cell is missing"};
  if (column.IsConstant() && (column.missing == 0 || column.kind == ColumnKind::kNumbers))
    return {ColumnUse::kLeftOut, "one value in all rows"};
  if (table.target && table.relations[i].disguised)
    return {ColumnUse::kLeftOut, "is the target in another form"};
  ColumnChoice made =
      column.kind == ColumnKind::kNumbers ? ChooseNumber(column) : ChooseText(column);
  if (made.use != ColumnUse::kLeftOut && table.target &&
      table.relations[i].explained >= kSuspicious) {
    made.why = "tells the target nearly by itself: is it known beforehand?";
  }
  return made;
}

// The parts of a recipe that depend on the columns.
class Draft {
 public:
  Draft(const TableProfile& table, const std::vector<ColumnChoice>& choices)
      : table_(table), choices_(choices), target_(table.columns[*table.target]) {
    for (const ColumnProfile& column : table.columns) names_.insert(column.name);
    numbers_ = Free("numbers");
    features_ = Free("features");
    places_ = Free("places");
  }

  bool IsEmpty() const {
    return std::ranges::none_of(choices_, [](const ColumnChoice& choice) {
      return choice.use != ColumnUse::kTarget && choice.use != ColumnUse::kLeftOut;
    });
  }
  const std::string& features() const { return features_; }
  std::string target() const { return Scalar(target_.name); }

  // Class numbers as they are, if they begin with 0 and none is left out.
  bool TargetIsNumbered() const {
    return !table_.target_is_number && target_.kind == ColumnKind::kNumbers && target_.whole &&
           target_.least == 0 && target_.greatest + 1 == static_cast<double>(target_.different);
  }
  int64_t Classes() const { return table_.target_is_number ? 1 : target_.different; }

  enum class With { kTarget, kNoTarget };
  std::vector<std::string> Fields(With with) const {
    std::vector<std::string> fields;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      const std::string type = i == *table_.target && with == With::kNoTarget ? "" : TypeOf(i);
      if (!type.empty())
        fields.push_back(fmt::format("{}: {}", Scalar(table_.columns[i].name), type));
    }
    return fields;
  }

  // What cells mean a missing number, as an option of csv; empty: none.
  std::string Marks() const {
    std::set<std::string> marks;
    for (size_t i = 0; i < choices_.size(); ++i) {
      if (!IsNumber(choices_[i].use)) continue;
      for (const std::string& mark : table_.columns[i].marks) marks.insert(DumpJson(Json(mark)));
    }
    return marks.empty() ? "" : fmt::format("na_values: [{}]", fmt::join(marks, ", "));
  }

  // The stages of both sides, in lines.
  std::string Stages() const {
    std::string text;
    std::vector<std::string> joined;
    AddJoined(NamesOf(ColumnUse::kNumber), numbers_, "", text, joined);
    const std::vector<std::string> places = NamesOf(ColumnUse::kPlace);
    for (const std::string& name : places)
      text += fmt::format("    - bucketize: {{bounds: auto, quantiles: 64, field: {}}}\n", name);
    AddJoined(places, places_, ", dtype: float32", text, joined);
    for (size_t i = 0; i < choices_.size(); ++i) {
      if (choices_[i].use != ColumnUse::kCategory) continue;
      const std::string name = Scalar(table_.columns[i].name);
      const int64_t words =
          std::min(table_.columns[i].different + (table_.columns[i].missing > 0), kLookedUpWords);
      const bool limited = table_.columns[i].different > kLookedUpWords;
      text += fmt::format(
          "    - lookup: {{values: auto, {}reserve: 1, unknown: 0, field: {}}}\n"
          "    - one_hot: {{classes: {}, field: {}}}\n",
          limited ? fmt::format("limit: {}, ", kLookedUpWords) : "", name, words + 1, name);
      joined.push_back(name);
    }
    text += fmt::format("    - join: {{fields: [{}], to: {}}}\n    - cache\n",
                        Wrapped(joined, 21, 21), features_);
    return text;
  }

  // In data.source, so that another source for prediction has neither the target nor this.
  std::string LookupOfTarget() const {
    if (table_.target_is_number || TargetIsNumbered()) return "";
    return fmt::format("    - lookup: {{values: auto, field: {}}}\n", target());
  }

  std::string LeftOut() const {
    std::vector<std::string> texts;
    for (size_t i = 0; i < choices_.size(); ++i) {
      if (choices_[i].use != ColumnUse::kLeftOut) continue;
      texts.push_back(fmt::format("{} ({})", Printable(table_.columns[i].name), choices_[i].why));
    }
    return texts.empty() ? "" : fmt::format("# Left out: {}.\n", fmt::join(texts, "; "));
  }

  std::string Target() const {
    if (!table_.target_is_number) return target();
    // The logarithm where the greatest number is far beyond most.
    const bool log = target_.least > 0 && target_.greatest > 5 * target_.median;
    return fmt::format("{{{}: {{normalize: auto{}}}}}", target(), log ? ", log: true" : "");
  }

 private:
  static bool IsNumber(ColumnUse use) {
    return use == ColumnUse::kNumber || use == ColumnUse::kPlace;
  }

  std::vector<std::string> NamesOf(ColumnUse use) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < choices_.size(); ++i) {
      if (choices_[i].use == use) names.push_back(Scalar(table_.columns[i].name));
    }
    return names;
  }

  // The stages that make one normalised field of several, if there are any.
  static void AddJoined(const std::vector<std::string>& names, const std::string& to,
                        std::string_view options, std::string& text,
                        std::vector<std::string>& joined) {
    if (names.empty()) return;
    text += fmt::format("    - join: {{fields: [{}], to: {}{}}}\n", Wrapped(names, 21, 21), to,
                        options);
    text += fmt::format("    - normalize: {{mean: auto, field: {}}}\n", to);
    joined.push_back(to);
  }

  // A name that no column has.
  std::string Free(std::string name) const {
    while (names_.contains(name)) name += '_';
    return name;
  }

  std::string TypeOf(size_t i) const {
    switch (choices_[i].use) {
      case ColumnUse::kLeftOut: return "";
      case ColumnUse::kCategory: return "text";
      case ColumnUse::kNumber:
      case ColumnUse::kPlace:
        return table_.columns[i].missing == 0
                   ? "float32"
                   : fmt::format("{{type: float32, default: {}}}", table_.columns[i].median);
      case ColumnUse::kTarget: break;
    }
    if (table_.target_is_number) return "float32";
    return TargetIsNumbered() ? "int64" : "text";
  }

  const TableProfile& table_;
  const std::vector<ColumnChoice>& choices_;
  const ColumnProfile& target_;
  std::set<std::string> names_;
  std::string numbers_, places_, features_;
};

bool IsCompressed(const std::string& file) {
  constexpr std::string_view kEnds[] = {".gz", ".bz2", ".xz", ".zst", ".lz4", ".zip"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return file.ends_with(end); });
}

int64_t BatchSize(int64_t rows) {
  if (rows < 2'000) return 32;
  return rows < 20'000 ? 128 : 256;
}

// About as many that the model sees 4,000 batches.
int64_t Epochs(int64_t rows, int64_t batch) {
  return std::clamp<int64_t>(4'000 * batch / std::max<int64_t>(1, rows * 4 / 5), 5, 100);
}

}  // namespace

std::string_view NameOf(ColumnUse use) {
  switch (use) {
    case ColumnUse::kTarget: return "target";
    case ColumnUse::kNumber: return "number";
    case ColumnUse::kPlace: return "place";
    case ColumnUse::kCategory: return "category";
    case ColumnUse::kLeftOut: return "left out";
  }
  return "";
}

std::vector<ColumnChoice> ChooseColumns(const TableProfile& table) {
  std::vector<ColumnChoice> choices;
  for (size_t i = 0; i < table.columns.size(); ++i) choices.push_back(Choose(table, i));
  return choices;
}

Result<std::string> DraftRecipe(const TableProfile& table, const std::vector<ColumnChoice>& choices,
                                const std::string& root, const std::string& file) {
  const Draft draft(table, choices);
  const ColumnProfile& target = table.columns[*table.target];
  const std::string name = Printable(target.name);
  if (draft.IsEmpty()) {
    return InvalidArgument(
        "no column is left from which {} could be told; `stoker features {}` says why", name,
        Printable(table.file));
  }
  if (target.missing > 0) {
    return InvalidArgument(
        "--target {}: {} without it; take them out of the table first", name,
        target.missing == 1
            ? "one row is"
            : fmt::format("{} rows are", WithThousands(static_cast<double>(target.missing))));
  }
  const std::string marks = draft.Marks();
  const int64_t batch = BatchSize(table.rows);
  const bool stratify = draft.TargetIsNumbered() && !IsCompressed(file);
  return fmt::format(
      R"(# Drafted by `stoker features` from {rows} rows, to tell {name}. What says `auto` is learned from the rows for training.
{left_out}# For rows without {name} another source takes the place of this one:
#   stoker predict RUN --set data.split=null --set 'data.source=[csv: {{files: NEW.csv, {new_marks}fields: {{{predicted}}}}}]'

data:
  root: {root}

  source:
    - csv:
        files: {file}
{marks}        fields: {{{fields}}}
{lookup}  # Every fifth row is for evaluation.
  split: {{eval: 0.2, seed: 1{stratify}}}

  train:
{stages}    - shuffle
    - batch: {{size: {batch}, drop_remainder: {drop}}}
    - prefetch

  # The same, with what training has learned.
  eval:
{stages}    - batch: {{size: {eval_batch}}}

model:
  mlp: {{classes: {classes}, hidden: [{width}, {width}]}}

train:
  epochs: {epochs}
  seed: 1
  input: {features}
  target: {target}
  loss: {loss}
{metrics}  optimizer:
    adamw: {{weight_decay: 0.01}}
  schedule:
    one_cycle: {{max_lr: 0.01}}
)",
      fmt::arg("rows", WithThousands(static_cast<double>(table.rows))), fmt::arg("name", name),
      fmt::arg("left_out", draft.LeftOut()), fmt::arg("root", Scalar(root)),
      fmt::arg("file", Scalar(file)),
      fmt::arg("marks", marks.empty() ? "" : fmt::format("        {}\n", marks)),
      fmt::arg("new_marks", marks.empty() ? "" : marks + ", "),
      fmt::arg("fields", Wrapped(draft.Fields(Draft::With::kTarget), 17, 17)),
      fmt::arg("lookup", draft.LookupOfTarget()),
      fmt::arg("predicted", fmt::join(draft.Fields(Draft::With::kNoTarget), ", ")),
      fmt::arg("stratify", stratify ? fmt::format(", stratify: {}", draft.target()) : ""),
      fmt::arg("stages", draft.Stages()), fmt::arg("batch", batch),
      fmt::arg("drop", table.rows >= 4 * batch), fmt::arg("eval_batch", 4 * batch),
      fmt::arg("classes", draft.Classes()), fmt::arg("width", table.rows < 20'000 ? 128 : 256),
      fmt::arg("epochs", Epochs(table.rows, batch)), fmt::arg("features", draft.features()),
      fmt::arg("target", draft.Target()),
      fmt::arg("loss", table.target_is_number ? "mse" : "cross_entropy"),
      fmt::arg("metrics", table.target_is_number ? "  metrics: [rmse, mae, r2]\n" : ""));
}

}  // namespace stoker
