// stoker._core: what the Python package calls of the engine. python/stoker is what users see.
#include <nanobind/nanobind.h>

#include "python/module/array.h"
#include "python/module/errors.h"
#include "python/module/messages.h"
#include "python/module/nodes.h"
#include "python/module/pass.h"
#include "python/module/pictures.h"
#include "python/module/pipeline.h"
#include "python/module/python_generator.h"
#include "python/module/python_map.h"
#include "stoker/data/options/registry.h"

NB_MODULE(_core, module) {
  // What a daemon thread still holds when the interpreter ends is nothing that a user could mend.
  nanobind::set_leak_warnings(false);
  module.doc() = "Stoker's engine.";
  module.attr("version") = STOKER_VERSION;
  stoker::python::TranslateErrors();
  stoker::OperatorRegistry& operators = stoker::OperatorRegistry::ToAddTo();
  operators.Add<stoker::python::PythonGenerator>();
  operators.Add<stoker::python::PythonMap>();
  operators.Add<stoker::python::PythonFilter>();
  stoker::python::AddNodes(module);
  stoker::python::AddArray(module);
  stoker::python::AddPipeline(module);
  stoker::python::AddPass(module);
  stoker::python::AddPictures(module);
  stoker::python::AddMessages(module);
}
