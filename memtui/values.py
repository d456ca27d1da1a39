"""Named tuples that a class statement makes, without importing `typing`.

`typing` and its own way of making the classes would cost a one-shot command as much as Python's whole start. To a type
checker `NamedTuple` here is the one of `typing`, and it behaves like it: fields from annotations, defaults, `_replace`.
"""

import sys

TYPE_CHECKING = False
"""What `typing.TYPE_CHECKING` is; type checkers know the name and take it for true."""

if TYPE_CHECKING or sys.version_info >= (3, 14):
    # From 3.14 on annotations are worked out lazily, and only `typing` should know how.
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter

    _KEPT = ("__module__", "__qualname__", "__doc__", "__annotations__")

    class _Maker(type):
        """Turns the body of a class statement into a tuple type with a name for each place."""

        def __new__(mcs, name, bases, namespace):
            if not bases:
                return super().__new__(mcs, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}
            if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                raise TypeError(f"{name}: a field without a default follows one with a default")
            body = {field: _tuplegetter(place, field) for place, field in enumerate(fields)}
            for taken in body.keys() & namespace.keys() | {field for field in fields if hasattr(tuple, field)}:
                if taken in namespace or taken in ("count", "index"):
                    raise TypeError(f"{name}: {taken!r} is taken")
            body |= namespace
            body |= {
                "__slots__": (),
                "__match_args__": fields,
                "_fields": fields,
                "_field_defaults": defaults,
                "_defaults": tuple(defaults.values()),
                "_required": len(fields) - len(defaults),
            }
            return type.__new__(type, name, (_Value,), body)

    class _Value(tuple):
        """What every named tuple can do."""

        __slots__ = ()

        def __new__(cls, *places, **named):
            fields = cls._fields
            if named:
                places = _fill(cls, places, named)
            elif len(places) != len(fields):
                missing = len(fields) - len(places)
                defaults = cls._defaults
                if not 0 < missing <= len(defaults):
                    raise TypeError(f"{cls.__name__} takes {cls._required} to {len(fields)} values, not {len(places)}")
                places += defaults[len(defaults) - missing :]
            return tuple.__new__(cls, places)

        @classmethod
        def _make(cls, places):
            return cls(*places)

        def _replace(self, /, **named):
            values = tuple(map(named.pop, self._fields, self))
            if named:
                raise ValueError(f"{type(self).__name__} has no field {next(iter(named))!r}")
            return tuple.__new__(type(self), values)

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            pairs = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({pairs})"

        def __getnewargs__(self):
            return tuple(self)

    def _fill(cls, places, named):
        fields = cls._fields
        if len(places) > len(fields):
            raise TypeError(f"{cls.__name__} takes at most {len(fields)} values")
        rest = fields[len(places) :]
        defaults = cls._field_defaults
        try:
            filled = [named.pop(field) if field in named else defaults[field] for field in rest]
        except KeyError as error:
            raise TypeError(f"{cls.__name__} needs {error.args[0]!r}") from None
        if named:
            raise TypeError(f"{cls.__name__} has no field {next(iter(named))!r}, or it was given twice")
        return (*places, *filled)

    class NamedTuple(metaclass=_Maker):
        """Base of a named tuple; see `typing.NamedTuple`."""
