// --metrics, --dashboard and --token-file.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

struct ServeOptions {
  std::optional<std::string> metrics;    // the address for Prometheus
  std::optional<std::string> dashboard;  // the address of the page
  std::string token_file;                // empty: none

  bool any() const { return metrics || dashboard; }
};

// The variable of the environment that holds the token where no file does.
inline constexpr const char* kTokenVariable = "STOKER_HTTP_TOKEN";

void AddServeOptions(CLI::App& app, ServeOptions& options);

// Returns the token of the file, or else of the environment; empty if there is none. Errors: those
// of ReadTokenFile and ParseToken; kInvalidArgument for a file without an address to serve.
Result<std::string> TokenOf(const ServeOptions& options);

}  // namespace stoker
