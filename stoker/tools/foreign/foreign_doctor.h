// The doctor for programs that are not ours: watches processes from outside, asks the rules
// (doctor/diagnose_processes.h) and reports.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/doctor/diagnosis.h"
#include "stoker/doctor/process_profile.h"
#include "stoker/tools/commands/doctor_command.h"

namespace stoker {

// `stoker doctor -- PROGRAM` and `stoker doctor --pid N`. A program that it started is ended with
// all that it started, once the time is over or a signal has come; a process that ran already
// stays. Errors: kNotFound and others if there is nothing to watch; kFailedPrecondition, after the
// report, if it ended before anything was measured; kCancelled after a signal, likewise.
Status RunForeignDoctor(const DoctorArguments& arguments);

// Returns what a thread does: "computes 40%, waits for other processes (poll) 55%, sleeps 5%".
std::string ThreadText(const ThreadTimes& times);

// Returns the report as text.
std::string ForeignDoctorText(const ProcessProfile& profile, const Diagnosis& diagnosis);

}  // namespace stoker
