#include "stoker/data/core/shared_trials.h"

#include "stoker/data/core/failure.h"

namespace stoker {

void SharedTrials::Try(int64_t i, const SingleRead& read) {
  if (given_up_) return;
  std::optional<Status>& tried = tried_[static_cast<size_t>(i)];
  try {
    tried = read(i, context_.AsTrial().WithLost(nullptr));
  } catch (...) {
    // Thrown again where it is read in order, after the errors of the elements before it.
    given_up_ = true;
    return;
  }
  if (!tried->ok() && EndsTheRead(*tried)) given_up_ = true;
}

Status SharedTrials::trouble() const {
  for (const std::optional<Status>& tried : tried_) {
    if (tried && !tried->ok() && EndsTheRead(*tried)) return *tried;
  }
  return OkStatus();
}

Status SharedTrials::Settle(int64_t i, const SingleRead& read) {
  const std::optional<Status>& tried = tried_[static_cast<size_t>(i)];
  return tried && tried->ok() ? OkStatus() : read(i, context_);
}

bool SharedTrials::EndsTheRead(const Status& error) const {
  return context_.trial() || !IsAboutOneElement(error);
}

}  // namespace stoker
