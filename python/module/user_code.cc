#include "python/module/user_code.h"

#include <memory>
#include <utility>

namespace nb = nanobind;

namespace stoker::python {
namespace {

thread_local bool here = false;

}  // namespace

UserCode::~UserCode() {
  if (functions_.empty() || Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire gil;
  Forget();
}

UserCode::Building::Building(UserCode& code)
    : scope_(std::make_shared<Context>(code.shared_from_this())) {}

Result<std::shared_ptr<UserCode::Context>> UserCode::Context::OfThisThread() {
  if (auto context = std::dynamic_pointer_cast<Context>(BuildContext::OfThisThread()))
    return context;
  return Unimplemented(
      "functions of Python can be called only in pipelines that are built by Python; read the "
      "recipe by stoker.Loader or stoker.read_recipe");
}

std::shared_ptr<BuildContext> UserCode::Context::ForFirst() {
  std::shared_ptr<Text> within;
  if (further_) {
    // The first of these is a further one of those that the outer text's first pipeline built.
    if (entered_ < text_->within.size()) within = text_->within[entered_++];
  } else {
    within = std::make_shared<Text>();
    if (text_) text_->within.push_back(within);
  }
  return std::shared_ptr<Context>(new Context(code_, std::move(within), further_));
}

std::shared_ptr<BuildContext> UserCode::Context::ForFurther() const {
  return std::shared_ptr<Context>(new Context(code_, text_, /*further=*/true));
}

void UserCode::Context::Note(Added added) {
  if (text_ && !further_) text_->added.push_back(std::move(added));
}

Result<UserCode::Added> UserCode::Context::TakeNext() {
  if (text_ && taken_ < text_->added.size()) return text_->added[taken_++];
  return Internal("a function of Python is not among those of the first file's pipeline");
}

UserCode::CallsHere::CallsHere(bool calls) : before_(std::exchange(here, calls)) {}
UserCode::CallsHere::~CallsHere() { here = before_; }
bool UserCode::calls_here() { return here; }

uint32_t UserCode::Add(nb::object bound) {
  functions_.push_back(std::move(bound));
  return static_cast<uint32_t>(functions_.size() - 1);
}

}  // namespace stoker::python
