// A library to preload that makes system calls on the files of one folder fail, as full disks,
// broken disks and busy servers do. tests/chaos/README.md says what it is for.
//
//   STOKER_CHAOS_FOLDER  absolute; calls about other files are left alone
//   STOKER_CHAOS_RULES   rules, separated by commas: CALL:EFFECT:FIRST:COUNT[:PART]
//   STOKER_CHAOS_LOG     gets a line `CALL EFFECT PATH` for each fault that happened
//
// CALL is one of kCallNames (fault_rules.cc). EFFECT is the name of an errno, `short` (read or
// write at most half of what was asked for), `slow-MS` (first sleep so long), or for the clock
// `jump-S` (the real time is S seconds further, or earlier where S is negative, from then on). A
// rule counts the calls that it matches, of paths with PART in them where it is given; it fires at
// number FIRST (from 1) and the COUNT - 1 that follow, for ever where COUNT is 0.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "tests/chaos/fault_rules.h"

using namespace stoker::chaos;

namespace {

// What the program would have called; looked up once for each function.
template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Whether the code at `address` is Arrow's. Its bundled allocator, which Stoker gives nothing to
// do, maps tables when the library is loaded; where it gets none it crashes as the process exits.
bool IsOfArrow(const void* address) {
  Dl_info found = {};
  return ::dladdr(address, &found) != 0 && std::strstr(found.dli_fname, "/libarrow.so") != nullptr;
}

}  // namespace

// Defines what the dynamic linker finds under NAME. The name in the source is another one, so that
// declarations of the C library, with their attributes, do not stand against it.
#define STOKER_REPLACE(RESULT, NAME, PARAMETERS)                                                   \
  extern "C" __attribute__((visibility("default"))) RESULT Chaos_##NAME PARAMETERS __asm__(#NAME); \
  extern "C" RESULT Chaos_##NAME PARAMETERS
#define STOKER_REAL(RESULT, NAME, PARAMETERS) \
  static auto* const real = Real<RESULT PARAMETERS>(#NAME)

#define STOKER_REPLACE_OPEN(NAME)                                                        \
  STOKER_REPLACE(int, NAME, (const char* path, int flags, ...)) {                        \
    STOKER_REAL(int, NAME, (const char*, int, ...));                                     \
    va_list rest;                                                                        \
    va_start(rest, flags);                                                               \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                                        \
    if (!IsOfCase(path)) return real(path, flags, mode);                                 \
    if (Fails(kOpen, path)) return -1;                                                   \
    return Remember(real(path, flags, mode), path);                                      \
  }
STOKER_REPLACE_OPEN(open)
STOKER_REPLACE_OPEN(open64)

#define STOKER_REPLACE_OPENAT(NAME)                                                      \
  STOKER_REPLACE(int, NAME, (int at, const char* path, int flags, ...)) {                \
    STOKER_REAL(int, NAME, (int, const char*, int, ...));                                \
    va_list rest;                                                                        \
    va_start(rest, flags);                                                               \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                                        \
    if (!IsOfCase(path, at)) return real(at, path, flags, mode);                         \
    if (Fails(kOpen, path)) return -1;                                                   \
    return Remember(real(at, path, flags, mode), path);                                  \
  }
STOKER_REPLACE_OPENAT(openat)
STOKER_REPLACE_OPENAT(openat64)

#define STOKER_REPLACE_FOPEN(NAME)                                    \
  STOKER_REPLACE(FILE*, NAME, (const char* path, const char* mode)) { \
    STOKER_REAL(FILE*, NAME, (const char*, const char*));             \
    if (!IsOfCase(path)) return real(path, mode);                     \
    if (Fails(kOpen, path)) return nullptr;                           \
    FILE* const file = real(path, mode);                              \
    if (file != nullptr) Remember(::fileno(file), path);              \
    return file;                                                      \
  }
STOKER_REPLACE_FOPEN(fopen)
STOKER_REPLACE_FOPEN(fopen64)

STOKER_REPLACE(int, close, (int descriptor)) {
  STOKER_REAL(int, close, (int));
  Forget(descriptor);
  return real(descriptor);
}

STOKER_REPLACE(ssize_t, read, (int descriptor, void* out, size_t size)) {
  STOKER_REAL(ssize_t, read, (int, void*, size_t));
  const ssize_t asked = SizeToAskFor(kRead, descriptor, size);
  return asked < 0 ? -1 : real(descriptor, out, static_cast<size_t>(asked));
}

#define STOKER_REPLACE_PREAD(NAME)                                                        \
  STOKER_REPLACE(ssize_t, NAME, (int descriptor, void* out, size_t size, off_t offset)) { \
    STOKER_REAL(ssize_t, NAME, (int, void*, size_t, off_t));                              \
    const ssize_t asked = SizeToAskFor(kRead, descriptor, size);                          \
    return asked < 0 ? -1 : real(descriptor, out, static_cast<size_t>(asked), offset);    \
  }
STOKER_REPLACE_PREAD(pread)
STOKER_REPLACE_PREAD(pread64)

STOKER_REPLACE(ssize_t, write, (int descriptor, const void* bytes, size_t size)) {
  STOKER_REAL(ssize_t, write, (int, const void*, size_t));
  const ssize_t asked = SizeToAskFor(kWrite, descriptor, size);
  return asked < 0 ? -1 : real(descriptor, bytes, static_cast<size_t>(asked));
}

#define STOKER_REPLACE_PWRITE(NAME)                                                           \
  STOKER_REPLACE(ssize_t, NAME, (int descriptor, const void* bytes, size_t size, off_t at)) { \
    STOKER_REAL(ssize_t, NAME, (int, const void*, size_t, off_t));                            \
    const ssize_t asked = SizeToAskFor(kWrite, descriptor, size);                             \
    return asked < 0 ? -1 : real(descriptor, bytes, static_cast<size_t>(asked), at);          \
  }
STOKER_REPLACE_PWRITE(pwrite)
STOKER_REPLACE_PWRITE(pwrite64)

// Calls with one descriptor and up to one number, which fail or not.
#define STOKER_REPLACE_BY_DESCRIPTOR(NAME, CALL, PARAMETERS, ARGUMENTS) \
  STOKER_REPLACE(int, NAME, PARAMETERS) {                               \
    STOKER_REAL(int, NAME, PARAMETERS);                                 \
    const char* const path = PathOf(descriptor);                        \
    if (path != nullptr && Fails(CALL, path)) return -1;                \
    return real ARGUMENTS;                                              \
  }
STOKER_REPLACE_BY_DESCRIPTOR(fsync, kSync, (int descriptor), (descriptor))
STOKER_REPLACE_BY_DESCRIPTOR(fdatasync, kSync, (int descriptor), (descriptor))
STOKER_REPLACE_BY_DESCRIPTOR(flock, kLock, (int descriptor, int what), (descriptor, what))
STOKER_REPLACE_BY_DESCRIPTOR(ftruncate, kTruncate, (int descriptor, off_t size), (descriptor, size))
STOKER_REPLACE_BY_DESCRIPTOR(ftruncate64, kTruncate, (int descriptor, off_t size),
                             (descriptor, size))
STOKER_REPLACE_BY_DESCRIPTOR(fstat, kStat, (int descriptor, struct stat* out), (descriptor, out))
STOKER_REPLACE_BY_DESCRIPTOR(fstat64, kStat, (int descriptor, struct stat* out), (descriptor, out))

// Locks of open files; the other commands are left alone.
#define STOKER_REPLACE_FCNTL(NAME)                                           \
  STOKER_REPLACE(int, NAME, (int descriptor, int command, void* argument)) { \
    STOKER_REAL(int, NAME, (int, int, ...));                                 \
    const bool locks = command == F_OFD_SETLK || command == F_OFD_SETLKW;    \
    const char* const path = locks ? PathOf(descriptor) : nullptr;           \
    if (path != nullptr && Fails(kLock, path)) return -1;                    \
    return real(descriptor, command, argument);                              \
  }
STOKER_REPLACE_FCNTL(fcntl)
STOKER_REPLACE_FCNTL(fcntl64)

// Calls with one path in front.
#define STOKER_REPLACE_BY_PATH(NAME, CALL, PARAMETERS, ARGUMENTS) \
  STOKER_REPLACE(int, NAME, PARAMETERS) {                         \
    STOKER_REAL(int, NAME, PARAMETERS);                           \
    if (IsOfCase(path) && Fails(CALL, path)) return -1;           \
    return real ARGUMENTS;                                        \
  }
STOKER_REPLACE_BY_PATH(stat, kStat, (const char* path, struct stat* out), (path, out))
STOKER_REPLACE_BY_PATH(stat64, kStat, (const char* path, struct stat* out), (path, out))
STOKER_REPLACE_BY_PATH(lstat, kStat, (const char* path, struct stat* out), (path, out))
STOKER_REPLACE_BY_PATH(lstat64, kStat, (const char* path, struct stat* out), (path, out))
STOKER_REPLACE_BY_PATH(rename, kRename, (const char* path, const char* to), (path, to))
STOKER_REPLACE_BY_PATH(mkdir, kMkdir, (const char* path, mode_t mode), (path, mode))
STOKER_REPLACE_BY_PATH(unlink, kRemove, (const char* path), (path))
STOKER_REPLACE_BY_PATH(rmdir, kRemove, (const char* path), (path))
STOKER_REPLACE_BY_PATH(remove, kRemove, (const char* path), (path))

STOKER_REPLACE(int, fstatat, (int at, const char* path, struct stat* out, int flags)) {
  STOKER_REAL(int, fstatat, (int, const char*, struct stat*, int));
  if (IsOfCase(path, at) && Fails(kStat, path)) return -1;
  return real(at, path, out, flags);
}

STOKER_REPLACE(int, renameat2, (int at, const char* path, int to, const char* name, unsigned how)) {
  STOKER_REAL(int, renameat2, (int, const char*, int, const char*, unsigned));
  if (IsOfCase(path, at) && Fails(kRename, path)) return -1;
  return real(at, path, to, name, how);
}

STOKER_REPLACE(int, unlinkat, (int at, const char* path, int flags)) {
  STOKER_REAL(int, unlinkat, (int, const char*, int));
  if (IsOfCase(path, at) && Fails(kRemove, path)) return -1;
  return real(at, path, flags);
}

STOKER_REPLACE(DIR*, opendir, (const char* path)) {
  STOKER_REAL(DIR*, opendir, (const char*));
  if (!IsOfCase(path)) return real(path);
  if (Fails(kList, path)) return nullptr;
  DIR* const opened = real(path);
  if (opened != nullptr) Remember(::dirfd(opened), path);
  return opened;
}

#define STOKER_REPLACE_READDIR(NAME)                           \
  STOKER_REPLACE(dirent*, NAME, (DIR * opened)) {              \
    STOKER_REAL(dirent*, NAME, (DIR*));                        \
    const char* const path = PathOf(::dirfd(opened));          \
    if (path != nullptr && Fails(kList, path)) return nullptr; \
    return real(opened);                                       \
  }
STOKER_REPLACE_READDIR(readdir)
STOKER_REPLACE_READDIR(readdir64)

STOKER_REPLACE(int, closedir, (DIR * opened)) {
  STOKER_REAL(int, closedir, (DIR*));
  Forget(::dirfd(opened));
  return real(opened);
}

// Memory is refused in blocks of a page and more from posix_memalign, and of 512 KiB and more that
// are mapped without a file: so buffers are allocated (stoker/base/buffer.cc). What Arrow maps for
// itself it gets.
STOKER_REPLACE(int, posix_memalign, (void** out, size_t alignment, size_t size)) {
  STOKER_REAL(int, posix_memalign, (void**, size_t, size_t));
  if (size >= 4096 && IsReady() && Fails(kMemory, "memory")) return ENOMEM;
  return real(out, alignment, size);
}

STOKER_REPLACE(int, pthread_create,
               (pthread_t * out, const pthread_attr_t* attributes, void* (*run)(void*),
                void* with)) {
  STOKER_REAL(int, pthread_create, (pthread_t*, const pthread_attr_t*, void* (*)(void*), void*));
  if (IsReady() && Fails(kThread, "thread")) return errno;
  return real(out, attributes, run, with);
}

#define STOKER_REPLACE_MMAP(NAME)                                                           \
  STOKER_REPLACE(void*, NAME,                                                               \
                 (void* at, size_t size, int how, int flags, int descriptor, off_t from)) { \
    STOKER_REAL(void*, NAME, (void*, size_t, int, int, int, off_t));                        \
    const char* const path = PathOf(descriptor);                                            \
    if (path != nullptr && Fails(kMap, path)) return reinterpret_cast<void*>(-1);           \
    const bool memory = descriptor < 0 && size >= (size_t{512} << 10) && IsReady();         \
    if (memory && !IsOfArrow(__builtin_return_address(0)) && Fails(kMemory, "memory"))      \
      return reinterpret_cast<void*>(-1);                                                   \
    return real(at, size, how, flags, descriptor, from);                                    \
  }
STOKER_REPLACE_MMAP(mmap)
STOKER_REPLACE_MMAP(mmap64)

// Only the real time jumps; the monotonic clock never does.
STOKER_REPLACE(int, clock_gettime, (clockid_t which, timespec* out)) {
  STOKER_REAL(int, clock_gettime, (clockid_t, timespec*));
  const int status = real(which, out);
  if (status == 0 && which == CLOCK_REALTIME) out->tv_sec += ClockJump();
  return status;
}

STOKER_REPLACE(time_t, time, (time_t * out)) {
  STOKER_REAL(time_t, time, (time_t*));
  const time_t now = real(nullptr) + ClockJump();
  if (out != nullptr) *out = now;
  return now;
}
