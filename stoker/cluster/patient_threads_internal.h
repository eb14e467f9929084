// Threads that never interrupt one that computes.
#pragma once

#include <sched.h>

namespace stoker {

// While one lives, threads that the calling thread starts are scheduled as SCHED_BATCH: one that
// wakes up waits until the running thread sleeps or has had its share. For Gloo's threads: its
// device thread, which waits for sockets, polls without a pause while another thread has the lock
// of a connection. Where it interrupts that one, on whose CPU it wakes up, it polls until the next
// tick of the scheduler, 4 ms at 250 Hz, in which the other could have released the lock.
//
// Does nothing for a thread with another policy than the usual, or where the system refuses.
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
