#include "stoker/data/sources/libsvm.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "stoker/data/sources/text_rows_internal.h"
#include "stoker/formats/libsvm/libsvm_parser.h"

namespace stoker {
namespace {

constexpr double kMostFeatures = 1 << 28;

// Dense: x, label, query. Sparse: indices, values, label, query.
class LibsvmRows final : public RowParser {
 public:
  explicit LibsvmRows(const Libsvm& options)
      : form_{.first_index = options.first_index, .features = options.features},
        label_(options.label == "several" ? Label::kSeveral
               : options.label == "int64" ? Label::kWhole
                                          : Label::kNumber),
        query_(options.query) {}

  Spec MakeSpec() const {
    Spec spec;
    if (dense()) {
      spec.fields.push_back({"x", DType::kFloat32, {form_.features}});
    } else {
      spec.fields.push_back({"indices", DType::kInt64, {kUnknownDim}});
      spec.fields.push_back({"values", DType::kFloat32, {kUnknownDim}});
    }
    const bool several = label_ == Label::kSeveral;
    spec.fields.push_back({"label", label_ == Label::kNumber ? DType::kFloat32 : DType::kInt64,
                           several ? Shape{kUnknownDim} : Shape{}});
    if (query_) spec.fields.push_back({"query", DType::kInt64, {}});
    return spec;
  }

  Status Parse(std::string_view row, std::span<std::byte* const> memory,
               std::span<std::string> loose) const override {
    LibsvmSample sample;
    STOKER_RETURN_IF_ERROR(ParseLibsvm(row, form_, sample));
    size_t field = 0;
    if (dense()) {
      auto* const x = reinterpret_cast<float*>(memory[field++]);
      std::memset(x, 0, static_cast<size_t>(form_.features) * sizeof(float));
      for (size_t i = 0; i < sample.indices.size(); ++i) x[sample.indices[i]] = sample.values[i];
    } else {
      loose[field++].assign(reinterpret_cast<const char*>(sample.indices.data()),
                            sample.indices.size() * sizeof(int64_t));
      loose[field++].assign(reinterpret_cast<const char*>(sample.values.data()),
                            sample.values.size() * sizeof(float));
    }
    STOKER_RETURN_IF_ERROR(PutLabel(sample.labels, field, memory, loose));
    if (!query_) return OkStatus();
    if (sample.query < 0) return DataLoss("there is no qid:; leave out query");
    std::memcpy(memory[field + 1], &sample.query, sizeof(sample.query));
    return OkStatus();
  }

 private:
  enum class Label { kNumber, kWhole, kSeveral };

  bool dense() const { return form_.features > 0; }

  Status PutLabel(const std::vector<double>& labels, size_t field,
                  std::span<std::byte* const> memory, std::span<std::string> loose) const {
    if (label_ != Label::kSeveral && labels.size() > 1)
      return DataLoss("there are {} labels; set label: several", labels.size());
    if (label_ == Label::kNumber) {
      const auto value = static_cast<float>(labels.front());
      std::memcpy(memory[field], &value, sizeof(value));
      return OkStatus();
    }
    std::string whole;
    for (const double label : labels) {
      // Beyond, a double does not hold every whole number.
      constexpr double kLargest = 0x1p53;
      if (label != std::floor(label) || std::abs(label) > kLargest)
        return DataLoss("label {} is no whole number; set label: float32", label);
      const auto value = static_cast<int64_t>(label);
      whole.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    if (label_ == Label::kSeveral) {
      loose[field] = std::move(whole);
    } else {
      std::memcpy(memory[field], whole.data(), whole.size());
    }
    return OkStatus();
  }

  const LibsvmForm form_;
  const Label label_;
  const bool query_;
};

}  // namespace

void Libsvm::Describe(OptionTable<Libsvm>& table) {
  table
      .Field("features", &Libsvm::features,
             "how many there are, for dense samples; 0: sparse, indices and values",
             Between(0, kMostFeatures))
      .Field("first_index", &Libsvm::first_index, "what the first feature is called in the file",
             Between(0, 1))
      .Field("label", &Libsvm::label, "what it is; several: whole numbers with commas between",
             OneOf{{"float32", "int64", "several"}})
      .Field("query", &Libsvm::query, "the number after qid: too, as field `query`")
      .Field("index", &Libsvm::index,
             "where plain files' lines are: stored beside each file, found anew in memory at each "
             "start, or none: read in order",
             OneOf{{"stored", "memory", "none"}})
      .Field("max_bytes", &Libsvm::max_bytes, "the longest line that is taken",
             Between(1, kMostRowBytes));
}

template <>
const std::vector<Option>& OptionsOf<Libsvm>() {
  static const auto options = WithObjects<Libsvm>({ObjectOption(
      "files", &Libsvm::files, "which: 'train-*.svm', or a list", /*required=*/true)});
  return options;
}

Result<Dataset> Libsvm::Build() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  auto parser = std::make_shared<LibsvmRows>(*this);
  Spec spec = parser->MakeSpec();
  return TextRowsDataset({.name = kName,
                          .files = files.ToString(),
                          .paths = std::move(paths),
                          .dialect = {.quote = '\0', .comment = '#'},
                          .max_bytes = max_bytes,
                          .index = index,
                          .spec = std::move(spec),
                          .parser = std::move(parser)});
}

}  // namespace stoker
