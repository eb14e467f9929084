// The progress of a packing, in a file beside its output: ".NAME.stoker-pack" for a destination
// NAME, ".NAME.part-00003-of-00008.stoker-pack" for a part (pack_part.h). It exists from before the
// first shard on, so that a killed packing can be continued, and shards of two packings are never
// mixed. It stays when all shards are whole, so that the same command, repeated after a kill at any
// moment, finds nothing left to do.
//
// JSON: {"stoker_pack": 2, "origin": text, "files": [name, ...], "replaces": [name, ...: files of
// another packing to remove when all of these are whole], "before": [device and inode of the file
// with the name of each of "files" when the packing began, or null], "done": [{"elements", "bytes",
// "checksum"}, ...], "state": the pipeline's position after the last of them (Iterator::Save),
// "options": {name: value: the user's, to recognise another packing}, "finished": whether all is
// done, including the steps after the last shard}. That of a part has "part" too: {"number", "of",
// "set": the number of files of all parts, "schema": text, the RecordSchema of the files}, and its
// "files" are the part's. Replaced in one step whenever a shard is whole, and at the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/pack/pack_part.h"
#include "stoker/data/pack/pack_target.h"

namespace stoker {

// One thread at a time; two processes that pack the same into the same place write the same bytes.
class PackManifest {
 public:
  struct Shard {
    int64_t elements = 0;
    uint64_t bytes = 0;
    uint32_t checksum = 0;  // of its elements, computed by the packer
  };

  // What `files` are a part of.
  struct Part {
    PackPart part;
    std::vector<std::string> set;  // the files of the whole packing, these among them
    int64_t shards = 0;            // of them; the other, if there is one, has the names of classes
    std::string schema;            // of their elements, for the merge
  };

  struct Request {
    std::string destination;         // gives the manifest its name
    std::vector<std::string> files;  // all files to make, in one existing directory
    // Everything that the files' bytes depend on: another origin is another packing.
    std::string origin;
    // The options that the user gave, by name; only for messages.
    std::map<std::string, std::string> options = {};
    // Existing files may be replaced, each when the new one is whole. When all are, files of
    // another packing to this destination are removed: those in its manifest, and all shards of
    // sets of another number. This packing's own shards are kept, because new ones would be equal.
    bool overwrite = false;
    std::vector<std::string> inputs = {};  // files that are read; never replaced
    std::optional<Part> part = {};         // nothing: the whole packing
  };

  // Begins a packing, or continues one that was interrupted, or that had finished if all of its
  // files still exist. An interrupted packing without a finished file, and the rest of a finished
  // one, are no obstacle. One that was begun with `overwrite` is continued without it only if
  // nothing is left to replace. Removes temporaries of killed writers from the directory; a part
  // removes those of its own files only.
  //
  // A part replaces no file but its own, whatever `overwrite` says, since other parts may be under
  // way. Once its set is merged, nothing is left to do for it.
  //
  // Errors:
  // kNotFound if the directory does not exist; kFailedPrecondition if there are files that do not
  // belong to this packing (such as shards of a set of another number), that are read, or that no
  // packing has made (pack_target.h), with what to do; those of io/atomic_file.h.
  static Result<PackManifest> Begin(Request request);

  // Returns the whole shards, the first of the files.
  const std::vector<Shard>& done() const { return done_; }
  // Returns the pipeline's position after them; null at its beginning.
  const Json& state() const { return state_; }

  // Records that the next file is whole.
  Status Add(const Shard& shard, Json state);
  // Records that everything is done, and removes the replaced files.
  Status Finish();
  // Call before the next file gets its name: writes the manifest again if another process that
  // packs the same has removed it.
  Status EnsureThere() const;
  // Call when the packing has failed: removes the manifest, unless there is something to keep or to
  // remove. That includes a file that got its name although this packing failed, or that another
  // process which packs the same made: without a manifest it would block the next packing.
  void Abandon();

 private:
  PackManifest(std::string path, Request request);

  static Json IdentityOf(const std::optional<Part>& part);
  Status RemoveStale() const;
  Status TakeUpWhole(const std::string& path, const std::string& origin, bool overwrite);
  Status TakeUpFiles(const Json& done);
  Status CheckParts(const std::string& destination, bool overwrite) const;
  Result<bool> TakeUp(bool overwrite);
  Result<bool> TakeUpFinished(const Json& stored, bool overwrite);
  Status Continue(const Json& stored);
  void Replace(const Json& names);
  Result<std::vector<std::string>> OtherShards(const std::string& destination) const;
  Status CheckOtherShards(const std::string& destination, bool overwrite);
  Status BelongsToAnother(const Json& stored) const;
  Status CannotBeRead() const;
  Status CheckMayGo() const;
  Status CheckRoom() const;
  Status CheckOldAreGone() const;
  void NoteFiles();
  Status ForgetWhatWentMeanwhile();
  bool HasMadeFiles() const;
  Status Write() const;

  std::string path_;
  std::vector<std::string> files_;
  Json identity_;  // version, origin and names
  Json options_;
  std::optional<Part> part_;
  bool merged_ = false;                // the part's set is whole
  std::set<std::string> own_names_;    // of files_ or the set, of which there may be very many
  std::vector<std::string> replaced_;  // paths, none of files_
  std::set<std::string> replaced_names_;
  // The files with the names of files_ before the packing first began; nothing for those that did
  // not exist.
  std::vector<std::optional<FileId>> before_;
  std::vector<Shard> done_;
  Json state_;
  bool finished_ = false;
};

// Returns the bytes of a file, or of the files in a directory; 0 if nothing has that name. Errors:
// those of stat and of listing (kUnavailable, kResourceExhausted and others); then the file may
// exist.
Result<uint64_t> BytesOnDisk(const std::string& path);

}  // namespace stoker
