// Which files a pipeline reads, so that nothing is written over one.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/base/config.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// What tells a file from another that had or gets its name: its device and inode.
using FileId = std::pair<dev_t, ino_t>;

// That of what `path` leads to; nothing where nothing is there.
std::optional<FileId> FileIdOf(const std::filesystem::path& path);

// kInvalidArgument where `path` is a file that `dataset` reads (DatasetNode::files), by whatever
// name; `who` would write there. Costs a stat(2) of each file, but only where `path` is there.
Status CheckNotRead(const Dataset& dataset, const std::filesystem::path& path,
                    std::string_view who);

// kInvalidArgument, with line and column, where a value anywhere in `recipe` names the file that
// `path` is, by whatever name: words, weights to begin with, a list of classes. Relative names are
// tried from `folder` and from data.root. The cost is that of a few stat(2) for each value, but
// only where `path` is there.
Status CheckNotNamed(const ConfigNode& recipe, const std::filesystem::path& folder,
                     const std::filesystem::path& path, std::string_view who);

}  // namespace stoker
