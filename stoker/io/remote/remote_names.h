// Patterns and folders of files on servers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Returns whether the store of `path` can list its files; web servers cannot.
bool HasRemoteLists(const std::string& path);

// Returns whether the remote `path` is a pattern. This needs a store with lists; a question mark in
// an address of HTTP is not a wildcard.
bool IsRemoteGlob(const std::string& path);

// The most names of a list, about 100 bytes each; names that do not match a pattern count.
inline constexpr int64_t kMostListedNames = 50'000'000;

// Returns the objects that match a pattern such as "s3://BUCKET/PATTERN" (io/glob.h), sorted by
// their bytes, at least one. Ignores objects whose names end with a slash. Costs a request for each
// thousand names that share the pattern's literal beginning; of WebHDFS one or more for each folder
// that the pattern's first parts match. Errors: kNotFound; kUnavailable if the list is malformed or
// endless; kResourceExhausted if it has more than `most_names`; those of RemoteStore.
Result<std::vector<std::string>> ExpandRemoteGlob(const std::string& pattern,
                                                  int64_t most_names = kMostListedNames);

// Returns the names of all objects below a folder such as "s3://BUCKET/FOLDER", at any depth,
// relative to it and sorted by their bytes; a name that ends with a slash is a folder. Also stores
// their versions (RemoteFile::Know). Cost and errors as above; kUnimplemented for HTTP, which has
// no lists.
Result<std::vector<std::string>> ListRemoteFolder(const std::string& folder,
                                                  int64_t most_names = kMostListedNames);

// Checks that each file exists, several at a time; skips those checked before. Errors: those of
// RemoteFile::Find for the first that does not.
Status CheckRemoteFiles(const std::vector<std::string>& paths);

}  // namespace stoker
