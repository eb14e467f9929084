// `stoker features`: what is in a table, and a recipe for it. Needs no torch.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/features/table_profile.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct FeaturesArguments {
  std::string file;
  std::string target;
  TargetMeaning meaning = TargetMeaning::kAuto;
  std::vector<std::string> to;  // each ends in .yaml, .yml or .svg
  bool json = false;
};

void AddFeaturesCommand(Program& program);

Status RunFeatures(const FeaturesArguments& arguments);

}  // namespace stoker
