// The record of a packing or of a part of one, as JSON: pack_manifest.h has its members and says
// when it is written.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/core/files_read.h"
#include "stoker/data/pack/pack_part.h"

namespace stoker::internal {

// Returns whether there is anything at `path`, a broken link included; true where that cannot be
// found out.
bool Exists(const std::string& path);

// The directory of a path, "." for a name alone, and its last name.
std::string DirectoryOf(const std::string& path);
std::string NameOf(const std::string& path);

// kNotFound if there is no such directory.
Status CheckDirectory(const std::string& directory);

// The path of the record of the whole packing to `destination`: ".NAME.stoker-pack" beside it.
std::string RecordPathOf(const std::string& destination);

// What the packing is, as it is compared and stored: version, origin, the names of the files, and
// what part it is (null: all of it).
Json PackIdentityOf(const std::string& origin, const std::vector<std::string>& files,
                    const Json& part);

// Returns what differs between two packings, for messages: "--shards 30, before 20" where the
// user's own options differ (`other`: how to call the stored one's), else the first difference of
// the origins or of the files.
std::string PackDifference(const Json& identity, const Json& options, const Json& stored,
                           std::string_view other = "before");

Json FileIdsToJson(const std::vector<std::optional<FileId>>& ids);

// Returns the record in `text`, with all members that pack_manifest.h names and of the right types
// (but "part", which only some have); nothing if it is none, or of another version. Whatever it
// says, its names lead nowhere but into its own directory.
std::optional<Json> ParsePackRecord(const std::string& text);

// Reads the record at `path`; nothing if it is damaged or of another version. Errors: of reading.
Result<std::optional<Json>> ReadPackRecord(const std::string& path);

// Returns whether all is done that it tells of.
bool IsFinished(const Json& record);

// Removes what killed processes have left of these files of one directory, and nothing else: others
// there may be at work on other machines. Errors: of listing the directory, and of removing.
Status RemoveStaleOf(const std::string& directory, std::span<const std::string> files);

// The record of a part of the packing to a destination.
struct PartRecord {
  PackPart part;
  std::string path;
};

// Returns those beside `destination`, by number. Errors: of listing the directory.
Result<std::vector<PartRecord>> PartRecordsOf(const std::string& destination);

}  // namespace stoker::internal
