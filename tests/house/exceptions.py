"""What breaks a by-law today and is to be mended: nothing may be added, no number may rise, and what is mended goes.

It is data alone; `bylaws.py` says what each number counts, and `test_bylaws.py` compares.
"""

from collections.abc import Collection, Mapping

SURFACE: Mapping[str, int] = {}
"""Public methods and properties of a class."""

COLLABORATORS: Mapping[str, int] = {}
"""Objects and callables a class is made with."""

DEPTH: Mapping[str, int] = {}
"""Classes of ours a class stands on."""

FOLDERS: Mapping[str, int] = {}
"""Modules of a folder."""

ONE_IMPORTER: Mapping[str, int] = {}
"""How many modules have one importer and do not say why they are apart."""

GERUNDS: Collection[str] = ()
"""Modules named by a bare gerund."""

NAMES: Mapping[str, int] = {}
"""How often a public class has this name."""

CIRCLES: Collection[str] = ()
"""Modules in a circle of imports."""
