#include "stoker/doctor/python_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "stoker/base/json_or_null.h"

namespace stoker {
namespace {

// A frame of a library, by parts of its file and of its function. The outermost frame that is known
// decides.
struct KnownFrame {
  std::string_view file, function;
  PythonPart part;
};
constexpr KnownFrame kKnown[] = {
    {"torch/utils/data/", "", PythonPart::kInput},
    {"tensorflow/python/data/", "", PythonPart::kInput},
    {"keras/src/trainers/data_adapters", "", PythonPart::kInput},
    {"torchvision/transforms", "", PythonPart::kInput},
    {"torchvision/datasets", "", PythonPart::kInput},
    {"webdataset/", "", PythonPart::kInput},
    {"/PIL/", "", PythonPart::kInput},
    {"/grain/", "", PythonPart::kInput},
    {"/datasets/arrow_dataset", "", PythonPart::kInput},
    {"loops/evaluation_loop", "", PythonPart::kEvaluation},
    {"keras/", "evaluate", PythonPart::kEvaluation},
    {"torch/serialization", "save", PythonPart::kCheckpoint},
    {"safetensors/", "save", PythonPart::kCheckpoint},
    {"torch/utils/tensorboard", "", PythonPart::kLogging},
    {"tensorboardX", "", PythonPart::kLogging},
    {"/wandb/", "", PythonPart::kLogging},
    {"/mlflow/", "", PythonPart::kLogging},
    {"/logging/__init__", "", PythonPart::kLogging},
    {"/matplotlib/", "", PythonPart::kLogging},
    {"torch/_tensor", "backward", PythonPart::kCompute},
    {"torch/autograd/", "", PythonPart::kCompute},
    {"torch/nn/modules/module", "_apply", PythonPart::kOther},  // model.cuda()
    {"torch/nn/modules/module", "cuda", PythonPart::kOther},
    {"torch/nn/", "", PythonPart::kCompute},
    {"torch/optim/", "", PythonPart::kCompute},
    {"torch/_dynamo/", "", PythonPart::kCompute},
    {"keras/", "train_function", PythonPart::kCompute},
    {"tensorflow/python/eager", "", PythonPart::kCompute},
    {"jax/_src", "", PythonPart::kCompute},
    {"/queue.py", "get", PythonPart::kThreads},
    {"concurrent/futures/", "result", PythonPart::kThreads},
    {"multiprocessing/pool", "", PythonPart::kInput},
    {"multiprocessing/queues", "get", PythonPart::kInput},
};

// Words in the names of the program's own functions.
struct KnownWord {
  std::string_view word;
  PythonPart part;
};
constexpr KnownWord kWords[] = {
    {"eval", PythonPart::kEvaluation},       {"evaluate", PythonPart::kEvaluation},
    {"evaluation", PythonPart::kEvaluation}, {"valid", PythonPart::kEvaluation},
    {"validate", PythonPart::kEvaluation},   {"validation", PythonPart::kEvaluation},
    {"checkpoint", PythonPart::kCheckpoint}, {"log", PythonPart::kLogging},
    {"logging", PythonPart::kLogging},       {"metrics", PythonPart::kLogging},
    {"histogram", PythonPart::kLogging},     {"histograms", PythonPart::kLogging},
    {"getitem", PythonPart::kInput},         {"collate", PythonPart::kInput},
    {"augment", PythonPart::kInput},         {"decode", PythonPart::kInput},
    {"preprocess", PythonPart::kInput},      {"batches", PythonPart::kInput},
    {"backward", PythonPart::kCompute},      {"forward", PythonPart::kCompute},
};

// Pairs of words in such a name: get_batch, makeSample.
constexpr std::string_view kMakes[] = {"get",   "make",   "next", "load",    "fetch",
                                       "build", "create", "read", "prepare", "generate"};
constexpr std::string_view kMade[] = {"batch",   "minibatch", "sample", "samples",
                                      "example", "examples",  "item",   "data"};

// Lines of the program itself, by a part of their text.
constexpr std::pair<std::string_view, PythonPart> kLines[] = {
    {".backward(", PythonPart::kCompute}, {"torch.save(", PythonPart::kCheckpoint},
    {"print(", PythonPart::kLogging},     {"json.dump", PythonPart::kLogging},
    {".flush(", PythonPart::kLogging},    {"fsync(", PythonPart::kLogging},
};

constexpr std::string_view kDecoders[] = {"/PIL/",   "torchvision/io", "/cv2/",
                                          "gzip.py", "/json/",         "zipfile",
                                          "lzma.py", "imageio",        "/pickle.py"};

std::set<std::string> WordsOf(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  for (const char c : name) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (!letter || upper) {
      if (!word.empty()) words.insert(std::exchange(word, {}));
    }
    if (letter) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (!word.empty()) words.insert(word);
  return words;
}

bool MakesInput(const std::set<std::string>& words) {
  const auto has = [&](std::string_view word) { return words.contains(std::string(word)); };
  return std::ranges::any_of(kMakes, has) && std::ranges::any_of(kMade, has);
}

bool Has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool IsFrame(const StackFrame& frame, std::string_view file, std::string_view function) {
  return Has(frame.file, file) && Has(frame.function, function);
}

const StackFrame* InnermostOwn(const std::vector<StackFrame>& stack) {
  const auto found = std::ranges::find(stack.rbegin(), stack.rend(), true, &StackFrame::own);
  return found == stack.rend() ? nullptr : &*found;
}

// Where a thread takes a lock. The interpreter shows the line, and of multiprocessing also its
// file.
bool TakesLock(const std::vector<StackFrame>& stack) {
  if (stack.empty()) return false;
  const StackFrame& leaf = stack.back();
  if (Has(leaf.file, "multiprocessing/synchronize")) return true;
  if (!leaf.own) return false;
  return Has(leaf.text, ".acquire(") ||
         (leaf.text.starts_with("with ") && WordsOf(leaf.text).contains("lock"));
}

// Calls that copy tensors to a device, or that wait for numbers of one, in the text of the
// innermost line; and methods of tensors that do the latter for a format, an `if` or a float().
constexpr std::string_view kCopies[] = {".to(", ".cuda(", ".copy_(", "device_put("};
constexpr std::string_view kReads[] = {".item(", ".cpu(", ".tolist(", "synchronize("};
constexpr std::string_view kReadingMethods[] = {"__format__", "__bool__", "__float__",
                                                "__repr__",   "item",     "tolist"};

bool CallsOne(const std::vector<StackFrame>& stack, std::span<const std::string_view> calls) {
  return !stack.empty() && stack.back().own &&
         std::ranges::any_of(calls,
                             [&](std::string_view call) { return Has(stack.back().text, call); });
}
bool ReadsDevice(const std::vector<StackFrame>& stack) {
  if (CallsOne(stack, kReads)) return true;
  if (!stack.empty() && Has(stack.back().file, "torch/cuda/") &&
      stack.back().function == "synchronize")
    return true;
  return !stack.empty() && Has(stack.back().file, "torch/_tensor") &&
         std::ranges::count(kReadingMethods, std::string_view(stack.back().function)) > 0;
}

// Whether a function is traced and compiled for the arguments that it got. Frames that a compiled
// function leaves on the stack too are not among these.
bool Compiles(const std::vector<StackFrame>& stack) {
  const auto compiles = [](const StackFrame& frame) {
    return IsFrame(frame, "jax/_src/pjit", "cache_miss") ||
           IsFrame(frame, "torch/_dynamo/convert_frame", "") ||
           IsFrame(frame, "eager/polymorphic_function", "_create_concrete_function");
  };
  // Where JAX has no fast way to a compiled function, cache_miss runs it too.
  const auto runs = [](const StackFrame& frame) {
    return Has(frame.function, "ExecuteReplicated");
  };
  return std::ranges::any_of(stack, compiles) && std::ranges::none_of(stack, runs);
}

// A worker that waits for something to do.
bool WaitsForWork(const std::vector<StackFrame>& stack) {
  if (stack.empty()) return true;
  const StackFrame& leaf = stack.back();
  return Has(leaf.file, "multiprocessing/connection") || Has(leaf.file, "multiprocessing/queues") ||
         Has(leaf.file, "multiprocessing/popen") || Has(leaf.file, "/queue.py") ||
         Has(leaf.file, "threading.py") || Has(leaf.file, "selectors.py") ||
         Has(leaf.file, "concurrent/futures/thread");
}

// Counts the own lines that stacks go through last.
class Blames {
 public:
  void Add(const std::vector<StackFrame>& stack) {
    const StackFrame* const frame = InnermostOwn(stack);
    if (frame == nullptr) return;
    auto& [count, first] = counts_[frame->Place()];
    ++count;
    first = frame;
  }
  Blame Most(double all) const {
    const auto most =
        std::ranges::max_element(counts_, {}, [](const auto& each) { return each.second.first; });
    if (most == counts_.end()) return {};
    const StackFrame& frame = *most->second.second;
    return {.place = most->first,
            .function = frame.function,
            .text = frame.text,
            .share = all > 0 ? static_cast<double>(most->second.first) / all : 0};
  }

 private:
  std::map<std::string, std::pair<int64_t, const StackFrame*>> counts_;
};

bool IsTraining(PythonPart part, const std::vector<StackFrame>& stack) {
  if (part == PythonPart::kCompute || part == PythonPart::kEvaluation) {
    return std::ranges::none_of(stack, [](const StackFrame& each) {
      return each.function == "__init__" || each.function.ends_with(".__init__");
    });
  }
  if (part == PythonPart::kThreads) return true;
  return std::ranges::any_of(stack, [](const StackFrame& each) {
    return Has(each.file, "torch/utils/data/dataloader") && Has(each.function, "next");
  });
}

double ShareOf(int64_t count, int64_t all) {
  return all > 0 ? static_cast<double>(count) / static_cast<double>(all) : 0;
}

// Fills in how often steps are compiled in the second half of `samples`, which begin with the first
// step: one compilation at the start is not what slows a run down.
void ViewCompilations(const PythonStacks& stacks, std::span<const int64_t> samples,
                      PythonView& view) {
  const std::span<const int64_t> later = samples.subspan(samples.size() / 2);
  Blames lines;
  int64_t compiling = 0, begun = 0, compiled = 0;
  bool traced_before = false, compiled_before = false;
  for (const int64_t sample : later) {
    const std::vector<StackFrame>& stack = stacks.stacks[static_cast<size_t>(sample)];
    const bool compiles = Compiles(stack);
    const bool in_compiler = compiles && std::ranges::any_of(stack, [](const StackFrame& frame) {
                               return Has(frame.file, "jax/_src/compiler");
                             });
    if (compiles) lines.Add(stack);
    compiling += compiles;
    begun += compiles && !traced_before;
    compiled += in_compiler && !compiled_before;
    traced_before = compiles;
    compiled_before = in_compiler;
  }
  // Where steps are short, hardly any moment lies between one compilation and the next.
  view.compilations = std::max(begun, compiled);
  view.compile_share = ShareOf(compiling, std::ssize(later));
  view.compiled = lines.Most(static_cast<double>(later.size()));
}

void ViewMain(const PythonStacks& stacks, const std::vector<int64_t>& samples, PythonView& view) {
  std::vector<PythonPart> parts;
  for (const auto& stack : stacks.stacks) parts.push_back(PartOf(stack));
  const auto begins = std::ranges::find_if(samples, [&](int64_t i) {
    return IsTraining(parts[static_cast<size_t>(i)], stacks.stacks[static_cast<size_t>(i)]);
  });
  view.samples = std::ssize(samples);
  view.trains = begins != samples.end();
  const size_t start = view.trains ? static_cast<size_t>(begins - samples.begin()) : 0;
  ViewCompilations(stacks, std::span(samples).subspan(start), view);
  Blames startup, copies, reads;
  int64_t before = 0, imports = 0, waits = 0, switched = 0;
  std::array<Blames, kPythonParts> blames;
  std::array<int64_t, kPythonParts> counts = {};
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto place = static_cast<size_t>(samples[i]);
    const auto part = static_cast<size_t>(parts[place]);
    if (i < start) {
      if (parts[place] == PythonPart::kImport) continue;
      ++before;
      startup.Add(stacks.stacks[place]);
      continue;
    }
    // Libraries load modules with the first step too, which later steps do not.
    if (view.trains && parts[place] == PythonPart::kImport) {
      ++imports;
      continue;
    }
    ++counts[part];
    blames[part].Add(stacks.stacks[place]);
    if (CallsOne(stacks.stacks[place], kCopies)) copies.Add(stacks.stacks[place]);
    const bool step = parts[place] == PythonPart::kCompute || parts[place] == PythonPart::kOther;
    if (step && ReadsDevice(stacks.stacks[place])) reads.Add(stacks.stacks[place]);
    if (i > start && parts[static_cast<size_t>(samples[i - 1])] != parts[place]) ++switched;
    waits += std::ranges::any_of(stacks.stacks[place], [](const StackFrame& each) {
      return Has(each.function, "_try_get_data") || Has(each.function, "_get_data") ||
             Has(each.file, "multiprocessing/");
    });
  }
  const int64_t after = view.samples - static_cast<int64_t>(start) - imports;
  view.startup_share = ShareOf(before, view.samples);
  view.startup = startup.Most(static_cast<double>(view.samples));
  view.waits_for_workers = ShareOf(waits, after);
  view.copies = copies.Most(static_cast<double>(after));
  view.reads = reads.Most(static_cast<double>(after));
  double same = 0;
  for (size_t part = 0; part < counts.size(); ++part) {
    const double share = ShareOf(counts[part], after);
    view.parts[part] = {.share = share, .blame = blames[part].Most(static_cast<double>(after))};
    same += share * share;
  }
  if (after > 1 && same < 1) view.switches = ShareOf(switched, after - 1) / (1 - same);
}

}  // namespace

std::string StackFrame::Place() const { return fmt::format("{}:{}", file, line); }

std::string_view NameOf(PythonPart part) {
  constexpr std::string_view kNames[] = {"other",      "import",     "input",   "compute",
                                         "evaluation", "checkpoint", "logging", "threads"};
  static_assert(std::size(kNames) == kPythonParts);
  return kNames[static_cast<size_t>(part)];
}

PythonPart PartOf(const std::vector<StackFrame>& stack) {
  // Libraries load modules with the first call that needs them; but a module of the program's own
  // may train while it is loaded.
  const auto loads = std::ranges::find_if(stack, [](const StackFrame& frame) {
    return Has(frame.file, "<frozen importlib._bootstrap") ||
           Has(frame.file, "importlib/_bootstrap");
  });
  if (loads != stack.end() && std::none_of(loads, stack.end(), std::mem_fn(&StackFrame::own)))
    return PythonPart::kImport;
  for (const StackFrame& frame : stack) {
    if (frame.own) {
      const std::set<std::string> words = WordsOf(frame.function);
      for (const KnownWord& known : kWords) {
        if (words.contains(std::string(known.word))) return known.part;
      }
      if (MakesInput(words)) return PythonPart::kInput;
      continue;
    }
    for (const KnownFrame& known : kKnown) {
      if (IsFrame(frame, known.file, known.function)) return known.part;
    }
  }
  if (const StackFrame* const own = InnermostOwn(stack)) {
    for (const auto& [text, part] : kLines) {
      if (Has(own->text, text)) return part;
    }
  }
  return PythonPart::kOther;
}

PythonView ViewOf(const PythonStacks& stacks, int64_t main) {
  PythonView view;
  Blames locks, work;
  int64_t worked = 0, locked = 0, decoded = 0, read = 0;
  for (const PythonThread& thread : stacks.threads) {
    if (thread.pid == main && thread.id == main) {
      ViewMain(stacks, thread.samples, view);
      continue;
    }
    const int64_t before = worked;
    for (const int64_t i : thread.samples) {
      const std::vector<StackFrame>& stack = stacks.stacks[static_cast<size_t>(i)];
      if (WaitsForWork(stack) && !TakesLock(stack)) continue;
      if (InnermostOwn(stack) == nullptr) continue;  // the threads of libraries
      ++worked;
      work.Add(stack);
      if (TakesLock(stack)) {
        ++locked;
        locks.Add(stack);
        continue;
      }
      decoded += std::ranges::any_of(stack, [](const StackFrame& each) {
        return std::ranges::any_of(kDecoders,
                                   [&](std::string_view file) { return Has(each.file, file); });
      });
      const std::string& text = InnermostOwn(stack)->text;
      read += Has(text, "open(") || Has(text, ".read(") || Has(text, "pread") ||
              Has(text, "fromfile(") || Has(text, "np.load(");
    }
    if (thread.pid == main && worked > before) ++view.working_threads;
  }
  view.lock_share = ShareOf(locked, worked);
  view.decode_share = ShareOf(decoded, worked);
  view.read_share = ShareOf(read, worked);
  view.lock = locks.Most(static_cast<double>(worked));
  view.work = work.Most(static_cast<double>(worked));
  return view;
}

Json PythonView::ToJson() const {
  const auto line = [](const Blame& blame) -> Json {
    if (blame.place.empty()) return nullptr;
    return {{"place", blame.place},
            {"function", blame.function},
            {"text", blame.text},
            {"share", FiniteOrNull(blame.share)}};
  };
  Json list = Json::object();
  for (int part = 0; part < kPythonParts; ++part) {
    const PartTimes& times = parts[static_cast<size_t>(part)];
    if (times.share == 0) continue;
    list[std::string(NameOf(static_cast<PythonPart>(part)))] = {
        {"share", FiniteOrNull(times.share)}, {"line", line(times.blame)}};
  }
  return {{"samples", samples},
          {"startup_share", FiniteOrNull(startup_share)},
          {"startup_line", line(startup)},
          {"parts", std::move(list)},
          {"waits_for_workers", FiniteOrNull(waits_for_workers)},
          {"switches", FiniteOrNull(switches)},
          {"working_threads", working_threads},
          {"compile_share", FiniteOrNull(compile_share)},
          {"compilations", compilations},
          {"compile_line", line(compiled)},
          {"copy_line", line(copies)},
          {"read_line", line(reads)},
          {"lock_share", FiniteOrNull(lock_share)},
          {"lock_line", line(lock)},
          {"work_line", line(work)}};
}

}  // namespace stoker
