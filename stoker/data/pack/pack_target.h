// What stands where a packing is to write: it is never removed before the new file is whole, nor
// where the pipeline itself reads it.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/files_read.h"

namespace stoker {

// kFailedPrecondition if one of `targets` that is there, or anything in a directory among them,
// is one of `inputs`, by whatever name or link. Costs a stat(2) of each input, but only where a
// target is there.
Status CheckTargetsAreNotRead(const std::vector<std::string>& targets,
                              const std::vector<std::string>& inputs);

// Whether all that these targets stand for may go: what is there of a directory's name has nothing
// in it but files such as packings write into theirs (PackFormat::writes). What is not there, and
// what is a file or a link, may. Errors: kFailedPrecondition names the directory and the first
// entry that is something else, by the order of bytes; those of listing directories.
Status CheckTargetsMayGo(const std::vector<std::string>& targets);

// Whether a rename cannot replace what is at `path`: a directory, or anything where a directory is
// to be.
bool StandsInTheWay(const std::string& path, bool of_directory);

// Gives the whole `made`, which has a name of internal::TemporaryName, the name `path`, and removes
// what had it, if anything: in one step, but where StandsInTheWay and the file system cannot
// exchange two names (renameat2(2)), with a moment in between. After an error `made` is gone.
// Errors: those of CheckTargetsMayGo, which is asked once more, and of io/atomic_file.h.
Status TakePlace(const std::string& made, const std::string& path);

}  // namespace stoker
