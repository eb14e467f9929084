// The functions of Python that one pipeline calls, and the processes that call them.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "python/module/worker_pool.h"
#include "stoker/base/status.h"

namespace stoker::python {

// Owned by a pipeline and by those of its stages that call functions. While such a stage is built
// (Building), its function is added and called in this process; later it is called by workers,
// except where a pass works on the thread of its caller (CallsHere).
class UserCode : public std::enable_shared_from_this<UserCode> {
 public:
  UserCode() = default;
  ~UserCode();
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

  // While one lives, stages that this thread builds add their functions to `code`.
  class Building {
   public:
    explicit Building(UserCode& code);
    ~Building();
    Building(const Building&) = delete;
    Building& operator=(const Building&) = delete;

   private:
    UserCode* const before_;  // a function that is tried may build a pipeline itself
  };
  // The code of the pipeline that this thread builds. Errors: none is built: pipelines that are
  // opened while a pass runs, on threads that may not call Python.
  static Result<std::shared_ptr<UserCode>> OfThisThread();

  // While one lives, this thread, which a caller from Python waits for, calls functions itself.
  class CallsHere {
   public:
    explicit CallsHere(bool here);
    ~CallsHere();
    CallsHere(const CallsHere&) = delete;
    CallsHere& operator=(const CallsHere&) = delete;

   private:
    const bool before_;
  };
  static bool calls_here();

  // Adds an object of stoker.functions.bound, with the GIL. Returns its number.
  uint32_t Add(nanobind::object bound);
  // Of all, in order; with the GIL.
  const std::vector<nanobind::object>& functions() const { return functions_; }

  // Lets go of them, with the GIL: nobody can call them any more.
  void Forget() { functions_.clear(); }

  WorkerPool& mappers() { return mappers_; }
  WorkerPool& generators() { return generators_; }

  // While one lives, a pass is open, which takes a worker for each generator sooner or later.
  class OpenPass {
   public:
    explicit OpenPass(std::shared_ptr<UserCode> code) : code_(std::move(code)) {
      ++code_->open_passes_;
    }
    ~OpenPass() { --code_->open_passes_; }
    OpenPass(const OpenPass&) = delete;
    OpenPass& operator=(const OpenPass&) = delete;

   private:
    const std::shared_ptr<UserCode> code_;
  };
  int open_passes() const { return open_passes_; }

 private:
  std::atomic<int> open_passes_{0};
  std::vector<nanobind::object> functions_;
  WorkerPool mappers_, generators_;
};

}  // namespace stoker::python
