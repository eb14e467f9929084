"""A function together with what it gets and gives: the other half of python/module/bound_function.h.

In the process that builds the pipeline the engine makes these objects; workers have copies.
"""

import inspect
from collections.abc import Mapping

from ..errors import ConfigError
from . import naming
from .outcome import WRONG, Failed, failure_of, one_line
from .random_state import GeneratorsApart, seed_generators

class _Bound:
    """What functions and generators have in common: the results, and what they must be."""

    kind = ""

    def __init__(self, name, fields):
        try:
            from . import values  # imports NumPy

            self.function = naming.function_of(name)
        except ImportError as error:
            raise Failed(WRONG, f"functions of Python get their arrays from NumPy, and it is not there: {error}") from None
        except ConfigError as error:
            raise Failed(WRONG, str(error)) from None
        self._values = values
        self.called = naming.label_of(self.function)
        self.title = f"{self.kind}({self.called})"
        self._fields = tuple(fields)
        self._outputs = None  # (name, dtype, shape) of each field
        self._learned = False

    def __getstate__(self):
        return {key: value for key, value in self.__dict__.items() if key != "_values"}

    def __setstate__(self, state):
        from . import values

        self.__dict__.update(state, _values=values)

    def promise(self, outputs, learned):
        self._outputs = [(name, dtype, tuple(shape)) for name, dtype, shape in outputs]
        self._learned = learned
        types = self._values.NUMPY_TYPES
        self._quick = [(name, types[self._values.CODES[dtype]], tuple(shape)) for name, dtype, shape in outputs if dtype != "bfloat16"]

    def _called_with(self, *arguments):
        """The function's result; what it raises becomes Failed, with the traceback from the function on."""
        try:
            return self.function(*arguments)
        except Exception as error:
            raise failure_of(error) from None

    def _results(self, returned):
        """A Value for each field of what the function returned."""
        return self._checked(self._named(returned))

    def _named(self, returned):
        """{field: value} of whatever the function returned."""
        if self._fields:
            several = isinstance(returned, (tuple, list)) and len(self._fields) > 1
            given = tuple(returned) if several else (returned,)
            if len(given) != len(self._fields):
                raise Failed(WRONG, f"it returned {len(given)} values, and fields= has {len(self._fields)} names")
            return dict(zip(self._fields, given))
        if isinstance(returned, Mapping):
            return returned
        if isinstance(returned, tuple) and hasattr(returned, "_fields"):
            return returned._asdict()
        example = "('image', 'label')" if isinstance(returned, (tuple, list)) and len(returned) == 2 else "('image',)"
        raise Failed(WRONG, f"it returned a {type(returned).__name__}; return a dict of arrays, or name the values with fields={example}")

    def _checked(self, named):
        values = {}
        for name, given in named.items():
            if not isinstance(name, str) or not name:
                raise Failed(WRONG, f"it returned a field called {name!r}; names are texts, and not empty")
            try:
                values[name] = self._values.value_of(given)
            except TypeError as error:
                raise Failed(WRONG, f"field '{name}' {error}") from None
            except Exception as error:  # of the object itself: what is on no CPU, a broken __array__
                raise Failed(WRONG, f"field '{name}' ({type(given).__name__}) makes no array: {one_line(error)}") from None
        if self._outputs is None:
            return values
        if values.keys() != {name for name, _, _ in self._outputs}:
            expected = ", ".join(name for name, _, _ in self._outputs)
            raise Failed(WRONG, f"it returned the fields {', '.join(map(str, values))}, and not {expected}{self._source()}")
        for name, dtype, shape in self._outputs:
            if not _fits(values[name], dtype, shape):
                self._refuse(name, values[name], dtype, shape)
        return values

    def _refuse(self, name, value, dtype, shape):
        text = f"field '{name}' is {value}, and not {dtype}{_extents(shape)}{self._source()}"
        if value.dtype == dtype and len(value.shape) == len(shape) and self._learned:
            loose = tuple(None if is_shape != was else was for is_shape, was in zip(value.shape, shape))
            text += f"; for shapes that differ say spec={{..., {name!r}: ({dtype!r}, {loose})}}"
        raise Failed(WRONG, text)

    def _source(self):
        return ", as the first elements were" if self._learned else ", as spec= says"

    def _ordered(self, values):
        return [values[name] for name, _, _ in self._outputs]

    def _wire(self, values):
        """(dtype, shape, bytes) of each."""
        codes = self._values.CODES
        return [(codes[value.dtype], value.shape, _bytes_of(value.array)) for value in self._ordered(values)]

    def _spec_of(self, results):
        """What all of these results are: an extent in which they differ may be any."""
        first = results[0]
        for other in results[1:]:
            if other.keys() != first.keys():
                raise Failed(WRONG, f"it returned the fields {', '.join(first)} of one element, and {', '.join(other)} of another")
        return [(name, value.dtype, self._extents_of(name, [each[name] for each in results])) for name, value in first.items()]

    def _extents_of(self, name, values):
        first = values[0]
        for value in values[1:]:
            if value.dtype != first.dtype or len(value.shape) != len(first.shape):
                raise Failed(WRONG, f"field '{name}' is {first} of one element, and {value} of another")
        if any(value.of_any_length for value in values):
            return [-1]
        return [extents[0] if len(set(extents)) == 1 else -1 for extents in zip(*(value.shape for value in values))]


class Map(_Bound):
    kind = "map"

    def __init__(self, name, inputs, field, fields, to):
        super().__init__(name, fields)
        if not callable(self.function):
            raise Failed(WRONG, f"{name} is a {type(self.function).__name__}, and no function")
        if isinstance(self.function, naming.Samples):
            self.title = f"from_map_style({self.called})"
        self._names = [each for each, _, _ in inputs]
        self._to = to
        self._field = field
        if field and fields:
            raise Failed(WRONG, "field= and fields= do not go together: with field= the result takes the place of that field")
        _check(self._values.check_library, to, inputs)

    def learn(self, elements):
        results, failure = [], None
        for number, arguments in enumerate(elements):
            try:
                with GeneratorsApart():
                    results.append(self._results(self._call(self._arguments(_own(arguments)), seed=0)))
            except Failed as failed:
                failure = failure or Failed(failed.outcome, f"{self.title}: element {number}: {failed}")
        if not results:
            raise failure
        return self._spec_of(results)

    def call_here(self, arguments, seed):
        with GeneratorsApart():
            return self._wire(self._results(self._call(self._arguments(_own(arguments)), seed)))

    def call(self, columns, rows, seeds, room):
        """For a worker: calls the function for one element (`rows` is None) or for each row, and writes the results to `room`.

        columns  (dtype code, array) of each field
        """
        if rows is None:
            values = self._results(self._call(self._arguments(columns), seeds[0] if seeds else None))
            for value in self._ordered(values):
                room.add(self._values.CODES[value.dtype], value.shape)[...] = value.array
            return
        outputs = [room.add(self._values.CODES[dtype], (rows, *shape)) for _, dtype, shape in self._outputs]
        for row, call in enumerate(self._calls(columns, rows, seeds)):
            try:
                self._write(call(), outputs, row)
            except Failed as failed:
                failed.row = row
                raise

    def _write(self, returned, outputs, row):
        named = self._named(returned)
        if len(named) == len(self._quick):
            for output, (name, dtype, shape) in zip(outputs, self._quick):
                given = named.get(name)
                if not self._values.is_just(given, dtype, shape):
                    break
                output[row] = given
            else:
                return
        for output, value in zip(outputs, self._ordered(self._checked(named))):
            output[row] = value.array

    def _calls(self, columns, rows, seeds):
        """For each row a function that gives what the user's returned."""
        many = getattr(getattr(self.function, "dataset", None), "__getitems__", None)
        if isinstance(self.function, naming.Samples) and many is not None and not seeds:
            numbers = columns[0][1].tolist()
            try:
                samples = many(numbers)
            except Exception:
                samples = ()  # one by one, so that the error is that of one sample
            if len(samples) == rows:
                return [lambda sample=sample: sample for sample in samples]
        converted = self._converted(columns)

        def call(row):
            return self._call({name: array[row] for name, array in converted.items()}, seeds[row] if seeds else None)

        return [lambda row=row: call(row) for row in range(rows)]

    def _converted(self, columns):
        convert = self._values.as_torch if self._to == "torch" else self._values.as_numpy
        return {name: convert(array, code) for name, (code, array) in zip(self._names, columns)}

    def _arguments(self, columns):
        """{field: array} of one element; what is one number is a number of NumPy, as a row of a column is."""
        arguments = self._converted(columns)
        return arguments if self._to == "torch" else {name: array[()] if array.ndim == 0 else array for name, array in arguments.items()}

    def _call(self, arguments, seed):
        if seed is not None:
            seed_generators(seed)
        if not self._field:
            return self._called_with(arguments)
        # Not `fields`: a field's own result may be anything, also a tuple.
        return {self._field: self._called_with(arguments[self._field])}


class Filter(Map):
    kind = "filter"

    def __init__(self, name, inputs, field, to):
        super().__init__(name, inputs, field, (), to)
        self.promise([("keep", "bool", ())], learned=False)

    def _call(self, arguments, seed):
        answer = self._called_with(arguments[self._field] if self._field else arguments)
        try:
            return {"keep": bool(answer)}
        except (TypeError, ValueError, RuntimeError) as error:
            raise Failed(WRONG, f"it returned what is neither true nor false: {error}") from None


class Generator(_Bound):
    kind = "from_generator"

    def __init__(self, name, fields):
        super().__init__(name, fields)
        if not callable(self.function) and not hasattr(type(self.function), "__iter__"):
            raise Failed(WRONG, f"{name} is a {type(self.function).__name__}: neither a function nor something to iterate over")
        self._with_epoch = _takes_epoch(self.function)

    def begin(self, epoch):
        """An iterator over the elements of the epoch."""
        seed_generators(epoch)
        try:
            if not callable(self.function):
                return iter(self.function)
            return iter(self.function(epoch=epoch) if self._with_epoch else self.function())
        except Exception as error:
            raise failure_of(error) from None

    def learn(self, elements):
        results = []
        with GeneratorsApart():
            iterator = self.begin(0)
            try:
                while len(results) < 4 and (values := self.next(iterator)) is not None:
                    results.append(values)
            finally:
                close(iterator)
        if not results:
            raise Failed(WRONG, f"{self.title}: it yields nothing that could be looked at; say with spec= what it would yield")
        return self._spec_of(results)

    def next(self, iterator):
        """The Values of the next element; None at the end."""
        try:
            yielded = next(iterator)
        except StopIteration:
            return None
        except Exception as error:
            raise failure_of(error) from None
        return self._results(yielded)

    def begin_here(self, epoch):
        """What `next_here` takes: the iterator, and the state in which it left the generators of random numbers."""
        apart = GeneratorsApart()
        with apart:
            return self.begin(epoch), apart

    def next_here(self, begun):
        iterator, apart = begun
        with apart:
            values = self.next(iterator)
        return None if values is None else self._wire(values)

    def write_next(self, iterator, room):
        """For a worker. Returns False at the end."""
        values = self.next(iterator)
        if values is None:
            return False
        for value in self._ordered(values):
            room.add(self._values.CODES[value.dtype], value.shape)[...] = value.array
        return True


def close(iterator):
    """Lets a generator leave its with-blocks now."""
    ends = getattr(iterator, "close", None)
    if ends is not None:
        ends()


def _own(arguments):
    """(code, array) of each Array of the module."""
    from . import values

    return [(values.CODES[each.dtype], values.array_over(memoryview(each.bits() if each.dtype == "bfloat16" else each).cast("B"),
                                                         values.CODES[each.dtype], each.shape)) for each in arguments]


def _bytes_of(array):
    return array.reshape(-1).view("uint8") if array.size else b""


def _fits(value, dtype, shape):
    return (value.dtype == dtype and len(value.shape) == len(shape)
            and all(was in (-1, extent) for extent, was in zip(value.shape, shape)))


def _extents(shape):
    return "[" + ", ".join("any" if extent == -1 else str(extent) for extent in shape) + "]"


def _takes_epoch(function):
    try:
        return "epoch" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # an object to iterate over, or a function of C
        return False


def _check(check, *arguments):
    try:
        check(*arguments)
    except (ImportError, TypeError) as error:
        raise Failed(WRONG, str(error)) from None
