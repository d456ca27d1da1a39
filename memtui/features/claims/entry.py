"""Feature entry for outdated claims; `memtui check` lists them."""

from memtui.features.feature import Feature

FEATURE = Feature(rules="memtui.features.claims.rules:rules", findings="memtui.features.claims.find:finder")
