#include "stoker/train/loop/callback_list.h"

#include "stoker/base/problems.h"

namespace stoker {

Status CallbackList::Placed(const Entry& entry, const Status& status) {
  if (entry.place.file == nullptr) return status;
  return WithPrefix(entry.place.ToString() + ": ", status);
}

Result<Json> CallbackList::Save() const {
  Json states = Json::array();
  for (const Entry& entry : callbacks_) {
    STOKER_ASSIGN_OR_RETURN(Json state, entry.callback->Save());
    states.push_back({{"name", entry.name}, {"state", std::move(state)}});
  }
  return states;
}

Status CallbackList::Restore(const Json& states) {
  Json left = states;
  for (const Entry& entry : callbacks_) {
    for (Json& state : left) {
      if (!state.is_object() || !state.contains("state")) {
        return DataLoss("the states of the callbacks are not as we write them");
      }
      if (state.value("name", Json()) != entry.name) continue;
      STOKER_RETURN_IF_ERROR(
          entry.callback->Restore(state["state"]).While("restoring the callback " + entry.name));
      state["name"] = nullptr;  // used
      break;
    }
  }
  return OkStatus();
}

}  // namespace stoker
