// What a packing has done so far, in a file beside what it makes: ".NAME.stoker-pack" for a
// destination NAME. It is there from before the first shard on, so that a packing that was killed
// goes on where it stood, and that shards of two packings are never mixed. It stays when all are
// whole, so that the same command, given again after a kill at whatever moment or by a job that is
// started anew, finds that nothing is left to do.
//
// JSON: {"stoker_pack": 2, "origin": text, "files": [name, ...], "replaces": [name, ...: files of
// another packing that go when all of these are whole], "before": [device and inode of what had the
// name of each of "files" when the packing began, or null], "done": [{"elements", "bytes",
// "checksum"}, ...], "state": the pipeline's position behind the last of them (Iterator::Save),
// "options": {name: value: what the user gave, to tell another packing by}, "finished": whether all
// is done, also what follows the last shard}. Replaced in one step whenever a shard is whole, and
// at the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/pack/pack_target.h"

namespace stoker {

// One thread at a time; two processes that pack the same into the same place write the same bytes.
class PackManifest {
 public:
  struct Shard {
    int64_t elements = 0;
    uint64_t bytes = 0;
    uint32_t checksum = 0;  // of its elements, as who packs computes it
  };

  struct Request {
    std::string destination;         // what the manifest is called by
    std::vector<std::string> files;  // in one directory, which is there; all to be made
    // All that the files' bytes depend on: another origin is another packing.
    std::string origin;
    // What of it the user gave, by the options' names: for messages alone.
    std::map<std::string, std::string> options = {};
    // Files that are there may be replaced, each when the new one is whole. When all are, those of
    // another packing to this destination go too: what its record lists, and all shards of sets of
    // another number. This packing's own shards are kept all the same: they would be equal.
    bool overwrite = false;
    std::vector<std::string> inputs = {};  // files that are read: none of them is ever replaced
  };

  // Begins a packing, or takes up the one that was interrupted, or that had come to its end if all
  // of its files are still there. An interrupted packing that had not finished a file stands in
  // nobody's way, and neither does what is left of a finished one. One that was begun with
  // `overwrite` is taken up without it only where nothing is left of what it was to replace.
  // Removes what killed writers left in the directory. Errors: kNotFound where the directory is not
  // there; kFailedPrecondition where files are there that do not belong to this packing (shards of
  // a set of another number among them), that are read, or that no packing has made
  // (pack_target.h), with what to do; those of io/atomic_file.h.
  static Result<PackManifest> Begin(Request request);

  // The shards that are whole, the first ones of the files.
  const std::vector<Shard>& done() const { return done_; }
  // Where the pipeline stands behind them; null where it stands at its beginning.
  const Json& state() const { return state_; }

  // The next file is whole.
  Status Add(const Shard& shard, Json state);
  // All are, and what belongs to them: what they replace goes.
  Status Finish();
  // The next file is about to get its name: sees to it that the manifest is there, which another
  // process that packs the same may have abandoned.
  Status EnsureThere() const;
  // The packing has failed: the manifest goes too, unless there is something to keep or to remove.
  // That includes a file that got its name although this packing failed, or that another process
  // made which packs the same: without a manifest it would refuse the next packing.
  void Abandon();

 private:
  PackManifest(std::string path, Request request);

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
  std::set<std::string> own_names_;    // of files_, which may be very many
  std::vector<std::string> replaced_;  // paths, none of files_
  std::set<std::string> replaced_names_;
  // What had the names of files_ before anything was made, also where a packing is taken up;
  // nothing for one that was not there.
  std::vector<std::optional<FileId>> before_;
  std::vector<Shard> done_;
  Json state_;
  bool finished_ = false;
};

// Bytes of a file, or of the files in a directory; 0 where nothing has that name. Errors: those of
// stat and of listing (kUnavailable, kResourceExhausted and others); the file may be there then.
Result<uint64_t> BytesOnDisk(const std::string& path);

}  // namespace stoker
