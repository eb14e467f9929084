// Files that are worth nothing before they are finished, and go with a process that a signal ends.
#pragma once

#include <string>

namespace stoker {

// While one lives, RemoveUnfinishedFiles removes `path`; its owner does so otherwise. Of more than
// some dozens at a time in a process the rest is not removed: somebody else must tidy up in any
// case, after a process that was killed. Movable. Thread-safe.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const std::string& path);
  UnfinishedFile(UnfinishedFile&& other) noexcept;
  UnfinishedFile& operator=(UnfinishedFile&&) = delete;
  ~UnfinishedFile();

 private:
  struct Path;
  static void RemoveAll();
  friend void RemoveUnfinishedFiles();

  Path* path_;  // null: not kept
};

// Removes those of this process. For the handler of a signal that ends it: calls only functions
// that POSIX allows there.
void RemoveUnfinishedFiles();

}  // namespace stoker
