// Which calls of a case are to fail, and how: the rules that faults.cc asks before each call. Built
// into a library that is preloaded, so nothing here may throw, and what is never destroyed leaks on
// purpose.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace stoker::chaos {

enum Call {
  kOpen,
  kRead,
  kWrite,
  kSync,
  kRename,
  kMkdir,
  kLock,
  kMap,
  kStat,
  kList,
  kRemove,
  kTruncate,
  kMemory,
  kThread,
  kClock,
  kCalls
};

// True once the rules have been read; calls that come before are left alone.
bool IsReady();

// Whether a call about `path`, relative to the directory `at`, is about a file of the case.
bool IsOfCase(const char* path, int at = AT_FDCWD);

// The path by which `descriptor` was opened; null where it is not one of the case's.
const char* PathOf(int descriptor);

// Notes that `path` was opened as `descriptor`, and returns it; -1 is passed on with its errno.
int Remember(int descriptor, const char* path);
void Forget(int descriptor);

// True, with errno set, where a rule makes this call fail. Sleeps where a rule says so.
bool Fails(Call call, const char* path);

// How many bytes a read or write of `size` is to ask the kernel for; -1 with errno where it fails.
ssize_t SizeToAskFor(Call call, int descriptor, size_t size);

// By how many seconds the real time is to be wrong now.
int64_t ClockJump();

}  // namespace stoker::chaos
