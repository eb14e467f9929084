// Writes databases of LMDB, with liblmdb. README.md has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// The file `data.mdb` of a database in a directory, without a lock file. Equal calls give equal
// bytes on machines whose pages have one size. It holds all entries only once Finish has returned,
// and is not flushed to the disk: this is for an AtomicDirectory (io/atomic_file.h), which sees to
// both. Memory: up to some 64 MiB, or one value where that is larger. Moves; one thread at a time.
class LmdbWriter {
 public:
  // The longest key, and value, that LMDB takes.
  static constexpr size_t kMostKeyBytes = 511;
  static constexpr uint64_t kMostValueBytes = 0xffffffff;

  // Begins one in `directory`, which is there and holds none. Errors: those of making files.
  static Result<LmdbWriter> Create(const std::string& directory);
  LmdbWriter(LmdbWriter&& other) noexcept;
  LmdbWriter& operator=(LmdbWriter&& other) noexcept;
  ~LmdbWriter();

  // Adds an entry behind all others: keys must ascend by their bytes. The map grows as it is
  // needed. Errors: kInvalidArgument for a key that does not ascend, is empty or too long, and for
  // a value that is too long; kResourceExhausted for a disk that is full. After an error nothing
  // can be added.
  Status Append(std::string_view key, std::span<const std::byte> value);
  Status Append(std::string_view key, std::string_view value) {
    return Append(key, std::as_bytes(std::span(value)));
  }

  // Writes what is left and closes the file. Call once, last.
  Status Finish();

 private:
  class Database;
  explicit LmdbWriter(std::unique_ptr<Database> database);

  std::unique_ptr<Database> database_;
};

}  // namespace stoker
