// `stoker bench`: measures the input pipeline of a recipe alone; with --model a model alone, by
// batch size.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/chart/chart_output.h"
#include "stoker/tools/live/serve_options.h"
#include "stoker/tools/program/program.h"
#include "stoker/trace/trace_session.h"

namespace stoker {

struct BenchArguments {
  std::string recipe;  // empty with a model
  std::string model;   // "resnet50", "{resnet50: {classes: 10}}", or empty
  std::string input = "3x224x224";
  std::vector<int64_t> batches = {1, 2, 4, 8, 16, 32, 64};
  ChartFiles chart;
  std::vector<std::string> set;
  int threads = 0;  // 0: automatic
  double seconds = 5;
  std::optional<int64_t> epochs;  // instead of seconds; not of a model
  int64_t memory_bytes = 0;       // 0: a quarter of the container's limit; 4/5 for a model
  bool run_inline = false;
  bool explain = false;
  bool json = false;
  ServeOptions serve;
  TraceOutputs trace;
  bool uncounted = false;  // for bench/tracing: without the counters of stages
};

//   run        measures a pipeline
//   run_model  implements --model, which needs libtorch
void AddBenchCommand(Program& program, std::function<Status(const BenchArguments&)> run,
                     std::function<Status(const BenchArguments&)> run_model);

// Measures a pipeline.
Status RunBench(const BenchArguments& arguments);

}  // namespace stoker
