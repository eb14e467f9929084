// Diagnosis: what holds a run back, how much that costs, and what to change.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/doctor/recipe_change.h"

namespace stoker {

// What a run mostly waits for. docs/doctor.md explains each.
enum class Verdict {
  kStorage,          // reading files from disks
  kNetwork,          // reading files from servers
  kDecode,           // decoding, decompressing and parsing
  kAugmentation,     // stages that change samples
  kLock,             // a lock that threads of the input pipeline share
  kSlowElement,      // few elements that take much longer than the others
  kSmallRecords,     // batches or records so small that the work around them dominates
  kThreads,          // too few or too many threads
  kMemory,           // a memory budget that leaves no room for reading ahead
  kCopy,             // copying batches to the device
  kCompute,          // computing the steps
  kSynchronization,  // waiting for the device to read results
  kCheckpoint,
  kEvaluation,
  kLogging,
  kStartup,  // what precedes the first step
  kPython,   // the interpreter lock, of programs that are not ours
  kUnknown,  // time is lost, and nothing measured explains it
  kNone,     // nothing worth a change
};

inline constexpr int kVerdicts = static_cast<int>(Verdict::kNone) + 1;

// Returns the verdict's name in JSON: "slow_element".
std::string_view NameOf(Verdict verdict);

// A change that is predicted to help. A gain is how many times as fast the whole run is.
struct Prescription {
  std::optional<RecipeChange> change;  // nothing: a change outside the recipe
  std::string text;                    // the change in words or as a key
  double gain_low = 1, gain_high = 1;
  std::string why;
  // The change alters what is learned (the batch size, what an evaluation decides), so it is a
  // decision about accuracy; `caution` says in which way. Empty: it does not.
  std::string caution = {};

  // The geometric mean of the range, by which prescriptions are ordered.
  double gain() const;
  Json ToJson() const;
};

struct Diagnosis {
  Verdict verdict = Verdict::kNone;
  std::string stage;      // of the input pipeline, or "train.py:23", if one is to blame; or empty
  double lost_share = 0;  // of the time of the whole run, 0 to 1
  double roof = 1;        // how many times as fast the run could be without that loss, at best
  std::string why;        // the figures behind the verdict
  std::vector<Prescription> prescriptions;  // the largest expected gain first
  std::string snippet;  // of Python: the same input by Stoker, where that would help; or empty
  std::string host;
  int64_t rank = 0;
  std::string error;         // that ended the measurement early; empty: none
  bool interrupted = false;  // by a signal

  // Returns one sentence: "Training waits for the stage `decode`: 62% of the time is lost; at best
  // it is 2.6 times faster."
  std::string Sentence() const;
  Json ToJson() const;  // docs/doctor.md has the schema
};

}  // namespace stoker
