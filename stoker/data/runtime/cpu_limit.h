// How many CPUs pipelines may keep busy where something else in the process computes on the others,
// such as a training step.
#pragma once

namespace stoker {

// From now on a pipeline that is opened with an automatic number of threads (Runtime::threads is 0)
// keeps at most `cpus` CPUs busy; 0: all, as at first. Inputs that work at the same time divide
// them. Threads that wait for a disk or a server keep none busy and are added beyond these. For the
// whole process, as torch's number of threads is. Changes no byte. Thread-safe.
void LimitPipelineCpus(int cpus);

// What was set last; 0: no limit.
int PipelineCpuLimit();

// The CPUs that an automatic number of threads goes by: those of the process, or the limit.
int PipelineCpus();

}  // namespace stoker
