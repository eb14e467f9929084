// Stacks of a Python program's threads, and what they say: which part of the training each moment
// went into, and which line of the script is to blame.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"

namespace stoker {

struct StackFrame {
  std::string function;  // "train", "_SingleProcessDataLoaderIter._next_data"
  std::string file;      // of the program's own files relative to its folder, of libraries whole
  int64_t line = 0;
  bool own = false;       // of the program itself, not of a library
  std::string text = {};  // the line itself, of own frames

  std::string Place() const;  // "train.py:23"
};

// What one thread did, moment by moment.
struct PythonThread {
  int64_t pid = 0, id = 0;
  std::vector<int64_t> samples;  // indices into PythonStacks::stacks
};

struct PythonStacks {
  double samples_per_s = 0;
  std::vector<std::vector<StackFrame>> stacks;  // the outermost frame first
  std::vector<PythonThread> threads;
};

// What the script says about its loader; nothing: it does not say, or not as a number.
struct LoaderFacts {
  std::string place;  // "train.py:12", of DataLoader(...); empty: none
  std::optional<int64_t> num_workers, batch_size;
  std::string serial_map;  // "train.py:9", of a map of tf.data without num_parallel_calls
};

// The part of a training that a stack belongs to.
enum class PythonPart {
  kOther,
  kImport,   // of modules
  kInput,    // makes batches, or waits for them
  kCompute,  // forward and backward pass, optimizer
  kEvaluation,
  kCheckpoint,
  kLogging,
  kThreads,  // waits for other threads of the program
};
inline constexpr int kPythonParts = static_cast<int>(PythonPart::kThreads) + 1;
std::string_view NameOf(PythonPart part);
PythonPart PartOf(const std::vector<StackFrame>& stack);

// The line that most moments of something went through.
struct Blame {
  std::string place;  // "train.py:23"; empty: no line of the program
  std::string function, text;
  double share = 0;  // of all moments
};

struct PartTimes {
  double share = 0;  // of the moments after start-up in which no module was loaded
  Blame blame;
};

struct PythonView {
  int64_t samples = 0;
  bool trains = false;       // steps, batches or evaluations were seen
  double startup_share = 0;  // of all moments, before the first of these, without imports
  Blame startup;
  std::array<PartTimes, kPythonParts> parts;
  double waits_for_workers = 0;  // the share of moments, among those of kInput
  double switches = 0;  // how often a moment belongs to another part than the one before it, by how
                        // often it would at random: 1 where steps are shorter than moments

  // In the second half of the time after start-up: the share of moments in which a step is traced
  // and compiled, how often that began, and the line that called it.
  double compile_share = 0;
  int64_t compilations = 0;
  Blame compiled;

  // Lines of the first thread that copy to a device (`.to(device)`), and that read numbers of one
  // (`.item()`).
  Blame copies, reads;

  int64_t working_threads = 0;  // of the process beside its first, that run lines of the program

  // Of workers and other threads, while they work.
  double lock_share = 0, decode_share = 0, read_share = 0;
  Blame lock, work;

  const PartTimes& of(PythonPart part) const { return parts[static_cast<size_t>(part)]; }
  Json ToJson() const;
};

// Returns what the stacks say of the process `main`.
PythonView ViewOf(const PythonStacks& stacks, int64_t main);

}  // namespace stoker
