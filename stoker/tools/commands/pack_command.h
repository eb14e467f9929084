// `stoker pack`: packs data into files that are fast to read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/live/serve_options.h"
#include "stoker/tools/program/program.h"
#include "stoker/trace/trace_session.h"

namespace stoker {

struct PackArguments {
  std::string source, destination;
  std::string format;  // empty: by the destination's name, else stoker
  std::string of = "train";
  std::optional<int64_t> stages;
  int64_t shards = 1;
  std::string part;    // "3/8"; empty: all
  bool merge = false;  // of the parts of `destination`; there is no source
  std::optional<int64_t> resize, quality;
  bool shuffle = false;
  uint64_t seed = 0;
  bool verify = false;
  bool overwrite = false;
  int threads = 0;  // 0: automatic
  std::vector<std::string> set;
  bool json = false;
  ServeOptions serve;
  TraceOutputs trace;
};

void AddPackCommand(Program& program, std::function<Status(const PackArguments&)> run);

Status RunPack(const PackArguments& arguments);

}  // namespace stoker
