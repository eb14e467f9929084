#include "stoker/data/options/build_context.h"

#include <utility>

namespace stoker {
namespace {

thread_local std::shared_ptr<BuildContext> of_this_thread;

}  // namespace

std::shared_ptr<BuildContext> BuildContext::OfThisThread() { return of_this_thread; }

BuildContext::Scope::Scope(std::shared_ptr<BuildContext> context)
    : before_(std::exchange(of_this_thread, std::move(context))) {}

BuildContext::Scope::~Scope() { of_this_thread = std::move(before_); }

}  // namespace stoker
