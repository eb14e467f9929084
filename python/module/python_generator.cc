#include "python/module/python_generator.h"

#include <nanobind/nanobind.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "python/module/bound_function.h"
#include "python/module/python_call.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/nodes/from_generator.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

Array Copied(const WorkerArray& array) {
  Array copy = Array::Allocate(array.dtype, array.shape);
  if (copy.num_bytes() > 0) std::memcpy(copy.data(), array.data, copy.num_bytes());
  return copy;
}

Element ElementOf(std::span<const WorkerArray> arrays) {
  Element element;
  for (const WorkerArray& array : arrays) element.arrays.push_back(Copied(array));
  return element;
}

// An error of the element after so many.
Status Named(const BoundFunction& function, int64_t given, const Status& status) {
  return Status(status.code(),
                fmt::format("{}: element {}: {}", function.title(), given, status.message()));
}

// A generator that a worker iterates over.
class RemoteGenerator {
 public:
  RemoteGenerator(BoundFunction function, WorkerPool::Lease worker)
      : function_(std::move(function)), worker_(std::move(worker)) {}
  RemoteGenerator(const RemoteGenerator&) = delete;
  RemoteGenerator& operator=(const RemoteGenerator&) = delete;
  ~RemoteGenerator() {
    static_cast<void>(worker_->Send({.task = WorkerTask::kEnd}));  // a worker that is gone ends too
  }

  // One that cannot begin has no element.
  Status Begin(uint64_t epoch) {
    ended_ = true;
    STOKER_RETURN_IF_ERROR(Ask({.task = WorkerTask::kBegin,
                                .function = function_.number(),
                                .rows = static_cast<int64_t>(epoch)}));
    STOKER_ASSIGN_OR_RETURN(const WorkerAnswer answer, worker_->Receive());
    STOKER_RETURN_IF_ERROR(StatusOf(answer.outcome, answer.text));
    ended_ = false;
    return Ask({.task = WorkerTask::kContinue});
  }

  Result<std::optional<Element>> Next() {
    while (made_.empty()) {
      if (!failure_.ok()) return Named(function_, given_, std::exchange(failure_, OkStatus()));
      if (ended_) return std::optional<Element>();
      STOKER_RETURN_IF_ERROR(Take());
    }
    std::optional<Element> element = std::move(made_.front());
    made_.pop_front();
    ++given_;
    return element;
  }

 private:
  Status Ask(const WorkerRequest& request) { return worker_->Send(request); }

  // What was asked for last; asks for what follows, which the worker makes meanwhile.
  Status Take() {
    STOKER_ASSIGN_OR_RETURN(const WorkerAnswer answer, worker_->Receive());
    for (const std::vector<WorkerArray>& arrays : answer.elements)
      made_.push_back(ElementOf(arrays));
    failure_ = StatusOf(answer.outcome, answer.text);
    ended_ = answer.outcome == WorkerAnswer::Outcome::kEnded;
    return ended_ ? OkStatus() : Ask({.task = WorkerTask::kContinue});
  }

  const BoundFunction function_;
  const WorkerPool::Lease worker_;
  std::deque<Element> made_;
  Status failure_;
  bool ended_ = false;
  int64_t given_ = 0;
};

// A generator in this process.
class LocalGenerator {
 public:
  LocalGenerator(BoundFunction function, uint64_t epoch)
      : function_(std::move(function)), epoch_(epoch) {}
  LocalGenerator(const LocalGenerator&) = delete;
  LocalGenerator& operator=(const LocalGenerator&) = delete;
  ~LocalGenerator() {
    const nb::gil_scoped_acquire gil;
    iterator_.reset();
  }

  Result<std::optional<Element>> Next() {
    std::optional<Element> element;
    const Status status = CallHere([&] {
      if (!iterator_ && std::exchange(begun_once_, true)) return;
      if (!iterator_) iterator_ = nb::object(function_.object().attr("begin_here")(epoch_));
      const nb::object results = function_.object().attr("next_here")(*iterator_);
      if (!results.is_none()) element = ElementOf(ResultsOf(results));
    });
    if (!status.ok()) return Named(function_, given_, status);
    ++given_;
    return element;
  }

 private:
  const BoundFunction function_;
  const uint64_t epoch_;
  std::optional<nb::object> iterator_;
  bool begun_once_ = false;  // one that could not begin has no further element
  int64_t given_ = 0;
};

using MakeNext = std::function<Result<std::optional<Element>>()>;

MakeNext BeginPass(const BoundFunction& function, uint64_t epoch) {
  if (UserCode::calls_here()) {
    return [generator = std::make_shared<LocalGenerator>(function, epoch)] {
      return generator->Next();
    };
  }
  return
      [function, epoch,
       generator = std::shared_ptr<RemoteGenerator>()]() mutable -> Result<std::optional<Element>> {
        if (!generator) {
          STOKER_ASSIGN_OR_RETURN(WorkerPool::Lease worker, function.code().generators().Take());
          generator = std::make_shared<RemoteGenerator>(function, std::move(worker));
          if (const Status status = generator->Begin(epoch); !status.ok())
            return Named(function, 0, status);
        }
        return generator->Next();
      };
}

}  // namespace

void PythonGenerator::Describe(OptionTable<PythonGenerator>& table) {
  table
      .Field("function", &PythonGenerator::function,
             "module:name of a function that returns an iterable")
      .Required()
      .Field("fields", &PythonGenerator::fields, "names of what it yields, if that is no dict");
}

Result<Dataset> PythonGenerator::Build() const {
  STOKER_ASSIGN_OR_RETURN(const BoundFunction bound, BoundFunction::Generator(function, fields));
  STOKER_ASSIGN_OR_RETURN(Spec output, SpecOf(spec));
  if (output.fields.empty()) {
    STOKER_ASSIGN_OR_RETURN(output, bound.Learn({}));
  }
  STOKER_RETURN_IF_ERROR(bound.Promise(output, /*learned=*/spec.empty()));
  return FromGenerator(
      output, [bound](uint64_t epoch) { return BeginPass(bound, epoch); }, std::string(kName));
}

}  // namespace stoker::python

template <>
const std::vector<stoker::Option>& stoker::OptionsOf<stoker::python::PythonGenerator>() {
  using stoker::python::PythonGenerator;
  static const auto options = WithObjectsBehind<PythonGenerator>(
      {ObjectOption("spec", &PythonGenerator::spec,
                    "type and shape of each field; empty: found out with the first elements")});
  return options;
}
