// What a packing has done so far, in a file beside what it makes: ".NAME.stoker-pack" for a
// destination NAME. It is there from before the first shard until all are whole, so that a packing
// that was killed goes on where it stood, and that shards of two packings are never mixed.
//
// JSON: {"stoker_pack": 2, "origin": text, "files": [name, ...], "replaces": [name, ...: files of
// another packing that go when all of these are whole], "done": [{"elements", "bytes", "checksum"},
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
    uint32_t checksum = 0;  // of its elements, as who packs computes it
  };

  // Begins a packing into `files` (in one directory, all to be made), or takes up the one that was
  // interrupted.
  //   destination  what the manifest is called by
  //   origin       all that the files' bytes depend on: another origin is another packing
  //   overwrite    files that are there may be replaced, each when the new one is whole, and those
  //                of another interrupted packing go when all are. This packing's own shards are
  //                kept all the same: they would be equal
  //   inputs       the files that are read meanwhile: none of them is ever replaced
  // An interrupted packing that had not finished a file stands in nobody's way. Removes what killed
  // writers left in the directory. Errors: kFailedPrecondition where files are there that do not
  // belong to this packing, or that are read, with what to do; those of io/atomic_file.h.
  static Result<PackManifest> Begin(const std::string& destination, std::vector<std::string> files,
                                    const std::string& origin, bool overwrite,
                                    const std::vector<std::string>& inputs);

  // The shards that are whole, the first ones of the files.
  const std::vector<Shard>& done() const { return done_; }
  // Where the pipeline stands behind them; null where it stands at its beginning.
  const Json& state() const { return state_; }

  // The next file is whole.
  Status Add(const Shard& shard, Json state);
  // All are: what they replace goes, and then the manifest.
  Status Finish();
  // The packing has failed: the manifest goes too, unless there is something to keep or to remove.
  void Abandon();

 private:
  PackManifest(std::string path, std::vector<std::string> files, const std::string& origin);

  Result<bool> TakeUp(bool overwrite);
  Status Continue(const Json& stored);
  void Replace(const Json& names);
  Status BelongsToAnother() const;
  Status CheckRoom() const;
  Status Write() const;

  std::string path_;
  std::vector<std::string> files_;
  Json identity_;                      // version, origin and names
  std::vector<std::string> replaced_;  // paths, none of files_
  std::vector<Shard> done_;
  Json state_;
};

// Bytes of a file, or of the files in a directory; 0 where there is nothing of that name.
uint64_t BytesOnDisk(const std::string& path);

}  // namespace stoker
