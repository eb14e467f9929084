#include "python/module/bound_function.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "python/module/python_call.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

using NamedArrays = std::vector<std::tuple<std::string, std::string, Shape>>;

NamedArrays NamedArraysOf(const Spec& spec) {
  NamedArrays arrays;
  for (const Field& field : spec.fields)
    arrays.emplace_back(field.name, std::string(DTypeName(field.dtype)), field.shape);
  return arrays;
}

// Names and types; an extent may differ from file to file.
bool SameFields(const Spec& a, const Spec& b) {
  return std::ranges::equal(a.fields, b.fields, [](const Field& x, const Field& y) {
    return x.name == y.name && x.dtype == y.dtype;
  });
}

}  // namespace

Result<BoundFunction> BoundFunction::Make(
    const std::function<nb::object(nb::handle module)>& make) {
  BoundFunction bound;
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<UserCode::Context> context,
                          UserCode::Context::OfThisThread());
  if (!context->adds()) {
    return Unimplemented(
        "this function of Python cannot be called in a pipeline that is built for each of many "
        "files, while others are read");
  }
  bound.code_ = context->code();
  STOKER_RETURN_IF_ERROR(CallHere([&] {
    const nb::object object = make(nb::module_::import_("stoker.functions.bound"));
    bound.title_ = nb::cast<std::string>(object.attr("title"));
    bound.called_ = nb::cast<std::string>(object.attr("called"));
    bound.number_ = bound.code_->Add(object);
  }));
  return bound;
}

Result<BoundFunction> BoundFunction::Map(const std::string& function, const Spec& input,
                                         const Options& options) {
  return Make([&](nb::handle module) {
    return nb::object(module.attr("Map")(function, NamedArraysOf(input), options.field,
                                         options.fields, options.to));
  });
}

Result<BoundFunction> BoundFunction::Filter(const std::string& function, const Spec& input,
                                            const Options& options) {
  return Make([&](nb::handle module) {
    return nb::object(
        module.attr("Filter")(function, NamedArraysOf(input), options.field, options.to));
  });
}

Result<BoundFunction> BoundFunction::Generator(const std::string& function,
                                               const std::vector<std::string>& fields) {
  return Make(
      [&](nb::handle module) { return nb::object(module.attr("Generator")(function, fields)); });
}

Result<std::optional<BoundFunction::WithResults>> BoundFunction::OfFirst(const Spec& input) {
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<UserCode::Context> context,
                          UserCode::Context::OfThisThread());
  if (context->adds()) return std::optional<WithResults>();
  STOKER_ASSIGN_OR_RETURN(UserCode::Added added, context->TakeNext());
  if (!SameFields(input, added.input)) {
    return InvalidArgument("{}: its elements are {} here, and those of the first file {}",
                           added.title, input.ToString(), added.input.ToString());
  }
  BoundFunction bound;
  bound.code_ = context->code();
  bound.number_ = added.number;
  bound.title_ = std::move(added.title);
  bound.called_ = std::move(added.called);
  return WithResults{std::move(bound), std::move(added.results)};
}

Status BoundFunction::NoteFor(const Spec& input, const Spec& results) const {
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<UserCode::Context> context,
                          UserCode::Context::OfThisThread());
  context->Note(
      {.number = number_, .title = title_, .called = called_, .input = input, .results = results});
  return OkStatus();
}

Result<Spec> BoundFunction::Learn(std::span<const Element> elements) const {
  Spec spec;
  STOKER_RETURN_IF_ERROR(CallHere([&] {
    nb::list inputs;
    for (const Element& element : elements) inputs.append(ArgumentsOf(element.arrays));
    for (const auto& [name, dtype, shape] :
         nb::cast<NamedArrays>(nb::object(object().attr("learn")(inputs))))
      spec.fields.push_back({name, *ParseDType(dtype), shape});
  }));
  return spec;
}

Status BoundFunction::Promise(const Spec& spec, bool learned) const {
  return CallHere([&] { object().attr("promise")(NamedArraysOf(spec), learned); });
}

Status BoundFunction::Call(WorkerRequest request, const TakeResults& take, int64_t* failed) const {
  if (UserCode::calls_here()) return CallInThisProcess(request, take);
  request.function = number_;
  STOKER_ASSIGN_OR_RETURN(WorkerPool::Lease worker, code_->mappers().Take());
  STOKER_RETURN_IF_ERROR(worker->Send(request));
  STOKER_ASSIGN_OR_RETURN(const WorkerAnswer answer, worker->Receive());
  if (failed != nullptr) *failed = answer.row;
  if (answer.outcome != WorkerAnswer::Outcome::kDone) return StatusOf(answer.outcome, answer.text);
  take(answer.elements.front());
  return OkStatus();
}

nb::handle BoundFunction::object() const {
  const std::vector<nb::object>& functions = code_->functions();
  if (number_ >= functions.size())
    throw nb::value_error("the pipeline was collected as garbage while it was read");
  return functions[number_];
}

Status BoundFunction::CallInThisProcess(const WorkerRequest& request,
                                        const TakeResults& take) const {
  return CallHere([&] {
    nb::object seed = nb::none();
    if (!request.seeds.empty()) seed = nb::int_(request.seeds.front());
    const nb::object results = object().attr("call_here")(ArgumentsOf(request.arrays), seed);
    take(ResultsOf(results));
  });
}

}  // namespace stoker::python
