#include "stoker/tools/program/arguments.h"

#include <fmt/format.h>

#include <cmath>

#include "stoker/base/byte_size.h"
#include "stoker/base/default_budget.h"
#include "stoker/base/short_text.h"
#include "stoker/data/recipe/plugins.h"

namespace stoker {

CLI::Option& AddRecipeArgument(CLI::App& app, std::string& path) {
  return *app.add_option("RECIPE", path, "YAML; `stoker inspect --ops` lists what it may contain")
              ->type_name("");
}

CLI::Option& AddRunArgument(CLI::App& app, std::string& directory) {
  return *app.add_option("RUN", directory, "directory of the run, as `stoker train` printed it")
              ->type_name("");
}

CLI::Option& AddSetOption(CLI::App& app, std::vector<std::string>& assignments) {
  return *app.add_option("--set", assignments, "change a key, as train.epochs=1; may be repeated")
              ->type_name("KEY=VALUE")
              ->allow_extra_args(false);
}

CLI::Option& AddAllowCodeOption(CLI::App& app) {
  return *app.add_flag_callback(
      "--allow-code", [] { SetPluginPolicy(PluginPolicy::kLoad); },
      "run the code of the plug-ins that the recipe names");
}

CLI::Option& AddMemoryOption(CLI::App& app) {
  const auto set = [](const int64_t& bytes) {
    const Status status = SetDefaultBudget(bytes);
    if (!status.ok()) throw CLI::ValidationError("--memory", status.message());
  };
  return *app.add_option_function<int64_t>("--memory", set, "limit for all buffers")
              ->type_name("BYTES")
              ->transform(MemorySize())
              ->default_str("a quarter of the container's");
}

CLI::Validator AtLeastCheck(int64_t least) {
  const auto check = [least](const std::string& text) -> std::string {
    int64_t value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least) return {};
    return fmt::format("{} is not a whole number of at least {}", text, least);
  };
  return CLI::Validator(check, "");
}

CLI::Validator MemorySize() {
  constexpr int64_t kLeast = 1000;
  const auto read = [](std::string& text) -> std::string {
    const Result<int64_t> bytes = ParseByteSize(text);
    if (!bytes.ok() || *bytes < kLeast) {
      return fmt::format(
          "'{}' is no size from 1kB to 9000000TB; write a number and kB, MB, GB, TB (powers of "
          "1000) or KiB, MiB, GiB, TiB (of 1024), such as 512MiB or 2GB, or bytes without a unit",
          ShortText(text));
    }
    text = std::to_string(*bytes);
    return {};
  };
  return CLI::Validator(read, "");
}

CLI::Validator BetweenCheck(double least, double most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return {};
    return fmt::format("{} is not a number from {} to {}", ShortText(text), least, most);
  };
  return CLI::Validator(check, "");
}

CLI::Validator PositiveCheck() {
  const auto check = [](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value > 0) return {};
    return fmt::format("{} is not a number greater than 0", ShortText(text));
  };
  return CLI::Validator(check, "");
}

CLI::Option& AddJsonOption(CLI::App& app, bool& json) {
  return *app.add_flag("--json", json, "print one JSON object on standard output, nothing else");
}

}  // namespace stoker
