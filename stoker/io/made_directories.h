// The directories that a process made and may remove again.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// One thread at a time.
class MadeDirectories {
 public:
  // As CreateDirectories (atomic_file.h), and remembers each directory that this call made, also
  // after an error: not those that existed, nor those that another process made meanwhile.
  Status Create(const std::string& path);

  // Makes the directory `path`, whose parent exists, and remembers it. Returns false if something
  // of that name exists. Errors: those of mkdir(2).
  Result<bool> CreateNew(const std::string& path);

  // Returns whether the directory made last is `path`, in any spelling.
  bool MadeLast(const std::string& path) const;

  // Returns the name under which it was made, without a slash at the end. REQUIRES: MadeLast of
  // some path.
  const std::string& last() const { return made_.back(); }

  // Removes those that are empty, the newest first, and forgets all of them.
  void RemoveEmpty();

 private:
  std::vector<std::string> made_;  // each follows its parent
};

}  // namespace stoker
