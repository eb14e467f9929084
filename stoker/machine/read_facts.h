// Reads the facts about this machine.
#pragma once

#include <filesystem>

#include "stoker/machine/facts.h"

namespace stoker {

// Reads all but `gpu` and `file_systems` from the files of `root`/proc, `root`/sys and
// `root`/dev/shm. Needs no rights beyond those of any user and takes a few milliseconds. A file
// that is missing, cannot be read or holds something else leaves its facts empty.
//   root  "/"; tests make up others
MachineFacts ReadMachineFacts(const std::filesystem::path& root = "/");

// Reads of these only `host`, `kernel`, the CPUs' model, counts, affinity and quota, and the size
// and limit of the memory: from few files, however many CPUs there are.
MachineFacts ReadMachineBasics(const std::filesystem::path& root = "/");

}  // namespace stoker
