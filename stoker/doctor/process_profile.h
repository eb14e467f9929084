// ProcessProfile: what was seen from outside of a program that is not ours, from which the doctor
// concludes (diagnose_processes.h). Every part may be missing; what was not measured is 0 or empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/doctor/python_stacks.h"

namespace stoker {

enum class Framework { kUnknown, kPyTorch, kTensorFlow, kJax };
std::string_view NameOf(Framework framework);  // "pytorch"; "" if unknown

// What a thread does, as shares of the time in which it was watched; together they are 1.
struct ThreadTimes {
  double cpu = 0;      // computes
  double queued = 0;   // is ready to, and waits for a CPU
  double disk = 0;     // waits for a disk
  double lock = 0;     // waits for a lock, or for other threads to signal
  double poll = 0;     // waits for any of several descriptors, such as pipes of other processes
  double network = 0;  // receives from a socket
  double read = 0;     // reads a pipe
  double sleep = 0;    // sleeps for a time
  double child = 0;    // waits for a process to end
  double other = 0;

  // Waits for something that other threads, processes or machines do.
  double waits() const { return lock + poll + network + read; }
  Json ToJson() const;
};

enum class ProcessRole {
  kMain,    // the one that trains
  kWorker,  // a process of the same program that works for it, such as those of a DataLoader
  kOther,   // shells, launchers and whatever else it starts
};

struct ProcessTimes {
  int64_t pid = 0;
  ProcessRole role = ProcessRole::kOther;
  std::string command;
  double seconds = 0;               // in which it was watched
  ThreadTimes first;                // of its first thread
  std::vector<ThreadTimes> others;  // of its other threads, those that want a CPU most first
  int64_t threads = 0;              // most at the same time
  double cpus = 0;                  // that all of its threads used, on average
  double system_share = 0;          // of that time, in the kernel
  double minor_faults_per_s = 0, major_faults_per_s = 0;
  double disk_bytes_per_s = 0;  // read from disks
  double read_bytes_per_s = 0;  // by all calls that read
  int64_t memory_bytes = 0;     // most, resident
  double switches_per_s = 0;  // how often its threads got a CPU; 0 if the kernel does not count it

  Json ToJson() const;
};

// Of the machine and of the control group, while the program was watched.
struct HostTimes {
  double other_runnable = 0;  // threads of other programs that wanted a CPU, on average
  // Shares of the time in which some task of the machine waited for it; nothing: not counted.
  std::optional<double> cpu_pressure, disk_pressure, memory_pressure;
  double swapped_bytes_per_s = 0;
  double huge_page_bytes_per_s = 0;  // given to programs as huge pages
  double throttled_share = 0;        // of the periods of the control group's quota
  std::string busiest_disk;          // "nvme0n1"
  double disk_busy = 0;              // the share of the time in which that one was busy
  // Over all networks of the machine but the loopback.
  double received_bytes_per_s = 0, sent_bytes_per_s = 0;
  // At the end: of the limit of the control group, and of /dev/shm; nothing: there is none.
  std::optional<double> group_memory_share, shared_memory_share;

  Json ToJson() const;
};

// Of the machine's GPU that was busiest, as NVML shows it; nothing: it does not say.
struct GpuTimes {
  std::string name;  // "NVIDIA H100 80GB HBM3"
  // CUDA's compute capability, which says what its cores can do: 9.0 of an H100; 0.0: unknown.
  int compute_major = 0, compute_minor = 0;
  std::optional<double> used;          // share of the time in which some kernel ran
  std::optional<double> power_share;   // of its limit
  std::optional<double> memory_share;  // most, of its memory
  std::string slowed_by;               // "heat", most of the time

  Json ToJson() const;
};

// What the process that trains does on CUDA devices, counted inside of it. Shares are of the time.
struct CudaTimes {
  int64_t windows = 0;     // in which it was counted
  double seconds = 0;      // their length
  double busy = 0;         // a kernel or a copy ran on its busiest device
  double computing = 0;    // a kernel ran there
  double collectives = 0;  // kernels of NCCL, which count as neither: they wait for other ranks too
  double waits = 0;        // its threads waited for a device, all together
  double kernels_per_s = 0, kernel_s = 0;  // kernel_s: mean time of one, seconds
  // Of the time of kernels: matrices and convolutions in float32, and in TF32; changes of the order
  // of channels.
  double float32_share = 0, tf32_share = 0, relayout_share = 0;
  double pageable = 0, pageable_bytes_per_s = 0;  // copies to devices, from ordinary memory
  double pinned = 0, pinned_bytes_per_s = 0;      // and from pinned memory
  double to_host = 0, small_to_host_per_s = 0;    // copies from devices; of a few bytes: `.item()`

  Json ToJson() const;
};

struct ProcessProfile {
  std::string host;
  int64_t cpus = 1;  // that the doctor may use; the program is taken to have the same
  std::string command;
  double seconds = 0;                // in which it was watched
  bool ended = false;                // by itself
  std::optional<int64_t> exit_code;  // of the command; 128 + N if signal N ended it
  Framework framework = Framework::kUnknown;
  HostTimes machine;
  std::vector<ProcessTimes> processes;  // the busiest first
  std::optional<PythonView> python;     // of stacks, where py-spy is installed
  LoaderFacts loader;
  std::optional<GpuTimes> gpu;     // nothing: the machine has none that can be seen
  std::optional<CudaTimes> cuda;   // nothing: the process used none, or could not be asked
  std::vector<std::string> notes;  // what could not be measured, a line each
  std::string error;               // why nothing was measured; empty: something was
  bool interrupted = false;        // by a signal

  const ProcessTimes* main() const;  // null: none was seen
  std::vector<const ProcessTimes*> workers() const;
  double cpus_used() const;  // by all processes

  Json ToJson() const;  // docs/doctor.md has the schema
};

}  // namespace stoker
