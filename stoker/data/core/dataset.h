// Dataset: an immutable description of an input pipeline. DatasetNode: what an operator implements.
//
// Two ways lead through a pipeline, and both give the same bytes:
//   * in order: Open gives an Iterator; every dataset has this;
//   * by position: Read(i), a pure function, where all operators down to the source allow it.
// By position, any thread may compute any element, a checkpoint is one number, and restoring costs
// nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/element.h"
#include "stoker/data/core/spec.h"

namespace stoker {

class DatasetNode;
class Iterator;
class OpenContext;
class ReadContext;
class Transform;
struct Runtime;

// How many elements an epoch has: a number, no end, or not known beforehand.
class Cardinality {
 public:
  static Cardinality Of(int64_t n) { return Cardinality(n); }
  static Cardinality Infinite() { return Cardinality(std::numeric_limits<int64_t>::max()); }
  static Cardinality Unknown() { return Cardinality(-1); }

  bool known() const { return n_ >= 0 && !infinite(); }
  bool infinite() const { return n_ == std::numeric_limits<int64_t>::max(); }
  int64_t value() const { return n_; }  // where known()

  bool operator==(const Cardinality&) const = default;
  std::string ToString() const;  // "60000", "infinite", "unknown"

 private:
  explicit Cardinality(int64_t n) : n_(n) {}
  int64_t n_;
};

// What a rank does in a last round in which only some ranks have an element. All ranks must be told
// the same; each then decides alone and alike, since each knows the order of all.
enum class WhenDry {
  kEnd,           // it ends, be it one element before the others
  kStopAll,       // all leave out that round: as many elements on each, but some on none
  kEmptyBatches,  // it hands out a batch of no elements, so that all have as many batches
};

// Which of the elements that a pass loses are written to its logs (`log` of ops/ignore_errors.h). A
// log is made where it does not exist, and one that cannot be written is an error; of kNone neither
// is so, and no log is opened.
enum class LossLogging {
  kEach,  // all; a pass that is restored takes back what was written after its position was saved
  // Those whose lines no pass over this pipeline with this seed has written there yet: for passes
  // that are made again and again over the same elements, of which each begins anew and none is
  // restored, such as evaluations.
  kOnce,
  kNone,  // none: for a trial, whose elements are read for a look at them
};

// Where the keys of a node's elements come from (SampleKey).
enum class KeyOrigin {
  kItself,  // it numbers its elements
  kInput,   // each has the key of the element of the one input that it is, or is made of
  kInputs,  // it combines several inputs: keys are those that KeyOfInput makes of theirs
};

// What makes the order and the random draws of one pass over the data, and nothing else does
// (design, invariant 1); which part of it is handed out here, and what is logged.
struct PassOptions {
  uint64_t seed = 0;
  uint64_t epoch = 0;  // of the first pass; `repeat` counts on from here

  // Of `world` ranks that share the pass, this one gets the outermost elements (batches, usually)
  // rank, rank + world, rank + 2 world, ... By position nothing of the other ranks' is computed; in
  // order, only what stands below the last batch, map and prefetch stages. Saved positions are
  // those of the whole pass: where every rank has asked for as many elements, any one's serves all,
  // and any other number of ranks continues with it.
  int64_t rank = 0;
  int64_t world = 1;
  WhenDry when_dry = WhenDry::kEnd;

  LossLogging losses = LossLogging::kEach;
};

// A cheap value: copies share the description. Thread-safe.
class Dataset {
 public:
  explicit Dataset(std::shared_ptr<const DatasetNode> node) : node_(std::move(node)) {}

  const Spec& spec() const;
  Cardinality cardinality() const;
  const DatasetNode& node() const { return *node_; }
  const std::shared_ptr<const DatasetNode>& shared_node() const { return node_; }

  // Starts one pass. Loads and learns what stages keep in memory (once for each dataset), with the
  // threads, the budget and the stop flag of the pass; errors of files appear here. Several passes
  // over one dataset may be open at once. See runtime.h.
  Result<std::unique_ptr<Iterator>> Open(const Runtime& runtime,
                                         const PassOptions& pass = {}) const;

  // Has every node load or learn what it keeps in memory; Open does so with the pass it opens.
  Status Prepare(const OpenContext& context) const;

  // The pipeline as text, source first, one stage a line.
  std::string ToString() const;

 private:
  std::shared_ptr<const DatasetNode> node_;
};

// Base of every source and operator: immutable after construction, used by many threads at once.
class DatasetNode {
 public:
  // `name` is the operator's name in recipes.
  DatasetNode(std::string name, Spec spec, Cardinality cardinality, std::vector<Dataset> inputs);
  virtual ~DatasetNode() = default;

  const std::string& name() const { return name_; }
  const Spec& spec() const { return spec_; }
  Cardinality cardinality() const { return cardinality_; }
  const std::vector<Dataset>& inputs() const { return inputs_; }
  const Dataset& input() const { return inputs_.front(); }

  // Options in short, for ToString: "size 128, drop_remainder".
  virtual std::string Details() const { return {}; }

  // Loads or learns what the node keeps in memory. Called at each Open, inputs first, before
  // anything is read; must be quick the second time, and end early where `context` says stop.
  virtual Status Prepare(const OpenContext& /*context*/) const { return OkStatus(); }

  // Why the elements are not simply those of the input, every one, in their order and the same at
  // any seed and epoch (grouped or not): "reorders elements", "leaves elements out", ... Empty
  // where they are. Predictions are made only through nodes that say nothing, so a node that does
  // not know of this is refused rather than trusted.
  virtual std::string_view Disturbs() const { return "may reorder, leave out or alter elements"; }

  // The default is right for a map, and for what numbers its elements.
  virtual KeyOrigin key_origin() const;

  // True where element i is made of the same sample or samples in every pass, whatever its seed and
  // epoch, random draws aside: what is learnt of it once then holds for good. Never true where it
  // does not; the default looks at Disturbs.
  virtual bool fixed_order() const;

  // Whether the node itself draws at random, so that its elements, or their order, differ from pass
  // to pass: `cache` refuses to stand behind it. The default asks the transform of a map, and is
  // right for what draws nothing.
  virtual bool random() const;

  // The files that the node itself reads: a cache behind it is made anew where one has changed.
  virtual std::vector<std::string> files() const { return {}; }

  // At most so many bytes of buffers are asked for, by the node and all below it, to make `count`
  // consecutive elements, or a few blocks of 64 bytes more for each round of a `repeat` in them;
  // nothing where the Specs do not tell. The memory budget admits by it. The default is right for a
  // node that makes each element, from one element of each input, in buffers of its own.
  virtual std::optional<int64_t> MemoryToRead(int64_t count) const;

  // --- In order ---
  // Called where the node, or the runtime, cannot read by position. Inputs are opened through the
  // context.
  virtual Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const = 0;
  // How the elements of a stream come from those of the one input, where each is made of `size`
  // consecutive ones, the next with the next, and its bytes depend on nothing else but its key. A
  // share of such elements is then made from a share of the input.
  struct Grouping {
    int64_t size = 0;       // 0: it is not so
    bool full = false;      // fewer, at the end of a pass, make none
    bool numbered = false;  // keys are numbers counted here: OpenContext::NumberInPass
  };
  virtual Grouping grouping() const { return {}; }
  // The transform of a node that maps one element to one: the runtime may then apply it on several
  // threads.
  virtual const Transform* element_wise() const { return nullptr; }
  // How many elements the node asks the runtime to keep ready ahead of the consumer; 0: does not
  // ask, -1: the runtime chooses.
  virtual int64_t read_ahead() const { return 0; }

  // True where elements may be delivered as they are finished (`deterministic: false`). It holds
  // where the node is the outermost, or only stages stand above it that allow it
  // (OpenContext::OpenInputInAnyOrder).
  virtual bool any_order() const { return false; }

  // True where an iterator of this node that is opened tolerantly (OpenContext) goes on after an
  // element that could not be made, and hands out one that says so.
  virtual bool tolerates_errors() const { return random_access() || element_wise() != nullptr; }

  // --- By position ---
  // True where Read works. Then cardinality() is not unknown.
  virtual bool random_access() const { return false; }
  // Element `position` of the pass, 0 <= position < cardinality. Pure: equal arguments give equal
  // bytes.
  Result<Element> Read(int64_t position, const ReadContext& context) const;
  // The same for many positions at once (at least one), in the order given; shapes must be fully
  // known.
  Result<Rows> ReadRows(std::span<const int64_t> positions, const ReadContext& context) const;

  // --- By key ---
  // True where an element of a pass, be it by position or in order, can be made again from its key
  // alone, so that ReadKey works. A stage that holds elements then saves their keys.
  virtual bool rereadable() const { return false; }
  // The element that the pass gave with this key, with the same bytes. `key` must be one it gave.
  Result<Element> ReadKey(const SampleKey& key, const ReadContext& context) const;

 protected:
  virtual Result<Element> DoRead(int64_t position, const ReadContext& context) const;
  virtual Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const;
  // The default reads one by one and stacks, so overriding it is for speed only.
  virtual Result<Rows> DoReadRows(std::span<const int64_t> positions,
                                  const ReadContext& context) const;

  // For a DoRead that fails where it knows the element better than its position does: notes which
  // one it was (failure.h) and counts the error. Read does so for all others.
  void CountFailure(SampleKey key, const ReadContext& context) const;

 private:
  const std::string name_;
  const Spec spec_;
  const Cardinality cardinality_;
  const std::vector<Dataset> inputs_;
};

}  // namespace stoker
