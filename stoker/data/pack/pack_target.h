// Existing files at the destination of a packing: they are never removed before the new file is
// whole, nor if the pipeline reads them.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/files_read.h"

namespace stoker {

// Returns kFailedPrecondition if an existing one of `targets`, or anything in a directory among
// them, is one of `inputs` under any name or link. Costs a stat(2) of each input, but only if a
// target exists.
Status CheckTargetsAreNotRead(const std::vector<std::string>& targets,
                              const std::vector<std::string>& inputs);

// Checks that all targets may be replaced: an existing directory contains only files that packings
// write into theirs (PackFormat::writes). Missing targets, files and links may. Errors:
// kFailedPrecondition names the directory and the first entry that is something else, by the order
// of bytes; those of listing directories.
Status CheckTargetsMayGo(const std::vector<std::string>& targets);

// Returns whether a rename cannot replace what is at `path`: a directory, or anything if the new
// one is a directory.
bool StandsInTheWay(const std::string& path, bool of_directory);

// Gives the whole `made`, which has a name of internal::TemporaryName, the name `path`, and removes
// what had it: in one step, unless StandsInTheWay and the file system cannot exchange two names
// (renameat2(2)); then the name is missing for a moment. After an error `made` is removed. Errors:
// those of CheckTargetsMayGo, which it calls again, and of io/atomic_file.h.
Status TakePlace(const std::string& made, const std::string& path);

}  // namespace stoker
