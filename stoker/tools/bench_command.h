// `stoker bench`: the input pipeline of a recipe alone, as fast as it goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program.h"

namespace stoker {

struct BenchArguments {
  std::string recipe;
  std::vector<std::string> set;
  int threads = 0;  // 0: as many as pay
  double seconds = 5;
  int64_t memory_bytes = 0;  // 0: a quarter of what the container allows
  bool run_inline = false;
  bool explain = false;
  bool json = false;
};

void AddBenchCommand(Program& program);

Status RunBench(const BenchArguments& arguments);

}  // namespace stoker
