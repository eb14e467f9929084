// Finds the stage of a pipeline that its consumer waits for, and the facts for advice about it.
#pragma once

#include <map>
#include <string>

#include "stoker/base/mutex.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/iterator.h"

namespace stoker {

// The stage that limits a pipeline, or, if none does, the idle one that works most.
struct LimitingStage {
  // The threads that run it.
  enum class RunBy {
    kConsumer,   // the thread that asks for elements, on request
    kOneThread,  // ahead of the consumer, but one thread at a time: a stream is read in order
    kThreads,    // ahead of the consumer, on all threads
  };
  // The kind of its work.
  enum class Work {
    kReads,    // it is a source
    kDraws,    // its result for a sample differs each time
    kRepeats,  // its result for a sample is the same in every epoch
  };

  std::string name;  // as recipes call it; the first one's if maps are fused
  std::string why;   // "1 thread spent 97% of the time in it, 51 ms for each ..."
  RunBy run_by = RunBy::kThreads;
  Work work = Work::kRepeats;
  bool fixed_threads = false;  // the user has set how many threads there are
  bool all_cpus = false;       // it has a thread for each CPU of the process, or more
  bool cached = false;         // a `cache` keeps its results, or would if it had room
  std::string first_random;    // the first preceding stage that draws at random; empty: none
  bool idle = false;           // it works far less than the consumer waits (PipelineCosts::idle)
  double busy_threads = 1;     // how many threads its group kept busy, on average
  // Of a source.
  bool many_files = false;  // so many that opening them takes noticeable time
  bool on_servers = false;  // its files are
  bool may_keep_copies =
      false;  // those are not copied, but a cache of remote files would copy them
};

// Finds that stage of one pass. Thread-safe.
class LimitFinder {
 public:
  //   fixed_threads  whether the user has set the number of threads
  LimitFinder(Dataset dataset, bool fixed_threads)
      : dataset_(std::move(dataset)), fixed_threads_(fixed_threads) {}

  // Returns the stage of `iterator`, a pass over the dataset, from its counters so far. Another
  // thread may use the iterator meanwhile. The first call that finds a source lists its files.
  LimitingStage Find(const Iterator& iterator) const;

  const Dataset& dataset() const { return dataset_; }

 private:
  struct Files {
    bool many = false, on_servers = false;
  };
  Files FilesOf(const DatasetNode& source) const;

  const Dataset dataset_;
  const bool fixed_threads_;
  mutable Mutex mutex_;
  mutable std::map<const DatasetNode*, Files> files_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
