// The rules of the doctor for programs that are not ours: from what was seen of their processes to
// what to change. No rule reads a clock or a file; the same profile always gives the same
// diagnosis.
#pragma once

#include "stoker/doctor/diagnosis.h"
#include "stoker/doctor/process_profile.h"

namespace stoker {

// Returns the diagnosis. A loss of less than a tenth of the time is none. Prescriptions are in the
// words of the program's framework.
Diagnosis DiagnoseProcesses(const ProcessProfile& profile);

}  // namespace stoker
