// Which files on servers a pattern stands for.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Whether names of `path`, a remote one, stand for several: only in S3 can they be listed, and in
// addresses of HTTP a question mark is none.
bool IsRemoteGlob(const std::string& path);

// The objects that match "s3://BUCKET/PATTERN" (io/glob.h), sorted by their bytes, at least one.
// Objects whose names end with a slash are none. Costs a request for each thousand of those that
// begin as the pattern does. Errors: kNotFound; those of AskServer.
Result<std::vector<std::string>> ExpandRemoteGlob(const std::string& pattern);

// That each of them is there, asked for side by side; of those that have not been asked for before.
// Errors: of the first that is not, those of RemoteFile::Find.
Status CheckRemoteFiles(const std::vector<std::string>& paths);

}  // namespace stoker
