"""References between memories: index lines, links in prose, and the part of an index that an agent loads."""
