#include "python/module/python_map.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "python/module/bound_function.h"
#include "python/module/python_call.h"
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

// Which fields a function gets, by their number: all, or the one that it asks for.
Result<std::vector<size_t>> ArgumentsOf(const Spec& input, const std::string& field) {
  std::vector<size_t> all;
  std::string names;
  for (size_t f = 0; f < input.fields.size(); ++f) {
    if (input.fields[f].name == field) return std::vector<size_t>{f};
    all.push_back(f);
    names += (f == 0 ? "" : ", ") + input.fields[f].name;
  }
  if (field.empty()) return all;
  return InvalidArgument("there is no field '{}'; the fields are {}", field, names);
}

Spec Picked(const Spec& spec, std::span<const size_t> fields) {
  Spec picked;
  for (const size_t f : fields) picked.fields.push_back(spec.fields[f]);
  return picked;
}

std::vector<Array> Picked(const std::vector<Array>& arrays, std::span<const size_t> fields) {
  std::vector<Array> picked;
  for (const size_t f : fields) picked.push_back(arrays[f]);
  return picked;
}

// Asks the function in this process, while the pipeline is built.
Result<Spec> LearnSpec(const BoundFunction& function, const Dataset& input,
                       std::span<const size_t> arguments) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> pass,
                          input.Open(Runtime::Inline(), {.losses = LossLogging::kNone}));
  std::vector<Element> elements;
  for (int i = 0; i < kLearnedFrom; ++i) {
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, pass->Next());
    if (!element) break;
    element->arrays = Picked(element->arrays, arguments);
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

// What becomes of a function's results.
enum class Place {
  kOfElement,  // they are all that there is then
  kOfField,    // the one result takes the place of the one field that the function gets
  kBehind,     // they are added behind the fields
};

// What a function is called with, and what it gives.
struct FunctionCall {
  BoundFunction function;
  std::vector<size_t> arguments;  // numbers of the fields that it gets
  Place place = Place::kOfElement;
  Spec results;
};

class PythonTransform final : public UserTransform {
 public:
  PythonTransform(FunctionCall call, Spec output, bool random)
      : call_(std::move(call)), output_(std::move(output)), random_(random) {}

  bool random() const override { return random_; }
  bool works_on_columns() const override { return true; }

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    const std::array<uint64_t, 1> seed{rng.NextU64()};
    const std::vector<Array> arguments = Picked(element.arrays, call_.arguments);
    std::vector<Array> results;
    const auto take = [&](std::span<const WorkerArray> arrays) {
      for (const WorkerArray& array : arrays) results.push_back(CopiedTo(array, scratch));
    };
    STOKER_RETURN_IF_ERROR(OfElement(
        call_.function, element.key,
        call_.function.Call({.rows = -1, .arrays = arguments, .seeds = Seeds(seed)}, take)));
    PutInto(element.arrays, std::move(results));
    return CheckElement(call_.function.title(), output_, element);
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    if (UserCode::calls_here()) return Transform::ApplyRows(rows, rngs, scratch);
    std::vector<Array> results;
    for (const Field& field : call_.results.fields)
      results.push_back(scratch.NewRows(rows.size(), field.dtype, field.shape));
    const int64_t row_bytes = std::max<int64_t>(
        1, rows.num_bytes() / rows.size() + call_.results.ElementBytes().value_or(0));
    const int64_t step = std::clamp<int64_t>(kBytesAtOnce / row_bytes, 1, rows.size());
    for (int64_t begin = 0; begin < rows.size(); begin += step) {
      if (scratch.stopped()) return AskedToStop(PythonMap::kName);
      const int64_t end = std::min(rows.size(), begin + step);
      STOKER_RETURN_IF_ERROR(ApplySlice(rows.Slice(begin, end), rngs, begin, results));
    }
    PutInto(rows.columns, std::move(results));
    return OkStatus();
  }

 private:
  std::span<const uint64_t> Seeds(std::span<const uint64_t> seeds) const {
    return random_ ? seeds : std::span<const uint64_t>();
  }

  void PutInto(std::vector<Array>& arrays, std::vector<Array> results) const {
    switch (call_.place) {
      case Place::kOfElement: arrays = std::move(results); break;
      case Place::kOfField:
        if (results.size() == 1) arrays[call_.arguments[0]] = std::move(results[0]);
        break;
      case Place::kBehind: std::ranges::move(results, std::back_inserter(arrays)); break;
    }
  }

  // Writes to the rows of `results` from `begin` on.
  Status ApplySlice(const Rows& rows, const RngFactory& rngs, int64_t begin,
                    std::vector<Array>& results) const {
    std::vector<uint64_t> seeds;
    for (size_t i = 0; random_ && i < rows.keys.size(); ++i)
      seeds.push_back(rngs.For(rows.keys[i]).NextU64());
    int64_t failed = -1;
    bool fit = true;
    const auto take = [&](std::span<const WorkerArray> arrays) {
      fit = arrays.size() == results.size();
      for (size_t f = 0; fit && f < results.size(); ++f) {
        const Array to = results[f].Rows(begin, begin + rows.size());
        fit = arrays[f].dtype == to.dtype() && arrays[f].shape == to.shape();
        if (fit && to.num_bytes() > 0) std::memcpy(to.data(), arrays[f].data, to.num_bytes());
      }
    };
    const std::vector<Array> arguments = Picked(rows.columns, call_.arguments);
    Status status = call_.function.Call({.rows = rows.size(), .arrays = arguments, .seeds = seeds},
                                        take, &failed);
    if (!fit) status = Internal("the results of a worker process are not what it was asked for");
    if (failed >= 0 && failed < rows.size())
      return OfElement(call_.function, rows.keys[static_cast<size_t>(failed)], status);
    if (status.ok() || rows.size() == 1) return OfElement(call_.function, rows.keys[0], status);
    return Status(status.code(),
                  fmt::format("{}: one of {} elements from {} on: {}", call_.function.title(),
                              rows.size(), rows.keys[0].index, status.message()));
  }

  const FunctionCall call_;
  const Spec output_;
  const bool random_;
};

// What the function returns: as the user says, or as its first results are.
Result<Spec> ResultsOf(const BoundFunction& function, const SpecOption& spec, const Dataset& input,
                       std::span<const size_t> arguments, const std::string& field) {
  STOKER_ASSIGN_OR_RETURN(Spec results, SpecOf(spec));
  if (results.fields.empty()) return LearnSpec(function, input, arguments);
  if (!field.empty() && (results.fields.size() != 1 || results.fields[0].name != field)) {
    return InvalidArgument("{}: with field= the spec is that of the field '{}' alone",
                           function.title(), field);
  }
  return results;
}

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
  STOKER_ASSIGN_OR_RETURN(const std::vector<size_t> arguments, ArgumentsOf(input.spec(), field));
  const Spec gets = Picked(input.spec(), arguments);
  STOKER_ASSIGN_OR_RETURN(std::optional<BoundFunction::WithResults> bound,
                          BoundFunction::OfFirst(gets));
  if (!bound) {
    STOKER_ASSIGN_OR_RETURN(
        BoundFunction made,
        BoundFunction::Map(function, gets, {.field = field, .fields = fields, .to = to}));
    STOKER_ASSIGN_OR_RETURN(Spec results, ResultsOf(made, spec, input, arguments, field));
    STOKER_RETURN_IF_ERROR(made.Promise(results, /*learned=*/spec.empty()));
    STOKER_RETURN_IF_ERROR(made.NoteFor(gets, results));
    bound = BoundFunction::WithResults{std::move(made), std::move(results)};
  }
  Spec output = bound->results;
  if (!field.empty()) {
    output = input.spec();
    output.fields[arguments[0]] = bound->results.fields[0];
  }
  std::string details = bound->function.called();
  auto transform = std::make_shared<PythonTransform>(
      FunctionCall{std::move(bound->function), arguments,
                   field.empty() ? Place::kOfElement : Place::kOfField, std::move(bound->results)},
      output, random);
  return MapDataset(std::move(input), std::string(kName), std::move(details), std::move(output),
                    std::move(transform));
}

void PythonFilter::Describe(OptionTable<PythonFilter>& table) {
  table.Field("function", &PythonFilter::function, "module:name of a function of {field: array}")
      .Required()
      .Field("field", &PythonFilter::field,
             "the function gets this field alone; empty: all of them")
      .Field("to", &PythonFilter::to, "what it gets", OneOf{{"numpy", "torch"}});
}

Result<Dataset> PythonFilter::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(std::vector<size_t> arguments, ArgumentsOf(input.spec(), field));
  const Spec gets = Picked(input.spec(), arguments);
  STOKER_ASSIGN_OR_RETURN(std::optional<BoundFunction::WithResults> bound,
                          BoundFunction::OfFirst(gets));
  if (!bound) {
    STOKER_ASSIGN_OR_RETURN(BoundFunction made,
                            BoundFunction::Filter(function, gets, {.field = field, .to = to}));
    const Spec answer{.fields = {{"keep", DType::kBool, {}}}};
    STOKER_RETURN_IF_ERROR(made.NoteFor(gets, answer));
    bound = BoundFunction::WithResults{std::move(made), answer};
  }
  Spec answered = input.spec();
  answered.fields.push_back(bound->results.fields[0]);
  std::string details = bound->function.called();
  auto transform = std::make_shared<PythonTransform>(
      FunctionCall{std::move(bound->function), std::move(arguments), Place::kBehind,
                   std::move(bound->results)},
      std::move(answered), /*random=*/false);
  return FilterByTransform(std::move(input), std::move(details), std::move(transform));
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
