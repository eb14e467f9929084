// The functions of Python that one pipeline calls, and the processes that call them.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/module/worker_pool.h"
#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/data/options/build_context.h"

namespace stoker::python {

// Owned by a pipeline and by those of its stages that call functions. While such a stage is built
// (Building), its function is added and called in this process; later it is called by workers,
// except where a pass works on the thread of its caller (CallsHere).
//
// Pipelines that are built while a pass runs (those of the files of `interleave`) add nothing:
// their threads may not call Python, and the workers are there already. Their stages take the
// functions that the stages of the first file's pipeline have added, in the same order.
class UserCode : public std::enable_shared_from_this<UserCode> {
 public:
  // A function with what a stage found out about it when it added it.
  struct Added {
    uint32_t number = 0;
    std::string title, called;
    Spec input, results;
  };
  class Context;

  UserCode() = default;
  ~UserCode();
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

  // While one lives, stages that this thread builds add their functions to `code`. A function that
  // is tried may build a pipeline itself.
  class Building {
   public:
    explicit Building(UserCode& code);

   private:
    const BuildContext::Scope scope_;
  };

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

// The code of the pipeline that a thread builds, and where the stages stand in it.
class UserCode::Context final : public BuildContext {
 public:
  explicit Context(std::shared_ptr<UserCode> code) : code_(std::move(code)) {}

  // Errors: this thread builds no pipeline of Python.
  static Result<std::shared_ptr<Context>> OfThisThread();

  std::shared_ptr<BuildContext> ForFirst() override;
  std::shared_ptr<BuildContext> ForFurther() const override;

  const std::shared_ptr<UserCode>& code() const { return code_; }
  // Whether functions may be added: the pipeline is not a further one of the same text.
  bool adds() const { return !further_; }
  void Note(Added added);
  // Returns the next function of the first pipeline. REQUIRES: !adds(). Errors: there is none.
  Result<Added> TakeNext();

 private:
  // What the stages of one text have added, in order, and the texts within it.
  struct Text {
    std::vector<Added> added;
    std::vector<std::shared_ptr<Text>> within;
  };
  Context(std::shared_ptr<UserCode> code, std::shared_ptr<Text> text, bool further)
      : code_(std::move(code)), text_(std::move(text)), further_(further) {}

  const std::shared_ptr<UserCode> code_;
  const std::shared_ptr<Text> text_;  // null: of a pipeline that is built once
  const bool further_ = false;
  size_t taken_ = 0, entered_ = 0;  // of a further one: functions, texts within
};

}  // namespace stoker::python
