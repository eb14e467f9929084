// Threads that never interrupt one that computes.
#pragma once

#include <sched.h>

namespace stoker {

// While one lives, the thread that made it, and those that this thread starts, are scheduled as
// SCHED_BATCH: such a thread waits as it wakes up until the running one sleeps or has had its
// share. The destructor, on the same thread, gives it its usual policy back; those it has started
// keep the other.
//
// For Gloo's threads (ADR 62). The device thread waits for sockets, and polls without a pause while
// another thread has the lock of a connection. It wakes up on that thread's CPU; if it interrupts
// it there, it polls until the next tick of the scheduler, 4 ms at 250 Hz, while the lock could
// have been released in microseconds.
//
// Does nothing for a thread with another policy than SCHED_OTHER, or where the system refuses. A
// nice value stays; a slice of the thread's own (sched_setattr) does not.
class PatientThreads {
 public:
  PatientThreads() {
    const sched_param none = {};
    changed_ =
        ::sched_getscheduler(0) == SCHED_OTHER && ::sched_setscheduler(0, SCHED_BATCH, &none) == 0;
  }
  PatientThreads(const PatientThreads&) = delete;
  PatientThreads& operator=(const PatientThreads&) = delete;
  ~PatientThreads() {
    const sched_param none = {};
    if (changed_) ::sched_setscheduler(0, SCHED_OTHER, &none);
  }

 private:
  bool changed_ = false;
};

}  // namespace stoker
