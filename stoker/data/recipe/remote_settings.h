// The settings for reading files on servers, as an option: `data.remote` of a recipe.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/data/core/option_object.h"
#include "stoker/io/remote/remote_options.h"

namespace stoker {

// Apply sets them for the whole process (io/remote/remote_options.h). Settings that a recipe does
// not name keep their default, which may come from the environment.
class RemoteSettings {
 public:
  static constexpr std::string_view kTypeName = "settings";

  // Returns whether the recipe has them.
  bool given() const { return given_; }
  // Applies them if given.
  void Apply() const;

  // See OptionObject.
  Status Read(const ConfigNode& node);
  ConfigNode Write() const;
  void Resolve(const std::filesystem::path& /*root*/) {}

 private:
  bool given_ = false;
  RemoteOptions options_;
};

// Returns the possible settings, for help.
const std::vector<Option>& RemoteSettingOptions();

}  // namespace stoker
