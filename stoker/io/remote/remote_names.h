// Which files on servers a pattern stands for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Whether the store of `path` has lists of its files; web servers have none.
bool HasRemoteLists(const std::string& path);

// Whether names of `path`, a remote one, stand for several: that takes a store with lists, and in
// addresses of HTTP a question mark is none.
bool IsRemoteGlob(const std::string& path);

// The most names of a list, those that do not match a pattern included: some 100 bytes each.
inline constexpr int64_t kMostListedNames = 50'000'000;

// The objects that match a pattern such as "s3://BUCKET/PATTERN" (io/glob.h), sorted by their
// bytes, at least one. Objects whose names end with a slash are none. Costs a request for each
// thousand of those that begin as the pattern does. Errors: kNotFound; kUnavailable where the list
// is none that the store gives, or does not end; kResourceExhausted where it has more than
// `most_names`; those of RemoteStore.
Result<std::vector<std::string>> ExpandRemoteGlob(const std::string& pattern,
                                                  int64_t most_names = kMostListedNames);

// The names of all objects below a folder such as "s3://BUCKET/FOLDER", at any depth, relative to
// it and sorted by their bytes; one that ends with a slash stands for a folder. Their versions are
// known afterwards. Cost and errors as above; kUnimplemented for HTTP, which has no lists.
Result<std::vector<std::string>> ListRemoteFolder(const std::string& folder,
                                                  int64_t most_names = kMostListedNames);

// That each of them is there, asked for side by side; of those that have not been asked for before.
// Errors: of the first that is not, those of RemoteFile::Find.
Status CheckRemoteFiles(const std::vector<std::string>& paths);

}  // namespace stoker
