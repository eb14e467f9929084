#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/printable.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/image/cast.h"
#include "stoker/image/contact_sheet.h"
#include "stoker/image/encode_png.h"
#include "stoker/io/atomic_file.h"
#include "stoker/tools/inspect/inspect_file.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr size_t kMostSingles = 64;  // of a pipeline without batches

// Where the pictures of an element stand, and whether there are many in it.
struct PictureField {
  size_t index = 0;
  std::string name;
  bool batched = false;
};

Result<PictureField> FindPictures(const Spec& spec) {
  std::optional<PictureField> found;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    const Field& field = spec.fields[i];
    const std::span<const int64_t> shape = field.shape;
    const bool batched = shape.size() == 4;
    if (!IsPictureShape(batched ? shape.subspan(1) : shape)) continue;
    if (!found || field.name == "image") found = {i, field.name, batched};
  }
  if (found) return *std::move(found);
  return InvalidArgument(
      "data.train gives {}, in which no field is a picture: [1 or 3, height, width], alone or in "
      "batches; put `decode` after files",
      spec.ToString());
}

// The classes of the samples of one array of labels: numbers, or scores of which the largest
// counts.
std::vector<int64_t> ClassesOf(const Array& labels, size_t samples) {
  const auto n = static_cast<size_t>(labels.num_values());
  if (samples == 0 || n % samples != 0) return {};
  std::vector<double> values(n);
  CastValues(labels.dtype(), labels.data(), n, DType::kFloat64,
             reinterpret_cast<std::byte*>(values.data()));
  const auto classes = static_cast<int64_t>(n / samples);
  std::vector<int64_t> found;
  for (auto row = values.begin(); row != values.end(); row += classes) {
    found.push_back(classes == 1 ? static_cast<int64_t>(*row)
                                 : std::max_element(row, row + classes) - row);
  }
  return found;
}

struct Shown {
  std::vector<Array> pictures;
  std::vector<int64_t> labels;  // of as many, or none
};

void Add(const Element& element, const PictureField& pictures, std::optional<size_t> label,
         Shown& shown) {
  const Array& array = element.arrays[pictures.index];
  const int64_t samples = pictures.batched ? array.shape()[0] : 1;
  for (int64_t i = 0; i < samples; ++i)
    shown.pictures.push_back(pictures.batched ? array.Row(i) : array);
  if (!label) return;
  for (const int64_t number : ClassesOf(element.arrays[*label], static_cast<size_t>(samples)))
    shown.labels.push_back(number);
}

// The first batch, or as many single elements.
Result<Shown> FirstPictures(const Dataset& dataset, const PictureField& pictures) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> pass,
                          dataset.Open(Runtime::Threaded(), {.losses = LossLogging::kNone}));
  std::optional<size_t> label;
  for (size_t i = 0; i < dataset.spec().fields.size(); ++i) {
    if (dataset.spec().fields[i].name == "label") label = i;
  }
  Shown shown;
  while (shown.pictures.empty() || (!pictures.batched && shown.pictures.size() < kMostSingles)) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, pass->Next());
    if (!element) break;
    Add(*element, pictures, label, shown);
  }
  if (shown.labels.size() != shown.pictures.size()) shown.labels.clear();
  return shown;
}

// What the one `normalize` of the pictures' field does, where there is one that can be undone.
std::optional<Denormalization> FindNormalization(const ConfigNode& data, const std::string& field) {
  std::optional<Denormalization> found;
  const std::optional<ConfigNode> train = WholePipeline(data, "train");
  for (const ConfigNode& stage : train->items) {
    const ConfigNode* options = stage.Find(Normalize::kName);
    Normalize normalize;
    if (options == nullptr || !ParseOptionsOf(*options, normalize).ok()) continue;
    if (normalize.field != field) continue;
    if (found || normalize.per_sample || normalize.scale) return std::nullopt;
    found = {normalize.mean, normalize.std};
  }
  return found;
}

std::string NameOf(int64_t label, const std::vector<std::string>& classes) {
  const bool named = label >= 0 && label < std::ssize(classes);
  return named ? classes[static_cast<size_t>(label)] : std::to_string(label);
}

std::string LabelTable(const Shown& shown, int64_t columns,
                       const std::vector<std::string>& classes) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < shown.labels.size(); ++i) {
    if (static_cast<int64_t>(i) % columns == 0) rows.emplace_back();
    rows.back().push_back(NameOf(shown.labels[i], classes));
  }
  return TableText(rows, 2);
}

}  // namespace

Result<Inspection> InspectGrid(const std::string& path, const std::vector<std::string>& assignments,
                               const std::string& to) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ReadRecipe(path, assignments));
  SetPluginPolicy(PluginPolicy::kLeaveOut);
  STOKER_RETURN_IF_ERROR(LoadPlugins(recipe, std::filesystem::path(path).parent_path()));
  STOKER_ASSIGN_OR_RETURN(const DataRecipe data,
                          ParseDataSection(recipe, std::filesystem::path(path).parent_path()));
  STOKER_ASSIGN_OR_RETURN(const PictureField field, FindPictures(data.train.spec()));
  STOKER_ASSIGN_OR_RETURN(const Shown shown, FirstPictures(data.train, field));
  const std::optional<Denormalization> normalization = FindNormalization(data.filled, field.name);
  STOKER_ASSIGN_OR_RETURN(const ContactSheet sheet,
                          MakeContactSheet(shown.pictures, normalization));
  STOKER_ASSIGN_OR_RETURN(const std::string png, EncodePng(sheet.pixels));
  STOKER_RETURN_IF_ERROR(WriteFileAtomically(to, std::as_bytes(std::span(png))));

  const bool bytes = shown.pictures.front().dtype() == DType::kUInt8;
  const std::string values = bytes           ? "as they are"
                             : normalization ? "with mean and std of normalize taken back"
                                             : "each stretched from black to white";
  Inspection out;
  out.json = {{"file", path},
              {"grid", to},
              {"pictures", shown.pictures.size()},
              {"columns", sheet.columns},
              {"field", data.train.spec().fields[field.index].ToString()},
              {"values", values},
              {"labels", shown.labels}};
  out.text = fmt::format("{}: {} pictures, {} in a row, values {}\n  {}\n", Printable(to),
                         shown.pictures.size(), sheet.columns, values,
                         Printable(data.train.spec().fields[field.index].ToString())) +
             LabelTable(shown, sheet.columns, data.classes);
  return out;
}

}  // namespace stoker
