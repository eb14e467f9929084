// The tag of a plug-in library with kinds of one's own: what it was compiled with, as one text.
// Library and program must agree in all of it, because they share C++ classes.
//
//   stoker_plugin_v1: stoker 0.1.0, headers 2f5c81d09a3e, GCC 12, libstdc++ ABI 1, json 3.11.2,
//   fmt 90100, torch 2.11.0
//
// Included only by plug-ins (run/plugin.h) and by what loads them, because its hash changes with
// every public header.
#pragma once

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "stoker/base/header_hash.gen.h"  // generated: STOKER_HEADER_HASH, STOKER_BUILT_WITH_TORCH

#define STOKER_TAG_TEXT_OF(x) #x
#define STOKER_TAG_TEXT(x) STOKER_TAG_TEXT_OF(x)

#ifdef __clang__
#define STOKER_TAG_COMPILER "Clang " STOKER_TAG_TEXT(__clang_major__)
#else
#define STOKER_TAG_COMPILER "GCC " STOKER_TAG_TEXT(__GNUC__)
#endif

// CMake's target stoker::plugin says with which torch a library is compiled.
#ifdef STOKER_PLUGIN_TORCH
#define STOKER_TAG_TORCH STOKER_PLUGIN_TORCH
#else
#define STOKER_TAG_TORCH "none"
#endif

// Libraries whose types stand in public headers.
#define STOKER_TAG_JSON                        \
  STOKER_TAG_TEXT(NLOHMANN_JSON_VERSION_MAJOR) \
  "." STOKER_TAG_TEXT(NLOHMANN_JSON_VERSION_MINOR) "." STOKER_TAG_TEXT(NLOHMANN_JSON_VERSION_PATCH)
#if defined(JSON_DIAGNOSTICS) && JSON_DIAGNOSTICS
#define STOKER_TAG_JSON_DIAGNOSTICS " with diagnostics"
#else
#define STOKER_TAG_JSON_DIAGNOSTICS ""
#endif

// Changes the layout of the standard containers.
#ifdef _GLIBCXX_DEBUG
#define STOKER_TAG_DEBUG " debug"
#else
#define STOKER_TAG_DEBUG ""
#endif

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define STOKER_TAG_CLANG_ADDRESS
#elif __has_feature(thread_sanitizer)
#define STOKER_TAG_CLANG_THREAD
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(STOKER_TAG_CLANG_ADDRESS)
#define STOKER_TAG_SANITIZER ", address sanitizer"
#elif defined(__SANITIZE_THREAD__) || defined(STOKER_TAG_CLANG_THREAD)
#define STOKER_TAG_SANITIZER ", thread sanitizer"
#else
#define STOKER_TAG_SANITIZER ""
#endif

// By this a tag is found among the bytes of a file.
#define STOKER_TAG_BEGIN "stoker_plugin_v1: "

// Up to the version of torch, in which a library may differ that was compiled without torch.
#define STOKER_TAG_BEFORE_TORCH                                                                   \
  "stoker " STOKER_VERSION ", headers " STOKER_HEADER_HASH ", " STOKER_TAG_COMPILER               \
  ", libstdc++ ABI " STOKER_TAG_TEXT(_GLIBCXX_USE_CXX11_ABI) STOKER_TAG_DEBUG                     \
      ", json " STOKER_TAG_JSON STOKER_TAG_JSON_DIAGNOSTICS ", fmt " STOKER_TAG_TEXT(FMT_VERSION) \
          STOKER_TAG_SANITIZER ", torch "

#define STOKER_TAG_OF_PLUGIN STOKER_TAG_BEGIN STOKER_TAG_BEFORE_TORCH STOKER_TAG_TORCH
