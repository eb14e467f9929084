// What a machine can do at best, as measured: the roofs under which every pipeline runs.
//
// Kept as JSON ("schema": 1) so that what judges a run later need not measure again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// Rates are of one thread, and of several together where the name says so. Empty: not measured.
struct StorageRoofs {
  std::string path;  // absolute
  std::string type;  // of the file system
  // How the page cache was passed: "O_DIRECT", or "posix_fadvise" where the file system has no
  // direct reads, whose figures may be too high.
  std::string how;
  std::optional<double> read_bytes_per_s;            // in sequence
  std::optional<double> write_bytes_per_s;           // in sequence, until it is on the disk
  std::optional<double> random_reads_per_s;          // of 4 KiB, one at a time
  std::optional<double> random_bytes_per_s;          // of 128 KiB, 16 at a time
  std::optional<double> small_files_per_s;           // of 16 KiB: open, read, close; one at a time
  std::optional<double> small_files_together_per_s;  // 16 at a time
  std::string problem;  // why something was not measured; empty if all was
};

struct MemoryRoofs {
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;
  double copy_bytes_per_s = 0;  // bytes copied; each is read once and written once
};

struct DecodeRoofs {
  double pictures_per_s = 0;  // JPEGs of 500 x 375 pixels
};

struct CopyRoofs {
  std::string device;
  double pinned_bytes_per_s = 0;    // from memory that cannot be paged out
  double pageable_bytes_per_s = 0;  // from ordinary memory
};

// Between processes of this machine, of float32 on the CPU (Gloo).
struct AllReduceRoofs {
  int processes = 0;
  double small_s = 0;      // for 64 numbers
  double bytes_per_s = 0;  // of a tensor of 16 MiB, whose bytes count once

  Json ToJson() const;
  // Errors: kDataLoss, as of Roofs.
  static Result<AllReduceRoofs> FromJson(const Json& json);
};

struct Roofs {
  std::string host;
  int cpus = 0;             // threads of the figures "together" of memory and decoding
  std::string measured_at;  // UTC, "2024-01-31T23:59:59Z"
  std::vector<StorageRoofs> storage;
  std::optional<MemoryRoofs> memory;
  std::optional<MemoryRoofs> memory_together;
  std::optional<DecodeRoofs> decode;
  std::optional<DecodeRoofs> decode_together;
  std::vector<CopyRoofs> copies;
  std::optional<AllReduceRoofs> all_reduce;

  Json ToJson() const;
  // Errors: kDataLoss, which says what is missing or of the wrong type; kUnimplemented for another
  // schema.
  static Result<Roofs> FromJson(const Json& json);
};

// Reads the text of a file that SaveRoofs has written. Errors: those of FromJson; kDataLoss for
// what is no JSON, or nested deeper than any such file.
Result<Roofs> ParseRoofs(std::string_view text);

// Returns where roofs are kept unless somebody names a file: stoker/machine.json in
// $XDG_CACHE_HOME, else in $HOME/.cache. Errors: kFailedPrecondition if neither variable is set.
Result<std::string> DefaultRoofsPath();

// Reads a file that SaveRoofs has written. Errors: kNotFound if there is none (`stoker env` makes
// it), those of FromJson with the path, and those of reading.
Result<Roofs> LoadRoofs(const std::string& path);

// Writes the file atomically, and makes its directory. Figures of other paths that the file has of
// the same host are kept, at most 32 paths in all. Errors: those of io/atomic_file.h.
Status SaveRoofs(Roofs roofs, const std::string& path);

}  // namespace stoker
