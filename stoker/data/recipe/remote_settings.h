// How files on servers are read, as an option: `data.remote` of a recipe.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/data/core/option_object.h"
#include "stoker/io/remote/remote_options.h"

namespace stoker {

// They hold for the whole process (io/remote/remote_options.h), from Apply on. What a recipe does
// not name keeps its default, which the environment may give.
class RemoteSettings {
 public:
  static constexpr std::string_view kTypeName = "settings";

  // Whether the recipe has them.
  bool given() const { return given_; }
  // Makes them hold, where they are given.
  void Apply() const;

  // See OptionObject.
  Status Read(const ConfigNode& node);
  ConfigNode Write() const;
  void Resolve(const std::filesystem::path& /*root*/) {}

 private:
  bool given_ = false;
  RemoteOptions options_;
};

// What may be set, for help.
const std::vector<Option>& RemoteSettingOptions();

}  // namespace stoker
