// Which files a pipeline reads, so that no stage of it writes over one.
#pragma once

#include <filesystem>
#include <string_view>

#include "stoker/data/dataset.h"

namespace stoker {

// kInvalidArgument where `path` is a file that `dataset` reads (DatasetNode::files), by whatever
// name; `who` would write there.
Status CheckNotRead(const Dataset& dataset, const std::filesystem::path& path,
                    std::string_view who);

}  // namespace stoker
