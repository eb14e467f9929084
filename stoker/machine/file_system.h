// Which file system a path is on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stoker/machine/facts.h"

namespace stoker {

// Returns the facts about the file system that `path` is on. Never fails: a path that does not
// exist has no type.
//   mounts  the text of /proc/self/mountinfo
FileSystemFacts DescribeFileSystem(const std::string& path, std::string_view mounts);
FileSystemFacts DescribeFileSystem(const std::string& path);

// Returns the type of the file system that `path`, absolute and without links, is on, by the text
// of /proc/self/mountinfo: the last of the longest mount points that contain it. Empty if none
// does.
std::string MountedType(const std::filesystem::path& path, std::string_view mounts);

}  // namespace stoker
