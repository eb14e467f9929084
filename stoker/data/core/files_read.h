// Refuses to overwrite a file that a pipeline reads.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/base/config.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Identifies a file independently of its name: its device and inode.
using FileId = std::pair<dev_t, ino_t>;

// Returns the id of the file that `path` leads to; nothing if there is none.
std::optional<FileId> FileIdOf(const std::filesystem::path& path);

// Returns kInvalidArgument if `path` is, under any name, a file that `dataset` reads
// (DatasetNode::files); `who` wants to write there. Costs a stat(2) of each file, but only if
// `path` exists.
Status CheckNotRead(const Dataset& dataset, const std::filesystem::path& path,
                    std::string_view who);

// Returns kInvalidArgument, with line and column, if any value in `recipe` names, under any name,
// the file `path`: a vocabulary, initial weights, a list of classes. Tries relative names from
// `folder` and from data.root. Costs a few stat(2) for each value, but only if `path` exists.
Status CheckNotNamed(const ConfigNode& recipe, const std::filesystem::path& folder,
                     const std::filesystem::path& path, std::string_view who);

}  // namespace stoker
