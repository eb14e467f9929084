#include "stoker/tools/live/serve_options.h"

#include <cstdlib>

#include "stoker/http/address.h"
#include "stoker/http/token.h"
#include "stoker/tools/program/command_table.h"

namespace stoker {
namespace {

std::string CheckAddress(const std::string& text) {
  const Result<HttpAddress> address = ParseHttpAddress(text);
  return address.ok() ? std::string() : address.status().message();
}

}  // namespace

void AddServeOptions(CLI::App& app, ServeOptions& options) {
  const auto add = [&](const char* name, std::optional<std::string>& address, const char* help) {
    app.add_option_function<std::string>(
           name, [&address](const std::string& given) { address = given; }, help)
        ->type_name("[HOST:]PORT")
        ->check(CLI::Validator(CheckAddress, ""))
        ->group(kSeldomGroup);
  };
  add("--metrics", options.metrics, "serve figures for Prometheus while it runs, at /metrics");
  add("--dashboard", options.dashboard, "serve a page with live charts while it runs");
  app.add_option("--token-file", options.token_file,
                 "holds the token that requests must show; needed beyond loopback")
      ->type_name("FILE")
      ->group(kSeldomGroup);
}

Result<std::string> TokenOf(const ServeOptions& options) {
  if (!options.token_file.empty()) {
    if (!options.any()) {
      return InvalidArgument(
          "--token-file: nothing is served; give --metrics or --dashboard an address too");
    }
    return ReadTokenFile(options.token_file);
  }
  const char* const variable = std::getenv(kTokenVariable);
  if (!options.any() || variable == nullptr || *variable == '\0') return std::string();
  return ParseToken(variable, kTokenVariable);
}

}  // namespace stoker
