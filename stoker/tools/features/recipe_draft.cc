#include "stoker/tools/features/recipe_draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "stoker/base/config.h"
#include "stoker/base/printable.h"
#include "stoker/data/options/feature_columns.h"
#include "stoker/io/decompression.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr int64_t kMostClasses = 1000;
constexpr size_t kLineWidth = 110;

constexpr const char* kRecipe =
    R"(# Drafted by `stoker features` from {rows} rows, to tell {name}. What says `auto` is learned from the rows for training.
{left_out}# For rows without {name} another source takes the place of this one. NEW.csv is looked for in data.root:
#   stoker predict RUN --set data.split=null --set {source}

data:
  root: {root}

  source:
    - csv:
        files: {file}
{header}{marks}        fields: {{{fields}}}
{lookup}  # Every fifth row is for evaluation.
  split: {{eval: 0.2, seed: 1{stratify}}}

  # What each column is to the model (docs/features.md).
  features:
{features}
  train:
    - cache
    - shuffle
    - batch: {{size: {batch}, drop_remainder: {drop}}}
    - prefetch

  # The same features, with what training has learned.
  eval:
    - batch: {{size: {eval_batch}}}

model:
  mlp: {{classes: {classes}, hidden: [{width}, {width}]}}

train:
  {length}
  seed: 1
  target: {target}
  loss: {loss}
{metrics}  optimizer:
    adamw: {{weight_decay: 0.01}}
  schedule:
    one_cycle: {{max_lr: 0.01}}
)";

std::string Scalar(const std::string& text) { return ToYamlLine(ConfigNode::Scalar(text)); }

// Items with commas between them, in lines of about a hundred letters that begin at `indent`.
std::string Wrapped(const std::vector<std::string>& items, size_t indent) {
  std::string text;
  size_t column = indent;
  for (const std::string& item : items) {
    if (!text.empty()) {
      const bool fits = column + 2 + item.size() <= kLineWidth;
      text += fits ? ", " : fmt::format(",\n{:{}}", "", indent);
      column = fits ? column + 2 : indent;
    }
    text += item;
    column += item.size();
  }
  return text;
}

// The parts of a recipe that depend on the columns.
class Draft {
 public:
  Draft(const TableProfile& table, const std::vector<ColumnChoice>& choices)
      : table_(table), choices_(choices), target_(table.columns[*table.target]) {
    for (const ColumnProfile& column : table.columns) names_.insert(column.name);
  }

  bool IsEmpty() const {
    return std::ranges::none_of(choices_, [](const ColumnChoice& choice) {
      return choice.use != ColumnUse::kTarget && choice.use != ColumnUse::kLeftOut;
    });
  }
  std::string target() const { return Scalar(target_.name); }

  // Class numbers as they are, if they begin with 0 and none is left out.
  bool TargetIsNumbered() const {
    return !table_.target_is_number && target_.kind == ColumnKind::kNumbers &&
           target_.written_whole && target_.least == 0 &&
           target_.greatest + 1 == static_cast<double>(target_.different);
  }
  int64_t Classes() const { return table_.target_is_number ? 1 : target_.different; }

  // kNoTarget: of new rows, in which any number may be missing.
  enum class With { kTarget, kNoTarget };
  std::vector<std::string> Fields(With with) const {
    std::vector<std::string> fields;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      const std::string type =
          i == *table_.target && with == With::kNoTarget ? "" : TypeOf(i, with);
      if (!type.empty())
        fields.push_back(fmt::format("{}: {}", Scalar(table_.columns[i].name), type));
    }
    return fields;
  }

  // What cells mean a missing number.
  std::set<std::string> Marks() const {
    std::set<std::string> marks;
    for (size_t i = 0; i < choices_.size(); ++i) {
      if (IsNumber(choices_[i].use) || (i == *table_.target && table_.target_is_number))
        marks.insert(table_.columns[i].marks.begin(), table_.columns[i].marks.end());
    }
    return marks;
  }

  // Whether the name of a column is a mark, so that its row does not look like a header.
  bool HasMarkAsName() const {
    return std::ranges::any_of(Marks(),
                               [&](const std::string& mark) { return names_.contains(mark); });
  }

  // What each column is to the model, in lines.
  std::string Features() const {
    std::string text;
    for (size_t i = 0; i < choices_.size(); ++i) {
      const std::string kind = KindOf(i);
      if (!kind.empty()) text += fmt::format("    {}: {}\n", Scalar(table_.columns[i].name), kind);
    }
    return text;
  }

  // In data.source, so that another source for prediction has neither the target nor this. All
  // classes are named, since a rare one may be on the side for evaluation alone.
  std::string LookupOfTarget() const {
    if (table_.target_is_number || TargetIsNumbered()) return "";
    std::vector<std::string> words;
    for (const ValueCount& value : target_.common) words.push_back(Scalar(value.value));
    return fmt::format("    - lookup:\n        field: {}\n        values: [{}]\n", target(),
                       Wrapped(words, 17));
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

  // A kind of data.features; nothing if the column is none.
  std::string KindOf(size_t i) const {
    switch (choices_[i].use) {
      case ColumnUse::kNumber: return "numeric";
      case ColumnUse::kPlace: return "{numeric: {quantiles: 64}}";
      case ColumnUse::kCategory:
        return table_.columns[i].different > kMostOneHot
                   ? fmt::format("{{categorical: {{embedding: {}}}}}", kEmbeddingWidth)
                   : "categorical";
      case ColumnUse::kTarget:
      case ColumnUse::kLeftOut: break;
    }
    return "";
  }

  std::string TypeOf(size_t i, With with) const {
    switch (choices_[i].use) {
      case ColumnUse::kLeftOut: return "";
      case ColumnUse::kCategory: return "text";
      case ColumnUse::kNumber:
      case ColumnUse::kPlace:
        return table_.columns[i].missing == 0 && with == With::kTarget
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
};

int64_t BatchSize(int64_t rows) {
  if (rows < 2'000) return 32;
  return rows < 20'000 ? 128 : 256;
}

// As long as about 4,000 batches take. Of a compressed file, which is read in order, a recipe
// cannot know how many batches it has.
std::string LengthOf(int64_t rows, int64_t batch, bool is_compressed) {
  const int64_t rows_trained = std::max<int64_t>(1, rows * 4 / 5);
  const int64_t epochs = std::clamp<int64_t>(4'000 * batch / rows_trained, 5, 100);
  if (!is_compressed) return fmt::format("epochs: {}", epochs);
  return fmt::format("max_steps: {}", std::max<int64_t>(1, epochs * rows_trained / batch));
}

// Whether the recipe can be made, and would train.
Status CheckDraft(const TableProfile& table, const Draft& draft) {
  const ColumnProfile& target = table.columns[*table.target];
  const std::string name = Printable(target.name);
  if (target.name == kFeaturesField) {
    return InvalidArgument(
        "--target {}: a recipe calls the row of all features so; give the column another name",
        name);
  }
  if (draft.IsEmpty()) {
    const bool has_texts = std::ranges::any_of(table.columns, [](const ColumnProfile& column) {
      return column.kind == ColumnKind::kTexts;
    });
    return InvalidArgument(
        "no column is left that a model could learn {} from; run the command without --to to see "
        "why{}",
        name, has_texts ? "; docs/sequences.md says how to learn from the words of a text" : "");
  }
  if (target.missing > 0) {
    return InvalidArgument(
        "--target {}: {} without it; take them out of the table first", name,
        target.missing == 1
            ? "one row is"
            : fmt::format("{} rows are", WithThousands(static_cast<double>(target.missing))));
  }
  if (table.target_is_number) {
    if (target.FitsFloat32()) return OkStatus();
    return InvalidArgument("--target {}: has numbers that float32 does not hold, from {} to {}",
                           name, target.least, target.greatest);
  }
  if (target.more || target.different > kMostClasses || target.different * 2 > target.rows) {
    return InvalidArgument(
        "--target {}: has {} different values in {} rows, too many for classes{}", name,
        target.DifferentText(), WithThousands(static_cast<double>(target.rows)),
        target.kind == ColumnKind::kNumbers ? "; --as number estimates it" : "");
  }
  if (!target.is_utf8 || target.has_line_ends) {
    return InvalidArgument(
        "--target {}: a class cannot have a name {}", name,
        target.is_utf8 ? "with a line break in it" : "that is no UTF-8; convert the file (iconv)");
  }
  const std::set<std::string> marks = draft.Marks();
  for (const std::string& word : target.marks) {
    if (marks.contains(word)) {
      return InvalidArgument(
          "--target {}: '{}' is one of its classes, and means a missing number in other columns; "
          "give the class another name",
          name, word);
    }
  }
  return OkStatus();
}

}  // namespace

Result<std::string> DraftRecipe(const TableProfile& table, const std::vector<ColumnChoice>& choices,
                                const std::string& root, const std::string& file) {
  const Draft draft(table, choices);
  STOKER_RETURN_IF_ERROR(CheckDraft(table, draft));
  const std::set<std::string> marked = draft.Marks();
  std::vector<std::string> listed;
  for (const std::string& mark : marked) listed.push_back(Scalar(mark));
  const std::string marks =
      marked.empty() ? "" : fmt::format("na_values: [{}]", fmt::join(listed, ", "));
  const std::string source = fmt::format("data.source=[csv: {{files: NEW.csv, {}fields: {{{}}}}}]",
                                         marks.empty() ? "" : marks + ", ",
                                         fmt::join(draft.Fields(Draft::With::kNoTarget), ", "));
  const std::string name = Printable(table.columns[*table.target].name);
  const int64_t batch = BatchSize(table.rows);
  const bool is_compressed = WithoutCompressedEnding(file) != file;
  const bool stratify = draft.TargetIsNumbered() && !is_compressed;
  return fmt::format(
      kRecipe, fmt::arg("rows", WithThousands(static_cast<double>(table.rows))),
      fmt::arg("name", name), fmt::arg("left_out", draft.LeftOut()), fmt::arg("root", Scalar(root)),
      fmt::arg("file", Scalar(file)),
      fmt::arg("header", draft.HasMarkAsName() ? "        header: yes\n" : ""),
      fmt::arg("marks", marks.empty() ? "" : fmt::format("        {}\n", marks)),
      fmt::arg("fields", Wrapped(draft.Fields(Draft::With::kTarget), 17)),
      fmt::arg("lookup", draft.LookupOfTarget()), fmt::arg("source", ShellWord(source)),
      fmt::arg("stratify", stratify ? fmt::format(", stratify: {}", draft.target()) : ""),
      fmt::arg("features", draft.Features()), fmt::arg("batch", batch),
      fmt::arg("drop", table.rows >= 4 * batch), fmt::arg("eval_batch", 4 * batch),
      fmt::arg("classes", draft.Classes()), fmt::arg("width", table.rows < 20'000 ? 128 : 256),
      fmt::arg("length", LengthOf(table.rows, batch, is_compressed)),
      fmt::arg("target", draft.Target()),
      fmt::arg("loss", table.target_is_number ? "mse" : "cross_entropy"),
      fmt::arg("metrics", table.target_is_number ? "  metrics: [rmse, mae, r2]\n" : ""));
}

}  // namespace stoker
