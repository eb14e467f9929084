#include "stoker/io/remote/libcurl_internal.h"

#ifdef STOKER_LOADS_LIBCURL
#include <dlfcn.h>
#endif

namespace stoker {
namespace {

#ifdef STOKER_LOADS_LIBCURL

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<Libcurl> Load() {
  // The name that its version 7.16 and all later ones have.
  void* const library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Unavailable(
        "files on servers are read by libcurl, which does not load: {}; install it (Debian and "
        "Ubuntu: libcurl4, Fedora: libcurl)",
        dlerror());
  }
  Libcurl curl{};
  const bool whole = Find(library, "curl_global_init", curl.global_init) &&
                     Find(library, "curl_easy_init", curl.easy_init) &&
                     Find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                     Find(library, "curl_easy_reset", curl.easy_reset) &&
                     Find(library, "curl_easy_setopt", curl.easy_setopt) &&
                     Find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                     Find(library, "curl_easy_strerror", curl.easy_strerror) &&
                     Find(library, "curl_multi_init", curl.multi_init) &&
                     Find(library, "curl_multi_cleanup", curl.multi_cleanup) &&
                     Find(library, "curl_multi_add_handle", curl.multi_add_handle) &&
                     Find(library, "curl_multi_remove_handle", curl.multi_remove_handle) &&
                     Find(library, "curl_multi_perform", curl.multi_perform) &&
                     Find(library, "curl_multi_poll", curl.multi_poll) &&
                     Find(library, "curl_multi_wakeup", curl.multi_wakeup) &&
                     Find(library, "curl_multi_info_read", curl.multi_info_read) &&
                     Find(library, "curl_slist_append", curl.slist_append) &&
                     Find(library, "curl_slist_free_all", curl.slist_free_all);
  if (whole) return curl;
  return Unavailable(
      "files on servers are read by libcurl 7.68 or later, and this machine's is older: {}",
      dlerror());
}

#else

Result<Libcurl> Load() {
  return Libcurl{.global_init = &curl_global_init,
                 .easy_init = &curl_easy_init,
                 .easy_cleanup = &curl_easy_cleanup,
                 .easy_reset = &curl_easy_reset,
                 .easy_setopt = &curl_easy_setopt,
                 .easy_getinfo = &curl_easy_getinfo,
                 .easy_strerror = &curl_easy_strerror,
                 .multi_init = &curl_multi_init,
                 .multi_cleanup = &curl_multi_cleanup,
                 .multi_add_handle = &curl_multi_add_handle,
                 .multi_remove_handle = &curl_multi_remove_handle,
                 .multi_perform = &curl_multi_perform,
                 .multi_poll = &curl_multi_poll,
                 .multi_wakeup = &curl_multi_wakeup,
                 .multi_info_read = &curl_multi_info_read,
                 .slist_append = &curl_slist_append,
                 .slist_free_all = &curl_slist_free_all};
}

#endif

}  // namespace

const Result<Libcurl>& FindLibcurl() {
  // Not destroyed: threads may still end a request when the program ends.
  static const auto& found = *new Result<Libcurl>(Load());
  return found;
}

}  // namespace stoker
