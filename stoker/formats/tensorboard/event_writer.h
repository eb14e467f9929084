// Writes TensorBoard's event files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/formats/tensorboard/summary.h"
#include "stoker/io/descriptor.h"

namespace stoker {

// One event file, open for appending. Each event reaches the file in one write, so that a
// TensorBoard that watches sees it at once. Moves; one thread at a time. Errors: kResourceExhausted
// (disk full), kPermissionDenied, kNotFound (no such directory), with the path.
class EventWriter {
 public:
  // Begins a new file in `directory`, which exists. Its name sorts behind those of all event files
  // that are there.
  //   restart_at  forget what files before this one say of that step and later ones: where a run
  //               goes on after the step before it
  static Result<EventWriter> Create(const std::string& directory,
                                    std::optional<int64_t> restart_at = std::nullopt);

  // At the present time.
  Status Write(const Summary& summary, int64_t step);

  // Flushes the file to the disk.
  Status Sync() const;

  const std::string& path() const { return path_; }

 private:
  EventWriter(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  Status Append(std::string_view event);

  std::string path_;
  Descriptor descriptor_;
};

// Seconds since 1970, as events have them.
double WallTime();

}  // namespace stoker
