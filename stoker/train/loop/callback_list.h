// CallbackList: the callbacks of a run, called in their order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/train/core/callback.h"

namespace stoker {

// One thread at a time.
class CallbackList {
 public:
  // `name` finds its state in a checkpoint again, and is what messages call it.
  void Add(std::string name, std::shared_ptr<Callback> callback) {
    callbacks_.push_back({std::move(name), std::move(callback)});
  }
  bool empty() const { return callbacks_.empty(); }

  // Calls `hook` of each until one fails: Each([&](Callback& c) { return c.OnStart(view); }).
  template <typename Hook>
  Status Each(Hook&& hook) {
    for (const Entry& entry : callbacks_) {
      if (Status status = hook(*entry.callback); !status.ok()) {
        return status.While("calling the callback " + entry.name);
      }
    }
    return OkStatus();
  }

  // [{"name": ..., "state": ...}, ...]
  Result<Json> Save() const;
  // Each gets the state of the one of its name that stood at its place among those of that name;
  // one that is new gets none. Null: there were no callbacks.
  Status Restore(const Json& states);

 private:
  struct Entry {
    std::string name;
    std::shared_ptr<Callback> callback;
  };
  std::vector<Entry> callbacks_;
};

}  // namespace stoker
