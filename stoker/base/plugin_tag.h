// The tag of a plug-in library with kinds of one's own: what it was compiled with, as one text.
// Library and program must agree in all of it, because they share C++ classes.
//
//   stoker_plugin_v1: stoker 0.1.0, headers 2f5c81d09a3e, GCC 12, libstdc++ ABI 1, torch 2.11.0
//
// Included by plug-ins (run/plugin.h) and by what loads them, and by nothing else: its hash changes
// with every public header.
#pragma once

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

#if defined(__SANITIZE_ADDRESS__)
#define STOKER_TAG_SANITIZER ", address sanitizer"
#elif defined(__SANITIZE_THREAD__)
#define STOKER_TAG_SANITIZER ", thread sanitizer"
#else
#define STOKER_TAG_SANITIZER ""
#endif

// By this a tag is found among the bytes of a file.
#define STOKER_TAG_BEGIN "stoker_plugin_v1: "

// Up to the version of torch, in which a library may differ that was compiled without torch.
#define STOKER_TAG_BEFORE_TORCH                                                     \
  "stoker " STOKER_VERSION ", headers " STOKER_HEADER_HASH ", " STOKER_TAG_COMPILER \
  ", libstdc++ ABI " STOKER_TAG_TEXT(_GLIBCXX_USE_CXX11_ABI) STOKER_TAG_SANITIZER ", torch "

#define STOKER_TAG_OF_PLUGIN STOKER_TAG_BEGIN STOKER_TAG_BEFORE_TORCH STOKER_TAG_TORCH
