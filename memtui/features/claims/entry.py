"""The entry in the table of features: what memories say that is no longer so."""

from memtui.features.feature import Feature

FEATURE = Feature(rules="memtui.features.claims.rules:rules", findings="memtui.features.claims.find:finder")
