// A pipeline that was built from recipe entries, and what is known of it before it is read.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "python/module/user_code.h"
#include "stoker/base/config.h"
#include "stoker/data/core/dataset.h"

namespace stoker::python {

// A Dataset that belongs to one process: a child that fork() made must build its own, since the
// locks in this one may be held by threads that the child does not have.
class Pipeline {
 public:
  // Builds the entries; relative paths start at `root`. Throws the errors of BuildPipeline. Called
  // without the GIL.
  Pipeline(std::vector<ConfigNode> stages, const std::string& root);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  const Dataset& dataset() const { return *dataset_; }
  // The functions of Python that it calls.
  UserCode& code() const { return *code_; }
  bool is_of_this_process() const;

 private:
  const std::shared_ptr<UserCode> code_ = std::make_shared<UserCode>();
  Dataset* dataset_;  // never freed in a child process
  int process_;
};

// Adds the type Pipeline and the description of all operators to the module.
void AddPipeline(nanobind::module_& module);

}  // namespace stoker::python
