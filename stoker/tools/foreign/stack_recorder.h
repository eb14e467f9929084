// Records the Python stacks of a program by py-spy, where that is installed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/doctor/python_stacks.h"
#include "stoker/tools/program/temporary_directory.h"

namespace stoker {

// Used by one thread. The destructor ends py-spy.
class StackRecorder {
 public:
  StackRecorder() = default;
  ~StackRecorder();
  StackRecorder(const StackRecorder&) = delete;
  StackRecorder& operator=(const StackRecorder&) = delete;

  // Starts to record the process and those below it. py-spy pauses them for some hundred
  // microseconds at each of its samples. Errors: kNotFound if py-spy is not in PATH.
  Status Start(int64_t pid);
  // Whether py-spy has ended by itself; it may be too early, or may not read the process.
  bool HasEnded();
  bool started() const { return pid_ != 0; }
  // py-spy's process; 0: it does not run.
  pid_t pid() const { return status_ ? 0 : pid_; }

  // Ends the recording and returns it. Errors: kFailedPrecondition, with py-spy's own words;
  // kDataLoss if what it wrote is no recording.
  Result<PythonStacks> Stop();

 private:
  void Wait(double seconds);

  std::optional<TemporaryDirectory> folder_;
  pid_t pid_ = 0;
  std::optional<int> status_;
  std::string error_;  // of a try before
};

// Parses a recording in the form of speedscope. Files below `folder` become relative to it, and
// those outside of Python's libraries are the program's own.
Result<PythonStacks> ParseSpeedscope(std::string_view text, const std::filesystem::path& folder);

// Makes frames that are not below the folder of ParseSpeedscope none of the program's own where
// they lie in or below a folder that holds installed packages (NAME.dist-info), wherever that is:
// `pip install --target` puts such anywhere.
void DisownInstalledPackages(PythonStacks& stacks);

// Reads the lines that own frames name, from files that are relative to `folder`.
void AddSourceLines(const std::filesystem::path& folder, PythonStacks& stacks);

// Returns what the program's own files say of their first DataLoader.
LoaderFacts FindLoader(const std::filesystem::path& folder, const PythonStacks& stacks);
// The same of one file, which is called `name`.
LoaderFacts FindLoaderIn(std::string_view source, const std::string& name);

}  // namespace stoker
