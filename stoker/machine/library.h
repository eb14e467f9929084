// A shared library of a vendor, for functions that we declare ourselves.
#pragma once

#include <dlfcn.h>

#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Stays loaded while this lives. Not a plug-in (base/plugin.h): it has no tag, and its functions
// have C types that its vendor keeps.
class SharedLibrary {
 public:
  // Errors: kUnavailable, with the loader's reason.
  static Result<SharedLibrary> Load(const std::string& file) {
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return SharedLibrary(handle, file);
    const char* const reason = ::dlerror();
    return Unavailable("{}", reason == nullptr ? file + " does not load" : reason);
  }
  SharedLibrary(SharedLibrary&& other) noexcept
      : handle_(other.handle_), file_(std::move(other.file_)) {
    other.handle_ = nullptr;
  }
  SharedLibrary& operator=(SharedLibrary&&) = delete;
  ~SharedLibrary() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }

  // Sets `function`. Errors: kUnavailable if the library has no such name.
  template <typename F>
  Status Find(const char* name, F*& function) const {
    function = reinterpret_cast<F*>(::dlsym(handle_, name));
    return function != nullptr ? OkStatus() : Unavailable("{} has no {}", file_, name);
  }

 private:
  SharedLibrary(void* handle, std::string file) : handle_(handle), file_(std::move(file)) {}

  void* handle_;
  std::string file_;
};

}  // namespace stoker
