// How many CPUs pipelines may keep busy where something else in the process computes on the others,
// such as a training step.
#pragma once

namespace stoker {

// While one lives, a pipeline that is opened, by whichever thread, with an automatic number of
// threads (Runtime::threads is 0) keeps at most so many CPUs busy, as long as it is open. Inputs
// that work at the same time divide them. Threads that wait for a disk or a server keep none busy
// and are added beyond these. Of several scopes the one that was made last counts; they may end in
// any order. Changes no byte. Thread-safe.
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

// The limit of the newest living scope; 0: none.
int PipelineCpuLimit();

// The CPUs that an automatic number of threads goes by: those of the process, or the limit.
int PipelineCpus();

}  // namespace stoker
