// stoker_cuda_activity.so: counts what the process that loads it does on CUDA devices.
//
// CUDA's driver loads it with the first call of CUDA where CUDA_INJECTION64_PATH names it, and
// calls InitializeInjection. It has NVIDIA's CUPTI record kernels, copies and waits ("Activity API"
// of CUPTI's documentation), and adds them up in a file in the folder that STOKER_CUDA_ACTIVITY
// names, a part of the time. It stands in a program that is not ours: it prints nothing, throws
// nothing, uses no other library, and without CUPTI does nothing but say so in its file. CUPTI's
// declarations are our own: records have kept the fields below at their places from CUDA 9 to 13.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "stoker/machine/activity/cuda_counters.h"

namespace stoker {
namespace {

// Of cupti_activity.h.
constexpr uint32_t kMemcpy = 1, kSynchronization = 38, kConcurrentKernel = 10;
constexpr uint8_t kHostToDevice = 1, kDeviceToHost = 2;
constexpr uint8_t kPageable = 1;
constexpr uint32_t kStreamWaitsForEvent = 2;  // the device waits, not the host
constexpr int kSuccess = 0;

struct Record {
  uint32_t kind;
};
struct KernelRecord {
  uint32_t kind;
  uint8_t unused[12];
  uint64_t start, end;
  uint64_t completed;
  uint32_t device;
  uint8_t more[60];
  const char* name;
};
static_assert(offsetof(KernelRecord, start) == 16 && offsetof(KernelRecord, device) == 40 &&
              offsetof(KernelRecord, name) == 104);
struct CopyRecord {
  uint32_t kind;
  uint8_t copy_kind, source, target, flags;
  uint64_t bytes;
  uint64_t start, end;
  uint32_t device;
};
static_assert(offsetof(CopyRecord, start) == 16 && offsetof(CopyRecord, device) == 32);
struct WaitRecord {
  uint32_t kind, type;
  uint64_t start, end;
};
static_assert(offsetof(WaitRecord, start) == 8);

using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                 size_t valid);
struct Cupti {
  int (*register_callbacks)(BufferRequested, BufferCompleted) = nullptr;
  int (*enable)(uint32_t kind) = nullptr;
  int (*disable)(uint32_t kind) = nullptr;
  int (*next_record)(uint8_t* buffer, size_t valid, Record** record) = nullptr;
  int (*dropped_records)(void* context, uint32_t stream, size_t* dropped) = nullptr;
  int (*flush_all)(uint32_t flags) = nullptr;
};

// Some 200 kernels. CUPTI hands a buffer over when it is full, or when it is asked for those whose
// records are all finished, which a device that is never idle seldom has.
constexpr size_t kBufferBytes = 32 << 10;
constexpr auto kFlushEvery = std::chrono::milliseconds(200);

enum class KernelKind : uint8_t { kOther, kFloat32, kTf32, kRelayout };

bool Has(const char* name, const char* part) { return std::strstr(name, part) != nullptr; }

// By the names that cuBLAS, cuDNN and CUTLASS give their kernels.
KernelKind KindOf(const char* name) {
  if (name == nullptr) return KernelKind::kOther;
  if (Has(name, "nchwToNhwc") || Has(name, "nhwcToNchw")) return KernelKind::kRelayout;
  // Transforms for convolutions, of which there are none in half the bits.
  if (Has(name, "winograd") || Has(name, "fft") || Has(name, "complex"))
    return KernelKind::kFloat32;
  const bool multiplies = Has(name, "gemm") || Has(name, "conv") || Has(name, "fprop") ||
                          Has(name, "dgrad") || Has(name, "wgrad") || Has(name, "scudnn") ||
                          Has(name, "cutlass") || Has(name, "xmma");
  if (!multiplies) return KernelKind::kOther;
  if (Has(name, "tf32") || Has(name, "_s1688")) return KernelKind::kTf32;
  const bool float32 = Has(name, "sgemm") || Has(name, "f32f32_") || Has(name, "scudnn") ||
                       Has(name, "ffma") || Has(name, "engineIf");
  return float32 ? KernelKind::kFloat32 : KernelKind::kOther;
}

// Adds records up, and publishes the sums window by window. CUPTI hands buffers over from its own
// thread and from those that ask it to.
class Tally {
 public:
  explicit Tally(CudaCounters& published) : published_(published) {}

  void Add(const Cupti& cupti, void* context, uint32_t stream, uint8_t* buffer, size_t valid) {
    const std::lock_guard lock(mutex_);
    Record* record = nullptr;
    while (cupti.next_record(buffer, valid, &record) == kSuccess) {
      if (record->kind == kConcurrentKernel)
        AddKernel(*reinterpret_cast<const KernelRecord*>(record));
      if (record->kind == kMemcpy) AddCopy(*reinterpret_cast<const CopyRecord*>(record));
      if (record->kind == kSynchronization) AddWait(*reinterpret_cast<const WaitRecord*>(record));
    }
    size_t dropped = 0;
    if (cupti.dropped_records(context, stream, &dropped) == kSuccess)
      sums_.dropped += static_cast<int64_t>(dropped);
  }

  // Publishes what has been added, of a window of `counted_ns`. Buffers of different threads come
  // out of order, so the time that kernels cover together is known only now.
  void Publish(int64_t counted_ns) {
    const std::lock_guard lock(mutex_);
    for (size_t device = 0; device < kCountedDevices; ++device)
      sums_.busy_ns[device] += Covered(intervals_[device]);
    sums_.counted_ns += counted_ns;
    int64_t numbers[sizeof(CudaCounters) / sizeof(int64_t)];
    std::memcpy(numbers, &sums_, sizeof numbers);
    auto* const shared = reinterpret_cast<int64_t*>(&published_);
    // Whoever reads them must not see half of a number.
    for (size_t i = 0; i < std::size(numbers); ++i)
      __atomic_store_n(shared + i, numbers[i], __ATOMIC_RELAXED);
  }

 private:
  struct Interval {
    uint64_t start, end;
  };
  struct Known {
    const char* name = nullptr;
    KernelKind kind = KernelKind::kOther;
  };

  static int64_t Length(uint64_t start, uint64_t end) {
    return end > start ? static_cast<int64_t>(end - start) : 0;
  }

  void AddKernel(const KernelRecord& record) {
    const int64_t ns = Length(record.start, record.end);
    ++sums_.kernels;
    sums_.kernel_ns += ns;
    const KernelKind kind = KnownKind(record.name);
    if (kind == KernelKind::kFloat32) sums_.float32_ns += ns;
    if (kind == KernelKind::kTf32) sums_.tf32_ns += ns;
    if (kind == KernelKind::kRelayout) sums_.relayout_ns += ns;
    Keep(record.device, record.start, record.end);
  }

  void AddCopy(const CopyRecord& record) {
    const bool to_device = record.copy_kind == kHostToDevice;
    if (to_device || record.copy_kind == kDeviceToHost) {
      CudaCopies& copies = !to_device                   ? sums_.to_host
                           : record.source == kPageable ? sums_.from_pageable
                                                        : sums_.from_pinned;
      ++copies.count;
      copies.bytes += static_cast<int64_t>(record.bytes);
      copies.ns += Length(record.start, record.end);
      if (!to_device && record.bytes <= static_cast<uint64_t>(kSmallCopy)) ++sums_.to_host_small;
    }
    Keep(record.device, record.start, record.end);
  }

  void AddWait(const WaitRecord& record) {
    if (record.type == kStreamWaitsForEvent) return;
    ++sums_.waits;
    sums_.wait_ns += Length(record.start, record.end);
  }

  // Names stay where they are, so a name is read once.
  KernelKind KnownKind(const char* name) {
    Known& known = known_[(reinterpret_cast<uintptr_t>(name) >> 4) % std::size(known_)];
    if (known.name != name) known = {name, KindOf(name)};
    return known.kind;
  }

  void Keep(uint32_t device, uint64_t start, uint64_t end) {
    if (device < kCountedDevices && end > start) intervals_[device].push_back({start, end});
  }

  // The time that the intervals cover together, which are dropped.
  static int64_t Covered(std::vector<Interval>& intervals) {
    std::ranges::sort(intervals, {}, &Interval::start);
    uint64_t until = 0;
    int64_t sum = 0;
    for (const Interval& each : intervals) {
      sum += Length(std::max(each.start, until), each.end);
      until = std::max(until, each.end);
    }
    intervals.clear();
    return sum;
  }

  std::mutex mutex_;
  CudaCounters& published_;
  CudaCounters sums_;
  std::vector<Interval> intervals_[kCountedDevices];
  Known known_[1024];
};

// Never destroyed: CUPTI hands over buffers until the process ends.
Cupti cupti;
Tally* tally = nullptr;
std::mutex& flushing = *new std::mutex;
bool ended = false;  // guarded by `flushing`

void GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

void TakeBuffer(void* context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
  if (buffer != nullptr && valid > 0) tally->Add(cupti, context, stream, buffer, valid);
  std::free(buffer);
}

// The library's file, mapped; null: there is none.
CudaCountersFile* MapFile() {
  const char* const folder = std::getenv(kCudaActivityFolder);
  if (folder == nullptr) return nullptr;
  char path[4096];
  const int length = std::snprintf(path, sizeof path, "%s/%d.cuda", folder, ::getpid());
  if (length < 0 || static_cast<size_t>(length) >= sizeof path) return nullptr;
  const int file = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return nullptr;
  void* mapped = MAP_FAILED;
  if (::ftruncate(file, sizeof(CudaCountersFile)) == 0)
    mapped = ::mmap(nullptr, sizeof(CudaCountersFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return mapped == MAP_FAILED ? nullptr : new (mapped) CudaCountersFile;
}

// The CUPTI that the program has loaded, because two of them in a process are at odds; else one
// that the loader finds.
void* LoadCupti() {
  char loaded[4096] = {};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        const char* const name = info->dlpi_name;
        const char* const slash = name == nullptr ? nullptr : std::strrchr(name, '/');
        if (slash == nullptr || std::strncmp(slash, "/libcupti.so", 12) != 0) return 0;
        std::snprintf(static_cast<char*>(found), sizeof loaded, "%s", name);
        return 1;
      },
      loaded);
  if (loaded[0] != 0) return ::dlopen(loaded, RTLD_NOW | RTLD_NOLOAD);
  for (const char* const name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    if (void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

template <typename F>
bool Find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(::dlsym(library, name));
  return function != nullptr;
}

bool FindFunctions(void* library) {
  return Find(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) &&
         Find(library, "cuptiActivityEnable", cupti.enable) &&
         Find(library, "cuptiActivityDisable", cupti.disable) &&
         Find(library, "cuptiActivityGetNextRecord", cupti.next_record) &&
         Find(library, "cuptiActivityGetNumDroppedRecords", cupti.dropped_records) &&
         Find(library, "cuptiActivityFlushAll", cupti.flush_all);
}

constexpr uint32_t kKinds[] = {kConcurrentKernel, kMemcpy, kSynchronization};

// CUPTI makes launching a kernel take longer: on an NVIDIA H200 a program whose steps are short
// kernels was slowed down by a third. So it records for a part of the time.
constexpr auto kWindow = std::chrono::milliseconds(300);
constexpr auto kPause = std::chrono::milliseconds(4700);
// After a window, in which the device works off what was launched.
constexpr int kFlushes = 5;

// Sleeps, and then holds the lock; nothing if the process ends.
std::unique_lock<std::mutex> LockAfter(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
  std::unique_lock lock(flushing);
  if (ended) lock.unlock();
  return lock;
}

void RecordWindows() {
  auto begin = std::chrono::steady_clock::now();
  while (true) {
    auto lock = LockAfter(kWindow);
    if (!lock.owns_lock()) return;
    for (const uint32_t kind : kKinds) cupti.disable(kind);
    const auto counted = std::chrono::steady_clock::now() - begin;
    for (int i = 0; i < kFlushes; ++i) {
      lock.unlock();
      lock = LockAfter(kFlushEvery);
      if (!lock.owns_lock()) return;
      cupti.flush_all(0);
    }
    tally->Publish(std::chrono::duration_cast<std::chrono::nanoseconds>(counted).count());
    lock.unlock();
    lock = LockAfter(kPause - kFlushes * kFlushEvery);
    if (!lock.owns_lock()) return;
    for (const uint32_t kind : kKinds) cupti.enable(kind);
    begin = std::chrono::steady_clock::now();
  }
}

// Before CUPTI's own end, which was registered earlier. A fork has no thread that flushes, and the
// lock may be that thread's for ever.
pid_t owner = 0;
void End() {
  if (::getpid() != owner) return;
  const std::lock_guard lock(flushing);
  ended = true;
}

// In a thread that gets none of the program's signals.
void StartRecording() {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(RecordWindows).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  owner = ::getpid();
  std::atexit(End);
}

void Begin(CudaCounters& counters) {
  void* const library = LoadCupti();
  if (library == nullptr || !FindFunctions(library)) {
    counters.problem = static_cast<int64_t>(CudaProblem::kNoCupti);
    return;
  }
  tally = new Tally(counters);
  int result = cupti.register_callbacks(GiveBuffer, TakeBuffer);
  for (const uint32_t kind : kKinds) {
    if (result == kSuccess) result = cupti.enable(kind);
  }
  if (result == kSuccess) return StartRecording();
  counters.problem = static_cast<int64_t>(CudaProblem::kCuptiRefuses);
  counters.problem_code = result;
}

}  // namespace
}  // namespace stoker

// Called by CUDA's driver. Returns 1, which it takes for success: the program shall go on.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static std::once_flag once;
  std::call_once(once, [] {
    stoker::CudaCountersFile* const file = stoker::MapFile();
    if (file == nullptr) return;
    stoker::Begin(file->counters);
    file->magic.store(stoker::CudaCountersFile::kMagic, std::memory_order_release);
  });
  return 1;
}
