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

// One event file, open for appending. Each event reaches the file in one write, so that a watching
// TensorBoard shows it at once. Movable; one thread at a time. Errors: kResourceExhausted (disk
// full), kPermissionDenied, kNotFound (no such directory), with the path.
class EventWriter {
 public:
  // Begins a new file in `directory`, which exists. Its name sorts after those of all existing
  // event files.
  //   restart_at  readers forget what earlier files say of this and later steps; for a run that
  //               resumes before it
  static Result<EventWriter> Create(const std::string& directory,
                                    std::optional<int64_t> restart_at = std::nullopt);

  // Writes it with the current time.
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

// Returns the seconds since 1970, as events contain them.
double WallTime();

}  // namespace stoker
