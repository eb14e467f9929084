// What a rank has to say that leaves the printing to rank 0.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

// From now on to the end of the process, errors are printed and warnings are not, and both are
// added to RUN/log.rank-R once the run directory is known. The file is made when there is something
// to write. Where the directory cannot be written, as on a machine without it or with a full disk,
// warnings are lost: they must not end a run that goes on elsewhere. Call it once, before other
// threads log.
void LogAsRank(int64_t rank);

// Sets the directory of the run. REQUIRES: LogAsRank was called.
void SetRunOfRankLog(const std::string& run);

}  // namespace stoker
