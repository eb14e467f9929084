// `stoker pack --merge`, and what it prints as `stoker pack` does.
#pragma once

#include <string>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/pack/pack.h"
#include "stoker/tools/commands/pack_command.h"

namespace stoker {

// The files, their elements and bytes, and the fields: two lines.
std::string PackedFilesToText(const PackReport& report, const Spec& spec, bool verified);

// [{"file", "elements", "bytes", "kept"}, ...]
Json PackedFilesToJson(const PackReport& report);

// Merges the parts of the destination.
Status RunMerge(const PackArguments& arguments, const PackFormat& format);

}  // namespace stoker
