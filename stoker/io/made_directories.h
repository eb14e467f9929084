// The directories that a process has made for something that it may give up again.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// One thread at a time.
class MadeDirectories {
 public:
  // As CreateDirectories (atomic_file.h), and remembers each directory that this call has made: not
  // those that were there, nor those that another process made meanwhile. After an error too.
  Status Create(const std::string& path);

  // Makes the directory `path`, whose parent exists, and remembers it. False where something of
  // that name is there already. Errors: those of mkdir(2).
  Result<bool> CreateNew(const std::string& path);

  // Whether the directory that was made last is `path`, however that is spelled.
  bool MadeLast(const std::string& path) const;

  // The name under which it was made, without a slash at the end. REQUIRES: MadeLast of some path.
  const std::string& last() const { return made_.back(); }

  // Removes those that are empty, the newest first, and forgets all of them.
  void RemoveEmpty();

 private:
  std::vector<std::string> made_;  // each follows the one that holds it
};

}  // namespace stoker
