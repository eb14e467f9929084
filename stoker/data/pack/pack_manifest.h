// What a packing has done so far, in a file beside what it makes: ".NAME.stoker-pack" for a
// destination NAME. It is there from before the first shard until all are whole, so that a packing
// that was killed goes on where it stood, and that shards of two packings are never mixed.
//
// JSON: {"stoker_pack": 1, "origin": text, "files": [name, ...], "done": [{"elements", "bytes"},
// ...], "state": the pipeline's position behind the last of them (Iterator::Save)}. Replaced in one
// step whenever a shard is whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// One thread at a time; two processes that pack the same into the same place write the same bytes.
class PackManifest {
 public:
  struct Shard {
    int64_t elements = 0;
    uint64_t bytes = 0;
  };

  // Begins a packing into `files` (in one directory, all to be made), or takes up the one that was
  // interrupted.
  //   destination  what the manifest is called by
  //   origin       all that the files' bytes depend on: another origin is another packing
  //   overwrite    what stands in the way is removed; a single file is replaced when the new one is
  //                whole. This packing's own shards are kept all the same: they would be equal
  // Removes what killed writers left in the directory. Errors: kFailedPrecondition where files are
  // there that do not belong to this packing, with what to do; those of io/atomic_file.h.
  static Result<PackManifest> Begin(const std::string& destination, std::vector<std::string> files,
                                    const std::string& origin, bool overwrite);

  // The shards that are whole, the first ones of the files.
  const std::vector<Shard>& done() const { return done_; }
  // Where the pipeline stands behind them; null where it stands at its beginning.
  const Json& state() const { return state_; }

  // The next file is whole.
  Status Add(const Shard& shard, Json state);
  // All are: the manifest goes.
  Status Finish();
  // The packing has failed: the manifest goes too, unless there is something to keep.
  void Abandon();

 private:
  PackManifest(std::string path, std::vector<std::string> files, const std::string& origin);

  Status TakeUp(const Json& stored);
  Status BelongsToAnother() const;
  Status MakeRoom(bool overwrite);
  Status Write() const;

  std::string path_;
  std::vector<std::string> files_;
  Json identity_;  // version, origin and names
  std::vector<Shard> done_;
  Json state_;
};

// Bytes of a file, or of the files in a directory; 0 where there is nothing of that name.
uint64_t BytesOnDisk(const std::string& path);

}  // namespace stoker
