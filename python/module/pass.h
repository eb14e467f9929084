// One pass over a pipeline as an iterator of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "python/module/pipeline.h"
#include "python/module/user_code.h"
#include "stoker/base/mutex.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"

namespace stoker::python {

// How one field becomes what the caller wants: a function of an Array, of a DLPack capsule, or none
// for the Array itself.
struct FieldConverter {
  std::string name;
  bool from_capsule = false;
  nanobind::object function;  // None: the Array as it is
};

// Gives batches as dicts. Every array is the caller's own: memory that somebody else may still read
// (a cache, a mapped file) is copied first, since PyTorch writes whatever it holds.
//
// Waits without the GIL; a wait on the main thread looks for signals every 20 ms, so that Ctrl-C
// ends it. Calls of several threads follow one another. Next runs handlers of signals and functions
// of the pipeline; what these call of the same pass is an error, except Close. In a child that
// fork() made every call is an error, and nothing is freed: the threads of the pass, and who holds
// its locks, are in the parent.
class Pass {
 public:
  // Opens the pass, which takes as long as the loading of its files. `state`: where to continue,
  // JSON of Save; empty: at the start.
  Pass(nanobind::object pipeline, const Runtime& runtime, const PassOptions& options,
       const std::string& state, std::vector<FieldConverter> fields);
  ~Pass();
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // Returns the next batch. Throws StopIteration at the end, KeyboardInterrupt or what else a
  // handler of a signal raises, and the pipeline's errors, after which it throws the same again.
  nanobind::object Next();
  // Returns the position as JSON. Throws the errors of Iterator::Save.
  std::string Save();
  // Returns {"profile": ..., "decisions": ..., "limit": ..., "text": ...} as JSON, also after the
  // end.
  std::string Explain();
  // Ends the pass and its threads; Next throws from then on. Waits for a Next on another thread,
  // which it cancels. Called within Next it only cancels it.
  void Close();
  bool ended() const { return ended_; }

  // The object of Python whose functions it calls.
  nanobind::object& pipeline() { return pipeline_; }

 private:
  struct Live {
    UserCode::OpenPass open;  // until the iterator is gone
    Dataset dataset;
    bool fixed_threads;
    std::unique_ptr<Iterator> iterator;
  };
  void CheckProcess() const;
  // Whether the caller is in a call that holds the lock.
  bool IsWithin() const { return within_ == std::this_thread::get_id(); }
  void CheckNotWithin() const;
  void Open(const Runtime& runtime, const PassOptions& options, const std::string& state);
  Result<std::optional<Element>> NextElement();
  std::string Explained() const STOKER_REQUIRES(mutex_);
  void End() STOKER_REQUIRES(mutex_);
  nanobind::object Convert(Element element) const;

  nanobind::object pipeline_;
  const int process_;
  const bool inline_;  // functions of Python are called on the thread that asks for a batch
  const std::vector<FieldConverter> fields_;
  std::vector<nanobind::object> keys_;  // the names of the fields
  std::atomic<bool> stop_{false};
  std::atomic<bool> ended_{false};
  std::atomic<std::thread::id> within_{};  // the thread in Next; none: no thread's id
  std::atomic<int> inside_{0};             // calls of Next that have not come back to Python

  Mutex mutex_;  // one call at a time
  std::unique_ptr<Live> live_ STOKER_GUARDED_BY(mutex_);
  // Of a pass that has ended.
  std::string explained_ STOKER_GUARDED_BY(mutex_);
  Result<std::string> last_state_ STOKER_GUARDED_BY(mutex_);
};

// Adds the type Pass to the module.
void AddPass(nanobind::module_& module);

}  // namespace stoker::python
