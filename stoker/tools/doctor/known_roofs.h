// What `stoker env` has measured of this machine, for the doctor.
#pragma once

#include <filesystem>
#include <optional>

#include "stoker/doctor/run_profile.h"

namespace stoker {

// Reads the file of DefaultRoofsPath (machine/roofs.h). Nothing where there is none, or it is of
// another machine; one that is damaged is warned of. The storage is that on whose file system
// `data` lies, a folder or file.
std::optional<MachineRoofs> FindKnownRoofs(const std::filesystem::path& data);

}  // namespace stoker
