// Models as options of a model.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/data/core/option_object.h"
#include "stoker/run/registry.h"

namespace stoker::internal {

// A model for each named input. In C++: `.towers = {{"words", Configure(EmbeddingBag{})}}`. In a
// recipe a map of models: `{words: {embedding_bag: {classes: 32}}, row: mlp}`.
class Towers {
 public:
  struct Tower {
    std::string input;
    ModelRegistry::Configured model;
  };
  static constexpr std::string_view kTypeName = "map of models";

  Towers() = default;
  Towers(std::initializer_list<Tower> towers) : towers_(towers) {}

  const std::vector<Tower>& all() const { return towers_; }
  // Returns the tower of that input; null if there is none.
  const Tower* Find(std::string_view input) const;

  // See OptionObject.
  Status Read(const ConfigNode& node);
  ConfigNode Write() const;
  void Resolve(const std::filesystem::path&) {}

 private:
  std::vector<Tower> towers_;
};

}  // namespace stoker::internal
