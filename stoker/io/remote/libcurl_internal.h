// The functions of libcurl that http_client.cc calls. A program is linked with the library; a build
// with STOKER_LOADS_LIBCURL, such as the Python package's, opens that of the system at the first
// request: it brings some thirty others, which make a wheel twice as large and its start twice as
// slow, and has the certificates of the machine it was made for.
#pragma once

#include <curl/curl.h>

#include "stoker/base/status.h"

namespace stoker {

struct Libcurl {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
};

// Errors: kUnavailable: this machine has no libcurl.so.4. Thread-safe; the same answer each time.
const Result<Libcurl>& FindLibcurl();

}  // namespace stoker
