// RecentResults: the last results of a costly pass over the data, for recipes that are read again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "stoker/base/mutex.h"

namespace stoker {

// Keeps the last kMost results, by a text of all that determines them, such as stages and
// FileStamps (file_stamps.h). Thread-safe.
template <typename T, size_t kMost>
class RecentResults {
 public:
  // Returns null if there is none.
  std::shared_ptr<const T> Find(const std::string& description) {
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find(entries_, description, &Entry::first);
    return found == entries_.end() ? nullptr : found->second;
  }
  void Add(const std::string& description, std::shared_ptr<const T> result) {
    const MutexLock lock(mutex_);
    entries_.emplace_front(description, std::move(result));
    if (entries_.size() > kMost) entries_.pop_back();
  }

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const T>>;
  Mutex mutex_;
  std::list<Entry> entries_ STOKER_GUARDED_BY(mutex_);  // newest first
};

}  // namespace stoker
