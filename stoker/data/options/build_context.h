// What the stages of a pipeline are built from beside their options.
#pragma once

#include <memory>

namespace stoker {

// A program that embeds the engine and adds operators of its own (python/module) gives these
// operators what recipes cannot hold, such as functions, by a context of the thread that builds a
// pipeline. Operators that build pipelines later, on other threads (`interleave`), carry it there.
class BuildContext {
 public:
  virtual ~BuildContext() = default;

  // Several pipelines of one text are built, such as one for each file. Returns the context of the
  // first, which this thread builds.
  virtual std::shared_ptr<BuildContext> ForFirst() = 0;
  // Returns the context of a further one, which any thread may build at any time once the first is
  // built. REQUIRES: ForFirst made this context. Thread-safe.
  virtual std::shared_ptr<BuildContext> ForFurther() const = 0;

  // Returns the context of the pipeline that this thread builds; null where there is none.
  static std::shared_ptr<BuildContext> OfThisThread();

  // While one lives, `context` (may be null) is that of this thread.
  class Scope {
   public:
    explicit Scope(std::shared_ptr<BuildContext> context);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::shared_ptr<BuildContext> before_;
  };
};

}  // namespace stoker
