#include "python/module/array.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "python/module/errors.h"
#include "stoker/base/dlpack_abi.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

constexpr const char* kCapsule = "dltensor";
constexpr const char* kUsedCapsule = "used_dltensor";

// A capsule that nobody took frees what it holds.
void FreeCapsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsule) == 0) return;
  auto* const tensor = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
}

// The letter of the module struct for a dtype; null for bfloat16, which has none.
const char* BufferFormat(DType dtype) {
  switch (dtype) {
    case DType::kBool: return "?";
    case DType::kUInt8: return "B";
    case DType::kInt8: return "b";
    case DType::kInt16: return "h";
    case DType::kInt32: return "i";
    case DType::kInt64: return sizeof(long) == 8 ? "l" : "q";  // NumPy's own int64
    case DType::kFloat16: return "e";
    case DType::kBFloat16: return nullptr;
    case DType::kFloat32: return "f";
    case DType::kFloat64: return "d";
  }
  return nullptr;
}

// Shape and strides of a Py_buffer, which lives as long as that.
struct BufferSizes {
  std::vector<Py_ssize_t> shape, strides;
};

int GetBuffer(PyObject* self, Py_buffer* view, int) {
  const Array& array = *nb::inst_ptr<Array>(self);
  const char* const format = BufferFormat(array.dtype());
  if (format == nullptr) {
    PyErr_SetString(
        PyExc_BufferError,
        "bfloat16 has no buffer of Python; use DLPack, or cast to float32 in the pipeline");
    return -1;
  }
  auto sizes = std::make_unique<BufferSizes>();
  sizes->shape.assign(array.shape().begin(), array.shape().end());
  sizes->strides.resize(sizes->shape.size());
  auto stride = static_cast<Py_ssize_t>(DTypeSize(array.dtype()));
  view->itemsize = stride;
  for (size_t i = sizes->shape.size(); i-- > 0;) {
    sizes->strides[i] = stride;
    stride *= sizes->shape[i];
  }
  view->buf = array.data();
  view->len = static_cast<Py_ssize_t>(array.num_bytes());
  view->readonly = 0;
  view->ndim = static_cast<int>(sizes->shape.size());
  view->format = const_cast<char*>(format);  // nobody writes it
  view->shape = sizes->shape.data();
  view->strides = sizes->strides.data();
  view->suboffsets = nullptr;
  view->internal = sizes.release();
  view->obj = self;
  Py_INCREF(self);
  return 0;
}

void ReleaseBuffer(PyObject*, Py_buffer* view) { delete static_cast<BufferSizes*>(view->internal); }

PyType_Slot array_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&GetBuffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&ReleaseBuffer)},
    {0, nullptr},
};

// The bits of 16-bit floats as int16, for libraries that know no bfloat16 by themselves.
Array Bits(const Array& array) {
  if (DTypeSize(array.dtype()) != 2)
    throw StatusError(
        InvalidArgument("{} has no bits of 16; only types of two bytes have", array.ToString()));
  return {array.buffer(), DType::kInt16, array.shape(),
          static_cast<size_t>(array.data() - array.buffer().data())};
}

}  // namespace

Array CopyOf(const Array& array) {
  Array copy = Array::Allocate(array.dtype(), array.shape());
  if (array.num_bytes() > 0) std::memcpy(copy.data(), array.data(), array.num_bytes());
  return copy;
}

nb::object CapsuleOf(const Array& array) {
  DLManagedTensor* const tensor = ToDLPack(array);
  PyObject* const capsule = PyCapsule_New(tensor, kCapsule, &FreeCapsule);
  if (capsule == nullptr) {
    tensor->deleter(tensor);
    throw nb::python_error();
  }
  return nb::steal<nb::object>(capsule);
}

Array ArrayOf(nb::handle value) {
  if (nb::isinstance<Array>(value)) return nb::cast<Array>(value);
  if (!nb::hasattr(value, "__dlpack__")) {
    throw StatusError(
        InvalidArgument("a value of type {} is no array; give one of NumPy, PyTorch or JAX, or "
                        "anything with __dlpack__",
                        nb::cast<std::string>(value.type().attr("__name__"))));
  }
  const nb::object capsule = value.attr("__dlpack__")();
  auto* const tensor = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kCapsule));
  if (tensor == nullptr) throw nb::python_error();
  PyCapsule_SetName(capsule.ptr(), kUsedCapsule);
  return Take(FromDLPack(tensor));
}

void AddArray(nb::module_& module) {
  nb::list dtypes;
  for (int i = 0; i <= static_cast<int>(DType::kFloat64); ++i)
    dtypes.append(std::string(DTypeName(static_cast<DType>(i))));
  module.attr("dtypes") = nb::tuple(dtypes);
  nb::class_<Array>(
      module, "Array", nb::type_slots(array_slots),
      "An array on the CPU that libraries share by DLPack, or NumPy by the buffer protocol.")
      .def_prop_ro("shape",
                   [](const Array& array) {
                     nb::list extents;
                     for (const int64_t extent : array.shape()) extents.append(extent);
                     return nb::tuple(extents);
                   })
      .def_prop_ro("dtype",
                   [](const Array& array) { return std::string(DTypeName(array.dtype())); })
      .def_prop_ro("nbytes", &Array::num_bytes)
      .def("bits", &Bits, "The same memory as int16, for types of two bytes.")
      .def("capsule", &CapsuleOf, "A DLPack capsule.")
      .def(
          "__dlpack__",
          [](const Array& array, const nb::kwargs& asked) {
            const bool copy =
                asked.contains("copy") && PyObject_IsTrue(nb::object(asked["copy"]).ptr()) == 1;
            return CapsuleOf(copy ? CopyOf(array) : array);
          },
          "Shares the memory. Of the arguments of the protocol only `copy` asks for something else "
          "on the CPU.")
      .def("__dlpack_device__",
           [](const Array&) { return std::tuple(static_cast<int>(kDLCPU), 0); })
      .def("__repr__", [](const Array& array) { return "stoker.Array(" + array.ToString() + ")"; })
      .def_static("of", &ArrayOf, nb::arg("value"),
                  "Shares the memory of another library's array.");
}

}  // namespace stoker::python
