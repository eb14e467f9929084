// The name of the machine, as profiles, traces and diagnoses give it.
#pragma once

#include <string>

namespace stoker {

// Returns the kernel's host name; "localhost" if there is none. Asks once. Thread-safe.
const std::string& HostName();

}  // namespace stoker
