// PerProcess: an object that every process has for itself, also one that fork() made.
#pragma once

#include <atomic>
#include <cstdint>

namespace stoker {

// Returns how many calls of fork() lie between the first process that called this and the running
// one. Cheap.
uint64_t ForkGeneration();

// In the child of fork() only the thread that called it lives on, so a lock that another thread
// held then is held for ever, and threads of a pool are missing. What has such a thing and lives as
// long as the process is kept in a static PerProcess: the child gets a new one and never touches
// that of its parent. So is what threads of a pass make at their first use, above all if that takes
// long: a child that is made meanwhile would wait for ever for a plain static variable, whose
// initialisation nobody ends. The objects are not destroyed. Thread-safe.
template <typename T>
class PerProcess {
 public:
  // Returns the object of this process; the first call makes it of what `make` returns. Of several
  // threads that call at first at the same time each may make one, of which one is kept.
  template <typename Make>
  T& Get(const Make& make) {
    if (T* const made = Find()) return *made;
    return Add(new Made{make(), ForkGeneration()});
  }
  T& Get() {
    return Get([] { return T(); });
  }

  // Returns the object of this process if there is one yet, else null.
  T* Find() const {
    Made* const made = made_.load(std::memory_order_acquire);
    return made != nullptr && made->generation == ForkGeneration() ? &made->object : nullptr;
  }

 private:
  struct Made {
    T object;
    uint64_t generation;
  };

  T& Add(Made* added) {
    Made* seen = made_.load(std::memory_order_acquire);
    while (seen == nullptr || seen->generation != added->generation) {
      if (made_.compare_exchange_weak(seen, added, std::memory_order_acq_rel)) return added->object;
    }
    delete added;
    return seen->object;
  }

  std::atomic<Made*> made_{nullptr};
};

}  // namespace stoker
