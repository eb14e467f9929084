#include "python/module/python_map.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "python/module/bound_function.h"
#include "python/module/user_code.h"
#include "stoker/data/core/check_element.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/user_transform.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/filter.h"

namespace stoker::python {
namespace {

// Elements that a spec is learned from: extents in which they differ are those that may.
constexpr int kLearnedFrom = 4;
// Arguments of one message: many small elements, and not much more memory than a large one needs.
constexpr int64_t kBytesAtOnce = int64_t{1} << 20;

// Asks the function in this process, while the pipeline is built.
Result<Spec> LearnSpec(const BoundFunction& function, const Dataset& input) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> pass,
                          input.Open(Runtime::Inline(), {.losses = LossLogging::kNone}));
  std::vector<Element> elements;
  for (int i = 0; i < kLearnedFrom; ++i) {
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, pass->Next());
    if (!element) break;
    elements.push_back(*std::move(element));
  }
  if (elements.empty()) {
    return InvalidArgument(
        "{}: the input has no element that the function could be tried with; say with spec= what "
        "it returns",
        function.title());
  }
  return function.Learn(elements);
}

Status OfElement(const BoundFunction& function, const SampleKey& key, const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(),
                fmt::format("{}: element {}: {}", function.title(), key.index, status.message()));
}

class PythonTransform final : public UserTransform {
 public:
  PythonTransform(BoundFunction function, Spec output, bool random)
      : function_(std::move(function)), output_(std::move(output)), random_(random) {}

  bool random() const override { return random_; }
  bool works_on_columns() const override { return true; }

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    const std::array<uint64_t, 1> seed{rng.NextU64()};
    const auto take = [&](std::span<const WorkerArray> arrays) {
      element.arrays.clear();
      for (const WorkerArray& array : arrays) element.arrays.push_back(CopiedTo(array, scratch));
    };
    STOKER_RETURN_IF_ERROR(OfElement(
        function_, element.key,
        function_.Call({.rows = -1, .arrays = element.arrays, .seeds = Seeds(seed)}, take)));
    return CheckElement(function_.title(), output_, element);
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    if (UserCode::calls_here()) return Transform::ApplyRows(rows, rngs, scratch);
    std::vector<Array> columns;
    for (const Field& field : output_.fields)
      columns.push_back(scratch.NewRows(rows.size(), field.dtype, field.shape));
    const int64_t row_bytes =
        std::max<int64_t>(1, rows.num_bytes() / rows.size() + output_.ElementBytes().value_or(0));
    const int64_t step = std::clamp<int64_t>(kBytesAtOnce / row_bytes, 1, rows.size());
    for (int64_t begin = 0; begin < rows.size(); begin += step) {
      if (scratch.stopped()) return AskedToStop(PythonMap::kName);
      const int64_t end = std::min(rows.size(), begin + step);
      STOKER_RETURN_IF_ERROR(ApplySlice(rows.Slice(begin, end), rngs, begin, columns));
    }
    rows.columns = std::move(columns);
    return OkStatus();
  }

 private:
  std::span<const uint64_t> Seeds(std::span<const uint64_t> seeds) const {
    return random_ ? seeds : std::span<const uint64_t>();
  }

  Status ApplySlice(const Rows& rows, const RngFactory& rngs, int64_t begin,
                    std::vector<Array>& columns) const {
    std::vector<uint64_t> seeds;
    for (size_t i = 0; random_ && i < rows.keys.size(); ++i)
      seeds.push_back(rngs.For(rows.keys[i]).NextU64());
    int64_t failed = -1;
    bool fit = true;
    const auto take = [&](std::span<const WorkerArray> arrays) {
      fit = arrays.size() == columns.size();
      for (size_t f = 0; fit && f < columns.size(); ++f) {
        const Array to = columns[f].Rows(begin, begin + rows.size());
        fit = arrays[f].dtype == to.dtype() && arrays[f].shape == to.shape();
        if (fit && to.num_bytes() > 0) std::memcpy(to.data(), arrays[f].data, to.num_bytes());
      }
    };
    Status status = function_.Call({.rows = rows.size(), .arrays = rows.columns, .seeds = seeds},
                                   take, &failed);
    if (!fit) status = Internal("the results of a worker process are not what it was asked for");
    if (failed >= 0 && failed < rows.size())
      return OfElement(function_, rows.keys[static_cast<size_t>(failed)], status);
    if (status.ok() || rows.size() == 1) return OfElement(function_, rows.keys[0], status);
    return Status(status.code(),
                  fmt::format("{}: one of {} elements from {} on: {}", function_.title(),
                              rows.size(), rows.keys[0].index, status.message()));
  }

  const BoundFunction function_;
  const Spec output_;
  const bool random_;
};

}  // namespace

void PythonMap::Describe(OptionTable<PythonMap>& table) {
  table.Field("function", &PythonMap::function, "module:name of a function of {field: array}")
      .Required()
      .Field("field", &PythonMap::field, "the function gets this field alone; empty: all of them")
      .Field("fields", &PythonMap::fields, "names of what it returns, if that is no dict")
      .Field("to", &PythonMap::to, "what it gets", OneOf{{"numpy", "torch"}})
      .Field("random", &PythonMap::random, "whether it draws random numbers");
}

Result<Dataset> PythonMap::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(
      BoundFunction bound,
      BoundFunction::Map(function, input.spec(), {.field = field, .fields = fields, .to = to}));
  STOKER_ASSIGN_OR_RETURN(Spec output, SpecOf(spec));
  if (output.fields.empty()) {
    STOKER_ASSIGN_OR_RETURN(output, LearnSpec(bound, input));
  }
  STOKER_RETURN_IF_ERROR(bound.Promise(output, /*learned=*/spec.empty()));
  std::string details = bound.called();
  return MapDataset(std::move(input), std::string(kName), std::move(details), output,
                    std::make_shared<PythonTransform>(std::move(bound), output, random));
}

void PythonFilter::Describe(OptionTable<PythonFilter>& table) {
  table.Field("function", &PythonFilter::function, "module:name of a function of {field: array}")
      .Required()
      .Field("field", &PythonFilter::field,
             "the function gets this field alone; empty: all of them")
      .Field("to", &PythonFilter::to, "what it gets", OneOf{{"numpy", "torch"}});
}

Result<Dataset> PythonFilter::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(
      const BoundFunction bound,
      BoundFunction::Filter(function, input.spec(), {.field = field, .to = to}));
  return Filter{.predicate = [bound](const Element& element) -> Result<bool> {
           bool keep = false;
           const Status status = bound.Call({.rows = -1, .arrays = element.arrays},
                                            [&](std::span<const WorkerArray> arrays) {
                                              keep = arrays[0].data[0] != std::byte{0};
                                            });
           if (!status.ok()) return OfElement(bound, element.key, status);
           return keep;
         }}
      .Build(std::move(input));
}

}  // namespace stoker::python

template <>
const std::vector<stoker::Option>& stoker::OptionsOf<stoker::python::PythonMap>() {
  using stoker::python::PythonMap;
  static const auto options = WithObjectsBehind<PythonMap>({ObjectOption(
      "spec", &PythonMap::spec,
      "type and shape of each field that it returns; empty: found out with the first elements")});
  return options;
}
