// `stoker vocabulary`: the most frequent words of a pipeline's texts, as a file for `words`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct VocabularyArguments {
  std::string recipe;
  std::vector<std::string> set;
  std::string to;
  std::string field = "text";
  int64_t size = 30'000;
  int64_t min_count = 1;
  std::vector<std::string> first;
  std::string pattern;
  std::string separator;
  bool lower = false;
  bool json = false;
};

void AddVocabularyCommand(Program& program, std::function<Status(const VocabularyArguments&)> run);

Status RunVocabulary(const VocabularyArguments& arguments);

}  // namespace stoker
