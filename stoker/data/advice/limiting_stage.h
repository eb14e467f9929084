// Which stage of a pipeline its consumer waits for, and what is known about it: the facts that
// advice can be given by.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/iterator.h"

namespace stoker {

// The stage that holds a pipeline up, or, where none does, the idle one that works most.
struct LimitingStage {
  // Who runs it.
  enum class RunBy {
    kConsumer,   // the thread that asks for elements, when it asks
    kOneThread,  // ahead of the consumer, but one thread at a time: a stream is read in order
    kThreads,    // ahead of the consumer, as many threads as there are
  };
  // What it does.
  enum class Work {
    kReads,    // it is a source
    kDraws,    // it makes something else of a sample each time
    kRepeats,  // it makes the same of a sample in every epoch
  };

  std::string name;  // as recipes call it; of maps that are done in one pass the first one's
  std::string why;   // "1 thread spent 97% of the time in it, 51 ms for each ..."
  RunBy run_by = RunBy::kThreads;
  Work work = Work::kRepeats;
  bool fixed_threads = false;  // the user has set how many threads there are
  bool all_cpus = false;       // it has a thread for each CPU of the process, or more
  bool cached = false;         // a `cache` keeps what it makes, or would if it had room
  std::string first_random;  // the first stage before it that draws at random; empty: there is none
  bool idle = false;         // it works for far less than the consumer waits (PipelineCosts::idle)
  // Of a source.
  bool many_files = false;  // it has so many that opening them counts
  bool on_servers = false;  // its files are
  bool may_keep_copies =
      false;  // those are not copied here, but would be with a cache of remote files
};

// Finds that stage of one pass. Thread-safe.
class LimitFinder {
 public:
  //   fixed_threads  whether the user has set how many threads there are
  LimitFinder(Dataset dataset, bool fixed_threads)
      : dataset_(std::move(dataset)), fixed_threads_(fixed_threads) {}

  // Of `iterator`, a pass over the dataset, by what it has counted so far, also while another
  // thread uses it. The first call that finds a source lists its files.
  LimitingStage Find(const Iterator& iterator) const;

 private:
  struct Files {
    bool many = false, on_servers = false;
  };
  Files FilesOf(const DatasetNode& source) const;

  const Dataset dataset_;
  const bool fixed_threads_;
  mutable std::mutex mutex_;
  mutable std::map<const DatasetNode*, Files> files_;
};

}  // namespace stoker
