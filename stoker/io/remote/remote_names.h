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

// The names of all objects below "s3://BUCKET/FOLDER", at any depth, relative to it and sorted by
// their bytes; one that ends with a slash stands for a folder. Their versions are known afterwards.
// Cost and errors as above; kUnimplemented for HTTP, which has no lists.
Result<std::vector<std::string>> ListRemoteFolder(const std::string& folder);

// That each of them is there, asked for side by side; of those that have not been asked for before.
// Errors: of the first that is not, those of RemoteFile::Find.
Status CheckRemoteFiles(const std::vector<std::string>& paths);

}  // namespace stoker
