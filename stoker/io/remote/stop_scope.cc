#include "stoker/io/remote/stop_scope.h"

#include <utility>

namespace stoker {
namespace {

thread_local const StopScope* innermost = nullptr;

}  // namespace

StopScope::StopScope(std::function<bool()> stop) : stop_(std::move(stop)), around_(innermost) {
  innermost = this;
}

StopScope::~StopScope() { innermost = around_; }

const std::function<bool()>& StopScope::OfThread() {
  static const std::function<bool()> nobody;
  return innermost == nullptr ? nobody : innermost->stop_;
}

}  // namespace stoker
