#include "python/module/pass.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <thread>
#include <tuple>
#include <utility>

#include "python/module/array.h"
#include "python/module/errors.h"
#include "python/module/messages.h"
#include "python/module/signals.h"
#include "python/module/user_code.h"
#include "stoker/base/byte_size.h"
#include "stoker/base/json_text.h"
#include "stoker/data/advice/limiting_stage.h"
#include "stoker/data/core/explanation.h"
#include "stoker/data/core/transform.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// Gives the caller memory that nobody else reads or writes.
void MakeOwn(Element& element) {
  for (Array& array : element.arrays) {
    if (!MayWriteInPlace(array)) array = CopyOf(array);
  }
}

// Counts a call from the moment it lets go of the GIL until it has it again.
class Inside {
 public:
  explicit Inside(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Inside() { --count_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  std::atomic<int>& count_;
};

Json ToJson(const LimitingStage& limit) {
  return {{"stage", limit.name}, {"why", limit.why}, {"idle", limit.idle}};
}

// Notes which thread is in the pass, with its lock held.
class Entered {
 public:
  explicit Entered(std::atomic<std::thread::id>& thread) : thread_(thread) {
    thread_ = std::this_thread::get_id();
  }
  ~Entered() { thread_ = std::thread::id(); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  std::atomic<std::thread::id>& thread_;
};

Status Closed() {
  return FailedPrecondition("the pass was closed; iterate over the loader again for another one");
}

Json ParseState(const std::string& state) {
  Json parsed = Json::parse(state, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded())
    throw StatusError(DataLoss("a saved position is no JSON; the checkpoint is damaged"));
  return parsed;
}

}  // namespace

Pass::Pass(nb::object pipeline, const Runtime& runtime, const PassOptions& options,
           const std::string& state, std::vector<FieldConverter> fields)
    : pipeline_(std::move(pipeline)),
      process_(getpid()),
      inline_(runtime.kind == Runtime::Kind::kInline),
      fields_(std::move(fields)),
      last_state_(Closed()) {
  for (const FieldConverter& field : fields_) {
    keys_.push_back(nb::steal<nb::object>(PyUnicode_InternFromString(field.name.c_str())));
  }
  const MutexLock lock(mutex_);
  const auto& of = nb::cast<const Pipeline&>(pipeline_);
  live_.reset(new Live{.open = UserCode::OpenPass(of.code().shared_from_this()),
                       .dataset = of.dataset(),
                       .fixed_threads = runtime.threads > 0,
                       .iterator = nullptr});
  Status status;
  {
    const nb::gil_scoped_release released;
    const SignalScope signals;
    const UserCode::CallsHere here(inline_);
    Runtime stoppable = runtime;
    stoppable.stop = &stop_;
    Result<std::unique_ptr<Iterator>> opened = live_->dataset.Open(stoppable, options);
    status = opened.status();
    if (opened.ok()) {
      live_->iterator = *std::move(opened);
      if (!state.empty()) status = live_->iterator->Restore(ParseState(state));
    }
    if (!status.ok()) live_.reset();
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  Check(status);
}

Pass::~Pass() {
  if (process_ != getpid()) {
    static_cast<void>(live_.release());
    return;
  }
  const nb::gil_scoped_release released;
  stop_ = true;
  const MutexLock lock(mutex_);
  live_.reset();
}

void Pass::CheckProcess() const {
  if (process_ == getpid()) return;
  throw StatusError(
      FailedPrecondition("this pass was begun by process {}, whose threads a process made by "
                         "fork() does not have; iterate over the loader again, "
                         "which begins a pass of this process",
                         process_));
}

void Pass::CheckNotWithin() const {
  if (!IsWithin()) return;
  throw StatusError(FailedPrecondition(
      "this thread is waiting for a batch of the same pass, whose position is known only "
      "afterwards; a handler of a signal, or a function of the pipeline, should set a variable for "
      "the loop over the batches to look at"));
}

Result<std::optional<Element>> Pass::NextElement() {
  const MutexLock lock(mutex_);
  const Entered entered(within_);
  if (!live_) {
    if (ended_) return std::optional<Element>();
    return Closed();
  }
  const SignalScope signals;
  const UserCode::CallsHere here(inline_);
  Result<std::optional<Element>> element = live_->iterator->Next();
  if (!element.ok()) {
    if (!stop_) return element;
    End();
    return Closed();
  }
  if (*element) {
    MakeOwn(**element);
  } else {
    ended_ = true;
    End();
  }
  return element;
}

nb::object Pass::Next() {
  CheckProcess();
  CheckNotWithin();
  std::optional<Element> element;
  Status status;
  {
    const Inside inside(inside_);
    const nb::gil_scoped_release released;
    Result<std::optional<Element>> made = NextElement();
    status = made.status();
    if (made.ok()) element = *std::move(made);
  }
  // Ctrl-C, while the engine waited or in a function of the pipeline.
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  TellMessages();
  Check(status);
  if (!element) throw nb::stop_iteration();
  return Convert(*std::move(element));
}

nb::object Pass::Convert(Element element) const {
  nb::dict batch;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const FieldConverter& field = fields_[i];
    const nb::object given =
        field.from_capsule ? CapsuleOf(element.arrays[i]) : nb::cast(std::move(element.arrays[i]));
    batch[keys_[i]] = field.function.is_none() ? given : field.function(given);
  }
  return batch;
}

std::string Pass::Explained() const {
  const Iterator& iterator = *live_->iterator;
  const Profile profile = iterator.GetProfile();
  Json decisions = Json::array();
  for (const Decision& decision : iterator.decisions().decisions()) {
    Json json = decision.ToJson();
    json["text"] = decision.ToString();
    decisions.push_back(std::move(json));
  }
  return DumpJson(
      {{"profile", profile.ToJson()},
       {"profile_text", profile.ToText()},
       {"written", live_->dataset.ToString()},
       {"decisions", std::move(decisions)},
       {"decisions_left_out", iterator.decisions().left_out()},
       {"limit", ToJson(LimitFinder(live_->dataset, live_->fixed_threads).Find(iterator))}});
}

void Pass::End() {
  if (!live_) return;
  explained_ = Explained();
  const Result<Json> state = live_->iterator->Save();
  if (state.ok()) {
    last_state_ = DumpJson(*state);
  } else {
    last_state_ = state.status();
  }
  live_.reset();
}

std::string Pass::Save() {
  CheckProcess();
  CheckNotWithin();
  const nb::gil_scoped_release released;
  const MutexLock lock(mutex_);
  if (live_) return DumpJson(Take(live_->iterator->Save()));
  return Take(last_state_);
}

std::string Pass::Explain() {
  CheckProcess();
  CheckNotWithin();
  const nb::gil_scoped_release released;
  const MutexLock lock(mutex_);
  return live_ ? Explained() : explained_;
}

void Pass::Close() {
  if (process_ != getpid()) return;
  stop_ = true;
  if (IsWithin()) return;  // which ends it
  const nb::gil_scoped_release released;
  {
    const MutexLock lock(mutex_);
    End();
  }
  // A thread that was in Next still needs the GIL to come back, which it could not get once the
  // interpreter is gone.
  while (inside_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

namespace {

WhenDry WhenDryOf(const std::string& name) {
  if (name == "end") return WhenDry::kEnd;
  if (name == "stop") return WhenDry::kStopAll;
  if (name == "empty") return WhenDry::kEmptyBatches;
  throw StatusError(InvalidArgument("when_dry is '{}'; it is end, stop or empty", name));
}

struct PassArguments {
  uint64_t seed = 0, epoch = 0;
  int64_t rank = 0, world = 1;
  std::string when_dry, memory, state;
  std::optional<int> threads;
};

// The pipeline holds functions, which may refer to a variable that holds the pass.
int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Pass>(self)->pipeline().ptr());
  return 0;
}

int Clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Pass>(self)->pipeline().reset();
  return 0;
}

PyType_Slot pass_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&Traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(&Clear)},
    {0, nullptr},
};

Runtime RuntimeOf(const PassArguments& arguments) {
  Runtime runtime =
      arguments.threads == 0 ? Runtime::Inline() : Runtime::Threaded(arguments.threads.value_or(0));
  if (!arguments.memory.empty()) runtime.memory_budget = Take(ParseByteSize(arguments.memory));
  return runtime;
}

}  // namespace

void AddPass(nb::module_& module) {
  using Fields = std::vector<std::tuple<std::string, bool, nb::object>>;
  nb::class_<Pass>(module, "Pass", nb::is_weak_referenceable(),
                   "One pass over a pipeline: an iterator of batches.", nb::type_slots(pass_slots))
      .def(
          "__init__",
          [](Pass* self, const nb::typed<nb::object, Pipeline>& pipeline, const Fields& fields,
             uint64_t seed, uint64_t epoch, int64_t rank, int64_t world,
             const std::string& when_dry, std::optional<int> threads, const std::string& memory,
             const std::string& state) {
            const PassArguments arguments{seed,     epoch,  rank,  world,
                                          when_dry, memory, state, threads};
            const PassOptions options{.seed = seed,
                                      .epoch = epoch,
                                      .rank = rank,
                                      .world = world,
                                      .when_dry = WhenDryOf(when_dry)};
            std::vector<FieldConverter> converters;
            for (const auto& [name, from_capsule, function] : fields)
              converters.push_back({name, from_capsule, function});
            new (self) Pass(pipeline, RuntimeOf(arguments), options, state, std::move(converters));
          },
          nb::arg("pipeline"), nb::arg("fields"), nb::arg("seed"), nb::arg("epoch"),
          nb::arg("rank"), nb::arg("world"), nb::arg("when_dry"), nb::arg("threads").none(),
          nb::arg("memory"), nb::arg("state"))
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &Pass::Next)
      .def("save", &Pass::Save, "The position after the last batch, as JSON.")
      .def("explain", &Pass::Explain, "What the pass has done so far, as JSON.")
      .def("close", &Pass::Close, "Ends the pass and its threads.")
      .def_prop_ro("ended", &Pass::ended, "Whether the last batch was given.");
  module.def(
      "byte_size", [](const std::string& text) { return Take(ParseByteSize(text)); },
      nb::arg("text"), "The bytes that a text such as '2GiB' means.");
}

}  // namespace stoker::python
