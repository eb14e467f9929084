#include "python/module/pipeline.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <optional>
#include <tuple>
#include <utility>

#include "python/module/errors.h"
#include "python/module/signals.h"
#include "python/module/user_code.h"
#include "stoker/base/config_scalar.h"
#include "stoker/base/json_text.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/runtime/cpu_limit.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// A default as JSON. `type` is that of the option: the text of a number is a number only where one
// is meant.
Json DefaultOf(const ConfigNode& value, const std::string& type) {
  switch (value.kind) {
    case ConfigNode::Kind::kNull: return nullptr;
    case ConfigNode::Kind::kScalar: break;
    case ConfigNode::Kind::kList: {
      Json items = Json::array();
      for (const ConfigNode& item : value.items) items.push_back(DefaultOf(item, type));
      return items;
    }
    case ConfigNode::Kind::kMap: {
      Json map = Json::object();
      for (const ConfigNode::Entry& entry : value.entries)
        map[entry.key] = DefaultOf(entry.value, type);
      return map;
    }
  }
  if (type == "true or false") return value.scalar == "true";
  if (type.ends_with("or auto") && value.scalar == "auto") return nullptr;
  const bool numbers = type.starts_with("integer") || type.starts_with("number") ||
                       type == "list of integers" || type == "list of numbers";
  if (numbers && LooksLikeNumber(value.scalar)) return Json::parse(value.scalar);
  return value.scalar;
}

// What `stoker inspect --ops` prints, as JSON with typed defaults: the Python functions are written
// from it.
std::string OperatorsJson() {
  Json all = Json::array();
  for (const KindDescription& kind : OperatorRegistry::Known().Describe()) {
    Json options = Json::array();
    for (const Option& option : kind.options) {
      const ConfigNode* value = kind.defaults.Find(option.name);
      options.push_back({{"name", option.name},
                         {"type", option.type},
                         {"constraint", option.constraint},
                         {"help", option.help},
                         {"required", option.required},
                         {"default", value == nullptr ? Json() : DefaultOf(*value, option.type)}});
    }
    all.push_back({{"name", kind.name},
                   {"help", kind.help},
                   {"group", kind.group},
                   {"options", std::move(options)}});
  }
  return DumpJson(all);
}

std::vector<std::tuple<std::string, std::string, std::vector<int64_t>>> SpecOf(
    const Pipeline& pipeline) {
  std::vector<std::tuple<std::string, std::string, std::vector<int64_t>>> fields;
  for (const Field& field : pipeline.dataset().spec().fields) {
    fields.emplace_back(field.name, std::string(DTypeName(field.dtype)),
                        std::vector<int64_t>(field.shape.begin(), field.shape.end()));
  }
  return fields;
}

// None: unknown; -1: it repeats for ever.
std::optional<int64_t> CountOf(const Pipeline& pipeline) {
  const Cardinality count = pipeline.dataset().cardinality();
  if (count.infinite()) return -1;
  return count.known() ? std::optional(count.value()) : std::nullopt;
}

// A function may refer to a variable that holds the pipeline: the collector of garbage must see it.
int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const nb::object& function : nb::inst_ptr<Pipeline>(self)->code().functions())
    Py_VISIT(function.ptr());
  return 0;
}

int Clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Pipeline>(self)->code().Forget();
  return 0;
}

PyType_Slot pipeline_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&Traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(&Clear)},
    {0, nullptr},
};

WorkerPool& PoolOf(const Pipeline& pipeline, bool generates) {
  return generates ? pipeline.code().generators() : pipeline.code().mappers();
}

}  // namespace

Pipeline::Pipeline(std::vector<ConfigNode> stages, const std::string& root) : process_(getpid()) {
  ConfigNode list = ConfigNode::List(std::move(stages));
  list.location = list.items.empty() ? ConfigLocation() : list.items.front().location;
  Result<Dataset> built = Internal("not built");
  {
    // Functions of Python are tried, which may read the first elements.
    const SignalScope signals;
    const UserCode::Building building(*code_);
    const UserCode::CallsHere here(true);
    built = BuildPipeline(list, root);
  }
  {
    const nb::gil_scoped_acquire gil;
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
  }
  dataset_ = new Dataset(Take(std::move(built)));
}

Pipeline::~Pipeline() {
  if (is_of_this_process()) delete dataset_;
}

bool Pipeline::is_of_this_process() const { return process_ == getpid(); }

void AddPipeline(nb::module_& module) {
  nb::class_<Pipeline>(module, "Pipeline",
                       "A pipeline whose stages have been put together and checked.",
                       nb::type_slots(pipeline_slots))
      .def(nb::init<std::vector<ConfigNode>, const std::string&>(), nb::arg("stages"),
           nb::arg("root"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("spec", &SpecOf,
                   "Name, dtype and shape of each field; extents that differ are -1.")
      .def_prop_ro("count", &CountOf,
                   "The number of elements of an epoch; -1: infinite; None: unknown.")
      .def_prop_ro(
          "functions",
          [](const Pipeline& pipeline) { return nb::cast(pipeline.code().functions()); },
          "The functions of Python that it calls, in order.")
      .def(
          "add_worker",
          [](const Pipeline& pipeline, int socket, int process, bool generates) {
            PoolOf(pipeline, generates).Add(std::make_unique<WorkerChannel>(socket, process));
          },
          nb::arg("socket"), nb::arg("process"), nb::arg("generates"),
          "Hands over a process that calls the functions, or iterates over generators.")
      .def(
          "workers",
          [](const Pipeline& pipeline, bool generates) {
            const WorkerPool& pool = PoolOf(pipeline, generates);
            return generates ? pool.num_ready() : pool.size();
          },
          nb::arg("generates"),
          "How many such processes there are; of generators without those that still work for a "
          "pass that has ended.")
      .def(
          "end_workers",
          [](const Pipeline& pipeline, size_t most) { pipeline.code().mappers().Shrink(most); },
          nb::arg("most"),
          "Ends idle processes that call functions until there are at most so many.")
      .def_prop_ro(
          "open_passes", [](const Pipeline& pipeline) { return pipeline.code().open_passes(); },
          "How many passes are under way.")
      .def_prop_ro("own", &Pipeline::is_of_this_process, "Whether it was made in this process.")
      .def("__str__", [](const Pipeline& pipeline) { return pipeline.dataset().ToString(); });
  module.def("cpus", &PipelineCpus, "The CPUs that this process may use.");
  module.def("operators_json", &OperatorsJson, "All operators with their options, as JSON.");
}

}  // namespace stoker::python
