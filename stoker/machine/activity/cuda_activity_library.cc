// stoker_cuda_activity.so: counts what the process that loads it does on CUDA devices.
//
// CUDA's driver loads it with the first call of CUDA where CUDA_INJECTION64_PATH names it, and
// calls InitializeInjection. It has NVIDIA's CUPTI record kernels, copies and waits ("Activity API"
// of CUPTI's documentation), and adds them up in a file in the folder that STOKER_CUDA_ACTIVITY
// names, a part of the time. It stands in a program that is not ours: it prints nothing, throws
// nothing, uses no other library, and without CUPTI does nothing but say so in its file. CUPTI's
// declarations are our own: records have kept the fields below at their places from CUDA 9 to 13.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>  // call_once
#include <new>
#include <thread>

#include "stoker/base/mutex.h"
#include "stoker/machine/activity/cuda_counters.h"
#include "stoker/machine/activity/cuda_tally_internal.h"

namespace stoker {
namespace {

constexpr int kSuccess = 0;

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

// Never destroyed: CUPTI hands over buffers until the process ends.
Cupti cupti;
alignas(Tally) unsigned char tally_memory[sizeof(Tally)];
Tally* tally = nullptr;
CudaCounters* published = nullptr;
Mutex flushing;  // held while CUPTI is called
std::atomic<bool> ended = false;

void GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

void TakeBuffer(void* context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
  Record* record = nullptr;
  while (buffer != nullptr && cupti.next_record(buffer, valid, &record) == kSuccess)
    tally->Add(*record);
  size_t dropped = 0;
  if (cupti.dropped_records(context, stream, &dropped) == kSuccess) tally->AddDropped(dropped);
  std::free(buffer);
}

// Gives the file its blocks, because a full disk would end the program with SIGBUS later; and keeps
// the signal from it that a limit of the size of files sends.
bool HasBlocks(int file) {
  sigset_t limit, before;
  ::sigemptyset(&limit);
  ::sigaddset(&limit, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &limit, &before);
  const int failed = ::posix_fallocate(file, 0, sizeof(CudaCountersFile));
  const timespec now = {};
  if (failed == EFBIG) ::sigtimedwait(&limit, nullptr, &now);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failed == 0;
}

// The library's file, mapped; null: there is none.
CudaCountersFile* MapFile() {
  const char* const folder = std::getenv(kCudaActivityFolder);
  if (folder == nullptr) return nullptr;
  char path[4096];
  const int length = std::snprintf(path, sizeof path, "%s/%d.cuda", folder, ::getpid());
  if (length < 0 || static_cast<size_t>(length) >= sizeof path) return nullptr;
  // After exec the program begins anew, with a file of its own.
  ::unlink(path);
  const int file = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return nullptr;
  void* mapped = MAP_FAILED;
  if (HasBlocks(file))
    mapped = ::mmap(nullptr, sizeof(CudaCountersFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return mapped == MAP_FAILED ? nullptr : new (mapped) CudaCountersFile;
}

struct LoadedLibraries {
  char cupti[4096] = {};
  char runtime[4096] = {};  // the folder of CUDA's runtime
};

int Note(dl_phdr_info* info, size_t, void* found) {
  auto& loaded = *static_cast<LoadedLibraries*>(found);
  const char* const name = info->dlpi_name;
  const char* const slash = name == nullptr ? nullptr : std::strrchr(name, '/');
  if (slash == nullptr) return 0;
  if (std::strncmp(slash, "/libcupti.so", 12) == 0)
    std::snprintf(loaded.cupti, sizeof loaded.cupti, "%s", name);
  if (std::strncmp(slash, "/libcudart.so", 13) == 0)
    std::snprintf(loaded.runtime, sizeof loaded.runtime, "%.*s", static_cast<int>(slash - name),
                  name);
  return 0;
}

// The CUPTI that the program has loaded, because two of them in a process are at odds; else the one
// beside its CUDA runtime, as packages of PyPI and toolkits have it; else one that the loader
// finds.
void* LoadCupti() {
  static LoadedLibraries loaded;  // too large for a small stack
  ::dl_iterate_phdr(Note, &loaded);
  if (loaded.cupti[0] != 0) return ::dlopen(loaded.cupti, RTLD_NOW | RTLD_NOLOAD);
  for (const char* const name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    for (const char* const folder : {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64"}) {
      static char path[4200];
      std::snprintf(path, sizeof path, "%s%s/%s", loaded.runtime, folder, name);
      if (loaded.runtime[0] == 0) continue;
      if (void* const handle = ::dlopen(path, RTLD_NOW | RTLD_LOCAL)) return handle;
    }
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
// kernels ran at 0.65 of its speed. So it records for a part of the time. The pauses differ, so
// that what a program does now and then does not always fall into one.
constexpr auto kWindow = std::chrono::milliseconds(300);
constexpr int kLeastPauseMs = 3000, kMostPauseMs = 6400;
// After a window, in which the device works off what was launched.
constexpr int kFlushes = 5;

void Fail(CudaProblem problem, int code) {
  __atomic_store_n(&published->problem_code, code, __ATOMIC_RELAXED);
  __atomic_store_n(&published->problem, static_cast<int64_t>(problem), __ATOMIC_RELEASE);
}

// Enables or disables all kinds; false, and counting has ended, if CUPTI refuses.
bool Switch(int (*function)(uint32_t kind)) {
  for (const uint32_t kind : kKinds) {
    if (const int result = function(kind); result != kSuccess) {
      Fail(CudaProblem::kCuptiRefuses, result);
      return false;
    }
  }
  return true;
}

// Whether the program's first thread has ended while others go on. With the last of them the
// process ends, of which this thread is none.
bool FirstThreadEnded() {
  char text[512];
  const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t size = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (size <= 0) return false;
  text[size] = 0;
  const char* const name_end = std::strrchr(text, ')');
  return name_end != nullptr && name_end + 2 < text + size && name_end[2] == 'Z';
}

// Returns false, at once, where the process ends.
bool Sleep(std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
    if (ended || FirstThreadEnded()) return false;
    std::this_thread::sleep_for(
        std::min<std::chrono::nanoseconds>(kFlushEvery, until - std::chrono::steady_clock::now()));
  }
  return !ended;
}

// Calls CUPTI, unless the process ends. Returns false if counting has ended.
template <typename F>
bool Call(const F& call) {
  const MutexLock lock(flushing);
  return !ended && call();
}

bool FlushWindow() {
  for (int i = 0; i < kFlushes; ++i) {
    if (!Sleep(kFlushEvery)) return false;
    if (!Call([] { return cupti.flush_all(0), true; })) return false;
  }
  return true;
}

std::chrono::milliseconds NextPause(uint32_t& state) {
  state = state * 1664525 + 1013904223;  // Knuth's constants of a linear generator
  return std::chrono::milliseconds(kLeastPauseMs + state % (kMostPauseMs - kLeastPauseMs));
}

void* RecordWindows(void*) {
  auto begin = std::chrono::steady_clock::now();
  auto pauses = static_cast<uint32_t>(::getpid());
  while (Sleep(kWindow) && Call([] { return Switch(cupti.disable); })) {
    const auto counted = std::chrono::steady_clock::now() - begin;
    if (!FlushWindow()) break;
    tally->Publish(std::chrono::duration_cast<std::chrono::nanoseconds>(counted).count());
    if (!Sleep(NextPause(pauses)) || !Call([] { return Switch(cupti.enable); })) break;
    begin = std::chrono::steady_clock::now();
  }
  return nullptr;
}

// Before CUPTI's own end, which was registered earlier. A fork has no thread that flushes, and the
// lock may be that thread's for ever.
pid_t owner = 0;
void End() {
  if (::getpid() != owner) return;
  ended = true;
  // A call of CUPTI's is under way at most; one that never returns must not keep the program.
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    if (flushing.TryLock()) return flushing.Unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// In a thread that gets none of the program's signals.
void StartRecording() {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int failed = ::pthread_create(&thread, nullptr, RecordWindows, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) return Fail(CudaProblem::kNoThread, failed);
  ::pthread_detach(thread);
  owner = ::getpid();
  std::atexit(End);
}

void Begin(CudaCounters& counters) {
  published = &counters;
  void* const library = LoadCupti();
  if (library == nullptr || !FindFunctions(library)) return Fail(CudaProblem::kNoCupti, 0);
  tally = new (tally_memory) Tally(counters);
  const int result = cupti.register_callbacks(GiveBuffer, TakeBuffer);
  if (result != kSuccess) return Fail(CudaProblem::kCuptiRefuses, result);
  if (Switch(cupti.enable)) StartRecording();
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
