// CallbackList: the callbacks of a run, called in their order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/callback.h"

namespace stoker {

// One thread at a time.
class CallbackList {
 public:
  // `name` identifies its state in a checkpoint and in messages.
  //   place  in the recipe, for messages; of a callback of the program none
  void Add(std::string name, std::shared_ptr<Callback> callback, const ConfigLocation& place = {}) {
    callbacks_.push_back({std::move(name), std::move(callback), place});
  }
  bool empty() const { return callbacks_.empty(); }

  // Calls `hook` of each until one fails: Each([&](Callback& c) { return c.OnStart(view); }).
  template <typename Hook>
  Status Each(Hook&& hook) {
    for (const Entry& entry : callbacks_) {
      // What a callback throws is no other end of the run than an error.
      const Status status = CatchTorchErrors([&] { return hook(*entry.callback); });
      if (!status.ok()) return Placed(entry, status.While("calling the callback " + entry.name));
    }
    return OkStatus();
  }

  // Returns [{"name": ..., "state": ...}, ...].
  Result<Json> Save() const;
  // Restores each callback from the state of the same name and the same place among those of that
  // name; a new one gets none. Null: there were no callbacks.
  Status Restore(const Json& states);

 private:
  struct Entry {
    std::string name;
    std::shared_ptr<Callback> callback;
    ConfigLocation place;
  };
  static Status Placed(const Entry& entry, const Status& status);

  std::vector<Entry> callbacks_;
};

}  // namespace stoker
