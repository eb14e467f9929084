// PartsInUse: which parts of files (chunks, groups of rows) a cache holds: those in use, and those
// that nobody uses, of which the ones used last are kept.
#pragma once

#include <cstdint>
#include <list>
#include <map>

namespace stoker {

// Not thread-safe: guarded by the lock of its cache.
template <typename Key, typename Value>
class PartsInUse {
 public:
  // Keeps up to `most_kept` bytes of unused parts.
  explicit PartsInUse(uint64_t most_kept) : most_kept_(most_kept) {}

  struct Part {
    Value value{};
    uint64_t bytes = 0;
    int users = 0;
    typename std::list<Key>::iterator idle = {};  // in idle_ if there are no users
  };

  // Null if the part is not held. Valid until it is removed.
  Part* Find(const Key& key) {
    const auto found = parts_.find(key);
    return found == parts_.end() ? nullptr : &found->second;
  }

  // Adds a user. A part that is not held is added, with `bytes`.
  Part& Use(const Key& key, uint64_t bytes) {
    const auto [found, is_new] = parts_.try_emplace(key);
    Part& part = found->second;
    if (is_new) {
      part.bytes = bytes;
      held_bytes_ += bytes;
    } else if (part.users == 0) {
      idle_.erase(part.idle);
      idle_bytes_ -= part.bytes;
    }
    ++part.users;
    return part;
  }

  // Removes a user. A part without users is kept, as the one used last, if `is_worth_keeping`
  // (called with its value) says so. REQUIRES: it has users.
  template <typename Predicate>
  void Leave(const Key& key, const Predicate& is_worth_keeping) {
    Part& part = parts_.at(key);
    if (--part.users > 0) return;
    if (!is_worth_keeping(part.value)) return Remove(key);
    idle_.push_front(key);
    part.idle = idle_.begin();
    idle_bytes_ += part.bytes;
  }

  // REQUIRES: it is held, and not idle.
  void Remove(const Key& key) {
    const auto found = parts_.find(key);
    held_bytes_ -= found->second.bytes;
    parts_.erase(found);
  }

  // REQUIRES: the part is not idle.
  void SetBytes(Part& part, uint64_t bytes) {
    held_bytes_ = held_bytes_ - part.bytes + bytes;
    part.bytes = bytes;
  }

  // Counts bytes as in use that belong to no part, and no longer.
  void Reserve(uint64_t bytes) { held_bytes_ += bytes; }
  void Return(uint64_t bytes) { held_bytes_ -= bytes; }

  // Returns the bytes of all parts with users, and those reserved.
  uint64_t bytes_in_use() const { return held_bytes_ - idle_bytes_; }

  // Drops unused parts, those used longest ago first, until what is kept fits, and all that is held
  // into `limit`; but keeps `fewest` of them.
  void DropIdle(uint64_t limit, size_t fewest) {
    while (idle_.size() > fewest && (idle_bytes_ > most_kept_ || held_bytes_ > limit)) {
      const Key oldest = idle_.back();
      idle_.pop_back();
      idle_bytes_ -= parts_.at(oldest).bytes;
      Remove(oldest);
    }
  }

 private:
  const uint64_t most_kept_;
  std::map<Key, Part> parts_;
  std::list<Key> idle_;      // the one used last first
  uint64_t held_bytes_ = 0;  // of all parts, and reserved
  uint64_t idle_bytes_ = 0;
};

}  // namespace stoker
