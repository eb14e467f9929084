// Writes LMDB databases, with liblmdb. README.md has the layout.
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
// bytes on machines of equal page size. The file holds all entries only once Finish has returned,
// and is not flushed to the disk: use it in an AtomicDirectory (io/atomic_file.h), which does both.
// Memory: up to about 64 MiB, or one larger value. Movable; one thread at a time.
class LmdbWriter {
 public:
  // The longest key, and value, that LMDB takes.
  static constexpr size_t kMostKeyBytes = 511;
  static constexpr uint64_t kMostValueBytes = 0xffffffff;

  // Begins a database in `directory`, which exists and holds none. Errors: those of making files.
  static Result<LmdbWriter> Create(const std::string& directory);
  LmdbWriter(LmdbWriter&& other) noexcept;
  LmdbWriter& operator=(LmdbWriter&& other) noexcept;
  ~LmdbWriter();

  // Appends an entry: keys must ascend by their bytes. The map grows as needed. Errors:
  // kInvalidArgument for a key that does not ascend, is empty or too long, and for a value that is
  // too long; kResourceExhausted for a full disk. After an error nothing can be added.
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
