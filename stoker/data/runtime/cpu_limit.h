// Limits the CPUs that pipelines keep busy while other work in the process, such as a training
// step, uses the rest.
#pragma once

namespace stoker {

// While one lives, a pipeline that any thread opens with an automatic number of threads
// (Runtime::threads is 0) keeps at most this many CPUs busy, as long as it is open. Inputs that
// work at the same time divide them. Threads that wait for a disk or a server keep none busy and
// are added beyond these. The newest of several scopes applies; they may end in any order. Does not
// change results. Thread-safe.
class PipelineCpuScope {
 public:
  //   cpus  0: all
  explicit PipelineCpuScope(int cpus);
  ~PipelineCpuScope();
  PipelineCpuScope(const PipelineCpuScope&) = delete;
  PipelineCpuScope& operator=(const PipelineCpuScope&) = delete;

  int cpus() const { return cpus_; }

 private:
  const int cpus_;
};

// Returns the limit of the newest living scope; 0: none.
int PipelineCpuLimit();

// Returns the CPUs that determine an automatic number of threads: those of the process, or the
// limit.
int PipelineCpus();

}  // namespace stoker
