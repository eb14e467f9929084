// --trace, --flame, --folded and --trace-seconds: what a command does over time, as files.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/trace/trace_session.h"

namespace stoker {

// Adds the options, bound to `outputs`.
//   from  what the seconds count from, such as "the first step"
void AddTraceOptions(CLI::App& app, TraceOutputs& outputs, const std::string& from);

// Returns the options that were given, with their files: {"--trace", "trace.json"}.
std::vector<std::pair<std::string, std::string>> GivenTraceFiles(const TraceOutputs& outputs);

// Returns kInvalidArgument if two options name one file.
Status CheckTraceOutputs(const TraceOutputs& outputs);

// Runs `work` while its spans are recorded, if `outputs` name files, then writes the rest of them
// and says on standard error what is in them and what was left out.
//   command  for titles: "stoker train"
//   work     gets the session, whose window it begins; null if nothing is recorded
// Returns the error of `work`, else that of writing. Errors before `work`: those of
// CheckTraceOutputs and TraceSession::Start.
Status RunTraced(const TraceOutputs& outputs, std::string_view command,
                 const std::function<Status(TraceSession*)>& work);

// The same for work whose window begins with it.
Status RunTracedFromNow(const TraceOutputs& outputs, std::string_view command,
                        const std::function<Status()>& work);

}  // namespace stoker
